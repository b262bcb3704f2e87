#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/lab/commands.hpp"
#include "src/base/atomic_file.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/terminal.hpp"
#include "src/filter/alpha.hpp"
#include "src/filter/convolver.hpp"
#include "src/lab/compare/measure.hpp"
#include "src/lab/compare/plot.hpp"
#include "src/lab/compare/report.hpp"
#include "src/mask/file.hpp"
#include "src/mask/random.hpp"

namespace convfilt {
namespace {

struct Output {
  std::string option, path;
};

/// Throws where a result would replace what is read, or another result.
void check_apart(const CompareCommand& command) {
  std::vector<Output> outputs = {{"--json", command.json},
                                 {"--csv", command.csv},
                                 {"--markdown", command.markdown},
                                 {"--plot", command.plot}};
  std::erase_if(outputs, [](const Output& output) { return output.path.empty(); });
  for (auto out = outputs.begin(); out != outputs.end(); ++out) {
    const std::string where = out->option + ": '" + printable_name(out->path) + "' is the file ";
    for (const auto& [name, in] : {Output{"IN", command.in}, Output{"--from", command.from}})
      if (!in.empty() && same_file(in, out->path))
        throw UsageError(where + "of " + name + ", which it would replace; write to another file");
    for (const std::string& mask : command.masks) check_keeps_mask(mask, out->path);
    for (auto other = outputs.begin(); other != out; ++other)
      if (same_output(other->path, out->path))
        throw UsageError(where + "of " + other->option + "; give each a file of its own");
  }
}

/// Throws before the work what would otherwise be thrown after hours of it.
void check_outputs(const CompareCommand& command) {
  for (const std::string& path : {command.json, command.csv, command.markdown})
    if (!path.empty() && path != "-") check_writable(path);
  if (!command.plot.empty()) check_plot(command.plot);
  check_apart(command);
}

void write_results(const CompareCommand& command, std::span<const Comparison> comparisons,
                   const ReportHead& head) {
  bool printed = false;
  const auto write = [&](const std::string& path, auto report) {
    if (path.empty()) return;
    write_result(path, report(comparisons, head));
    printed = printed || path == "-";
  };
  write(command.json, json_report);
  write(command.csv, csv_report);
  write(command.markdown, markdown_report);
  if (!printed) print_text(text_report(comparisons, head, terminal_width(STDOUT_FILENO)));
  if (!command.plot.empty()) plot_comparisons(command.plot, comparisons, head, command.plot_kind);
}

std::vector<Mask> masks_of(const CompareCommand& command) {
  std::vector<Mask> masks;
  for (const std::string& name : command.masks) masks.push_back(mask_named(name));
  for (const Weights weights : command.weights)
    for (const Extent& sides : command.random_sides)
      masks.push_back(random_mask(weights, int(sides.width), int(sides.height)));
  return masks;
}

std::vector<Comparison> measure_all(const CompareCommand& command) {
  const std::vector<Mask> masks = masks_of(command);
  DeviceLimits limits(command.compare.request.threads);
  ProgressLine line(command.loudness != Loudness::quiet);
  std::vector<Comparison> comparisons;
  std::size_t number = 0, pictures = 1;
  const Convolver convolver(command.compare);
  const auto add = [&](const Image& picture) {
    convolver.check_border_value(picture.depth());
    ++number;
    for (std::size_t k = 0; k < masks.size(); ++k) {
      const std::string part = (pictures > 1 ? "picture " + std::to_string(number) + " of " +
                                                   std::to_string(pictures) + ", "
                                             : "") +
                               "mask " + std::to_string(k + 1) + " of " +
                               std::to_string(masks.size()) + ", " + mask_label(masks[k]) + ": ";
      const Problem problem =
          convolver.problem_of(shape_of(picture), masks[k], command.compare.border_value);
      comparisons.push_back(compare(problem, picture, command.compare, this_machine(), limits,
                                    [&](const std::string& what) { line.show(part + what); }));
    }
    line.clear();
  };
  if (!command.in.empty()) {
    add(read_colours(command.in, command.read, "compared", command.compare.request.threads));
    return comparisons;
  }
  for (const Depth depth : command.depths) convolver.check_border_value(depth);
  pictures = command.sizes.size() * command.depths.size() * command.channels.size();
  for (const Extent& size : command.sizes)
    for (const Depth depth : command.depths)
      for (const int channels : command.channels)
        add(noise_picture(int(size.width), int(size.height), channels, depth));
  return comparisons;
}

/// Throws where there is no figure at all: a script must not take that for success.
void check_measured(std::span<const Comparison> comparisons) {
  std::size_t rows = 0;
  for (const Comparison& comparison : comparisons) {
    rows += comparison.rows.size();
    for (const Row& row : comparison.rows)
      if (row.refusal.empty()) return;
  }
  throw IoError("nothing was measured: " +
                (rows > 0 ? "every row is refused or failed; the rows say why"
                          : std::string("no strategy takes the problem")) +
                "; choose other strategies, masks or devices");
}

/// Throws where a result is wrong: its time counts for nothing.
void check_right(std::span<const Comparison> comparisons) {
  for (const Comparison& comparison : comparisons) {
    for (const Row& row : comparison.rows) {
      const std::string broken = broken_bound(row, difference_unit(comparison.problem));
      if (!broken.empty())
        throw IoError("a result is wrong: " + row.contender + " on " + name_of(row.location) +
                      ", " + to_string(comparison.problem) + ": " + broken +
                      "; do not use it there, and report it");
    }
  }
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || std::filesystem::is_directory(path) || !(text << file.rdbuf()))
    throw IoError(path + ": cannot be read; is it a file that convfilt compare --json=FILE wrote?");
  return text.str();
}

}  // namespace

Image read_colours(const std::string& path, const ReadOptions& read, const std::string& done,
                   int threads) {
  std::vector<std::string> warnings;
  Image image = read_image(path, read, &warnings);
  for (const std::string& warning : warnings) log_warning(warning);
  if (!image.has_alpha()) return image;
  log_note(path + ": its colours are " + done + " as if all were opaque, and its alpha is not");
  return without_alpha(image, threads);
}

void CompareCommand::run() {
  check_outputs(*this);
  ReportHead head{CONVFILT_VERSION, in.empty() ? "noise" : in};
  const std::vector<Comparison> comparisons =
      from.empty() ? measure_all(*this) : read_json_report(text_of(from), from, head);
  if (table) head.table = *table;
  write_results(*this, comparisons, head);
  check_measured(comparisons);
  check_right(comparisons);
}

}  // namespace convfilt
