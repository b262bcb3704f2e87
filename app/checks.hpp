/// Turns words into types and checks them before any file is touched. All functions throw
/// UsageError, with the nearest name or the range. Ranges of masks and of the output are checked
/// where those are made.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/options.hpp"

namespace convfilt {

using Words = std::vector<std::string>;

inline constexpr std::string_view kPitches[] = {"padded", "packed"};
inline constexpr std::string_view kOnDamage[] = {"fail", "warn"};
inline constexpr std::string_view kLoaders[] = {"auto", "opencv"};
inline constexpr std::string_view kIfExists[] = {"overwrite", "skip", "fail"};  ///< by IfExists
inline constexpr std::string_view kCodecKinds[] = {"auto", "cpu", "gpu"};       ///< by CodecKind

/// What becomes of responses below 0, by the words of --output.
struct NamedNegative {
  std::string_view name;
  Negative negative;
};
inline constexpr NamedNegative kNegatives[] = {
    {"clamp", Negative::clamp}, {"abs", Negative::absolute}, {"signed", Negative::centred}};

/// Chroma samples as people write them, without the colons of 4:2:0.
struct NamedSubsampling {
  std::string_view name;
  Subsampling subsampling;
};
inline constexpr NamedSubsampling kSubsamplings[] = {
    {"444", {1, 1}}, {"422", {2, 1}}, {"420", {2, 2}}};

/// Words that picture commands share, as they arrive.
struct Raw {
  std::string pitch = "padded", on_damage = "fail", mode = "same", loader = "auto", subsampling,
              negative = "clamp", region;
  std::optional<std::string> border;  ///< by default replicate, and constant with --mode=full
  std::array<std::optional<std::string>, std::size(kSettings)> settings;  ///< by Setting
  std::optional<double> border_value;
  std::optional<int> threads;
  std::optional<std::string> size, depth, channels;  ///< those of a picture that is not read
  std::optional<std::string> at;                     ///< an output of that picture
  bool verbose = false, quiet = false;

  // Of many pictures.
  std::string out, if_exists = "overwrite", shard, max_memory, codec = "auto";
  bool no_progress = false;
  bool answered = false;  ///< --help and --version: answered before anything is parsed
};

/// The names in a range of names or of named things, for lists of choices.
template <class Things>
Words words_of(const Things& things) {
  Words words;
  for (const auto& thing : things) {
    if constexpr (requires { std::string(thing); }) {
      words.emplace_back(thing);
    } else if constexpr (requires { thing.name; }) {
      words.emplace_back(thing.name);
    } else {
      words.emplace_back(name_of(thing));
    }
  }
  return words;
}

/// The numbers that an option takes; by default all from 0 on.
template <class Number>
struct Bounds {
  Number least = 0, most = std::numeric_limits<Number>::max();
  bool above = false;  ///< whether `least` itself is too small
};

/// Reads all of `word` as a number within the bounds, a whole one for integers. It is decimal,
/// whatever the locale. `option` leads the message, which shows the word and the bounds. Defined
/// for int, std::int64_t and double.
template <class Number>
Number number_in(const std::string& option, const std::string& word,
                 const Bounds<Number>& bounds = {});

/// Fills in what Raw and the command's own words say, and checks all that can be checked without
/// reading a file.
void check(BlurCommand& command, const Raw& raw);
void check(SharpenCommand& command, const Raw& raw);
void check(EdgeCommand& command, const Raw& raw);
void check(ApplyCommand& command, const Raw& raw);
void check(CompareCommand& command, const Raw& raw);
void check(ExplainCommand& command, const Raw& raw);
void check(TuneCommand& command, const Raw& raw);
void check(MaskCommand& command, const Raw& raw);
void check(MergeCommand& command, const Raw& raw);
void check(TryCommand& command, const Raw& raw);
void check(ListCommand& command, const Raw& raw);
void check(GenerateCommand& command, const Raw& raw);

}  // namespace convfilt
