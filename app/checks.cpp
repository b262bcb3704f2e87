#include "app/checks.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <type_traits>

#include "src/base/errors.hpp"
#include "src/base/settings.hpp"
#include "src/base/sides.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"

namespace convfilt {
namespace {

/// Far more than any picture has; the numbers stay within what is exact.
constexpr std::int64_t kMaxExplainedSide = 1'000'000;

}  // namespace

template <class Number>
Number number_in(const char* option, const std::string& word) {
  const std::size_t sign = word.starts_with('+') ? 1 : 0;
  const char* end = word.data() + word.size();
  Number number{};
  const auto [stop, error] = std::from_chars(word.data() + sign, end, number);
  const bool too_large = error == std::errc::result_out_of_range;
  require((error == std::errc() || too_large) && stop == end,
          std::string(option) + ": " + convfilt::quoted(word) + " is not a " +
              (std::is_integral_v<Number> ? "whole number" : "number"));
  require(!too_large, std::string(option) + ": " + convfilt::quoted(word) + " is out of range");
  return number;
}

template int number_in(const char*, const std::string&);
template std::int64_t number_in(const char*, const std::string&);
template double number_in(const char*, const std::string&);

void require(bool met, const std::string& message) {
  if (!met) throw UsageError(message);
}

void require_choice(const std::string& kind, const std::string& word, const Words& choices) {
  require(std::find(choices.begin(), choices.end(), word) != choices.end(),
          unknown_name(kind, word, choices));
}

void complete_border(ConvolverOptions& convolver, const Raw& raw) {
  require_choice("mode", raw.mode, words_of(kModes));
  for (Mode mode : kModes)
    if (raw.mode == name_of(mode)) convolver.mode = mode;
  const bool full = convolver.mode == Mode::full;
  const std::string border =
      raw.border.value_or(std::string(name_of(full ? Border::constant : Border::replicate)));
  require_choice("border", border, words_of(kBorders));
  for (Border b : kBorders)
    if (border == name_of(b)) convolver.border = b;
  require(!full || (convolver.border == Border::constant && raw.border_value.value_or(0) == 0),
          "--mode=full: outside the picture all is 0; leave out --border and --border-value");
  if (raw.border_value) {
    require(convolver.border == Border::constant, "--border-value: only --border=constant has one");
    require(std::isfinite(*raw.border_value), "--border-value: a finite number");
    convolver.border_value = *raw.border_value;
  }
}

void complete_pitch(ConvolverOptions& convolver, const Raw& raw) {
  require_choice("pitch", raw.pitch, words_of(kPitches));
  convolver.padded_pitch = raw.pitch == "padded";
}

Loudness loudness_of(const Raw& raw) {
  require(!(raw.verbose && raw.quiet), "--quiet, --verbose: give one of the two");
  return raw.verbose ? Loudness::verbose : raw.quiet ? Loudness::quiet : Loudness::normal;
}

void complete_request(Request& request, const Raw& raw) {
  if (raw.threads) {
    require(*raw.threads >= 1 && *raw.threads <= 1024, "--threads: a whole number, 1 to 1024");
    request.threads = *raw.threads;
  }
  for (Setting setting : kSettings)
    if (const auto& word = raw.settings[std::size_t(setting)])
      set_from_word(request.tuning, setting, *word);
  check_names(request, this_machine());
  for (Setting setting : kSettings)
    if (raw.settings[std::size_t(setting)]) check_setting(request, setting, this_machine());
}

void complete(ExplainCommand& command, const Raw& raw) {
  Request& request = command.convolver.request;
  Words names = strategy_names(this_machine());
  std::erase(names, Request().strategy);  // auto has no blocks of its own
  require(!request.strategy.empty() && request.strategy != Request().strategy,
          "explain what? Name a strategy: " + listed(names, "or"));
  require_choice("strategy", request.strategy, names);
  complete_request(request, raw);
  complete_border(command.convolver, raw);
  require(command.mask != "", "--mask is empty: give WxH, a file or a filter");
  find_architecture(command.architecture);
  if (raw.size) {
    const auto size = parse_sides(*raw.size);
    const auto fits = [](std::int64_t side) { return side >= 1 && side <= kMaxExplainedSide; };
    require(size && fits(size->width) && fits(size->height),
            "--size: WIDTHxHEIGHT, each 1 to " + std::to_string(kMaxExplainedSide));
    command.width = int(size->width);
    command.height = int(size->height);
  }
  if (!raw.depth) return;
  require_choice("depth", *raw.depth, words_of(kDepths));
  for (Depth depth : kDepths)
    if (*raw.depth == name_of(depth)) command.depth = depth;
}

void complete(PictureOptions& picture, const Raw& raw) {
  require(!picture.in.empty(), "IN is empty: name a picture, or - for standard input");
  require(!picture.out.empty(), "OUT is empty: name a picture, or - for standard output");
  picture.loudness = loudness_of(raw);
  complete_request(picture.convolver.request, raw);
  complete_border(picture.convolver, raw);
  complete_pitch(picture.convolver, raw);
  require_choice("value of --on-damage", raw.on_damage, words_of(kOnDamage));
  picture.read.refuse_damaged = raw.on_damage == "fail";

  require(picture.read.max_pixels > 0, "--max-pixels: a whole number above 0");
}

}  // namespace convfilt
