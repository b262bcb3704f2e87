#include <cmath>

#include "app/commands.hpp"
#include "app/lab/commands.hpp"
#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"
#include "src/filter/convolver.hpp"
#include "src/lab/check/check.hpp"
#include "src/mask/file.hpp"
#include "src/recipe/picture_mask.hpp"

namespace convfilt {
namespace {

/// Throws before the work where a result cannot be written, or would replace what is read.
void check_outputs(const CheckCommand& command) {
  const std::string &json = command.json, &picture = command.difference;
  if (!json.empty() && json != "-") check_writable(json);
  if (picture == "-")
    throw UsageError("--difference: it goes to a file; name one, e.g. difference.png");
  if (!picture.empty()) check_output("", picture, {}, false);
  for (const auto& [option, out] : {std::pair{"--json", &json}, {"--difference", &picture}}) {
    if (out->empty()) continue;
    for (const auto& [name, in] : {std::pair{"IN", &command.in}, {"THEIRS", &command.theirs}})
      if (same_file(*in, *out))
        throw UsageError(std::string(option) + ": " + quoted_name(*out) + " is the file of " +
                         name + ", which it would replace; write to another file");
    check_keeps_mask(command.mask, *out);
  }
  if (!json.empty() && !picture.empty() && same_output(json, picture))
    throw UsageError("--json, --difference: both are the same file; give each its own");
}

/// |theirs - ours|, so bright that the largest difference is white.
void write_difference(const CheckCommand& command, const Conventions& all,
                      const Agreement& agreement) {
  const double largest = agreement.deviation.largest;
  double gain = std::isfinite(largest) && largest > 0 ? 255 / largest : 1;
  if (gain >= 1) gain = std::floor(gain);
  std::vector<std::string> warnings;
  write_image(command.difference, difference_picture(all, agreement.convention, gain), {},
              &warnings);
  for (const std::string& warning : warnings) log_warning(warning);
  log_note(printable_name(command.difference) + ": distances times " + with_format("%g", gain) +
           ", black where both are equal");
}

}  // namespace

void CheckCommand::run() {
  check_outputs(*this);
  const Mask of = only_mask(text_or_picture_masks(mask), mask);
  const Image picture = read_colours(in, read, "checked"),
              result = read_colours(theirs, read, "checked");
  Convolver({.request = {}, .border = Border::constant, .border_value = border_value})
      .check_border_value(picture.depth());
  const std::string name = printable_name(theirs);
  std::unique_ptr<const Conventions> all;
  try {
    all = std::make_unique<const Conventions>(picture, result, of, border_value);
  } catch (const IoError& error) {
    throw IoError(name + ": " + error.what());
  }
  const Agreement agreement = nearest_convention(*all);
  const Deviation& off = agreement.deviation;
  const double allowed =
      tolerance.value_or(picture.depth() == Depth::f32 ? all->step(agreement.convention) : 0);
  const bool agrees = off.largest <= allowed, unknown = !agrees && off.is_unknown();
  const std::string status = agrees ? "agrees" : unknown ? "unknown" : "differs";
  if (!json.empty()) write_result(json, agreement_json(status, *all, agreement));
  if (json != "-") print_text(agreement_text(name, *all, agreement));
  if (!difference.empty()) write_difference(*this, *all, agreement);
  if (unknown)
    throw IoError(name + ": no convention known here gives this picture; the nearest is " +
                  agreement_line(*all, agreement));
  if (!agrees)
    throw IoError(
        name + ": it is up to " + amount_text(*all, off.largest) +
        " off; a larger --tolerance allows that, and --border-value says what lies outside");
}

}  // namespace convfilt
