/// The table of filters: name, options with their bounds, help and maker of each.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/problem.hpp"
#include "src/base/words.hpp"
#include "src/filter/filter.hpp"

namespace convfilt {

struct FilterValues;

/// An option that one filter has, or an argument before IN.
struct FilterOption {
  std::string name{};             ///< "--sigma"
  std::string letters{};          ///< what help calls the value; empty for a flag
  std::string text{};             ///< a sentence
  Bounds<double> bounds{};        ///< of a number
  std::optional<double> usual{};  ///< a number's default
  bool is_whole = false;          ///< a number
  Words words{};                  ///< those that it takes, the default first; empty for a number
  char mark = 0;                  ///< a second number may stand behind it; 0: there is none
  Bounds<double> second{};        ///< of that one

  bool is_argument() const { return !name.starts_with("-"); }
  bool is_flag() const { return letters.empty(); }

  /// Sets the option's value to its default; a flag's is false.
  void set_default(FilterValues& values) const;

  /// Sets the option's value to that word; a flag's is "true" or "false". Throws UsageError.
  void read(const std::string& word, FilterValues& values) const;
};

/// The values of a filter's own options, from the command line.
struct FilterValues {
  std::map<std::string, std::vector<double>, std::less<>> numbers;  ///< by the option's name
  std::map<std::string, std::string, std::less<>> words;
  std::map<std::string, bool, std::less<>> flags;
  bool flip = false, normalize = false;

  bool has(std::string_view option) const { return numbers.contains(option); }
  double number(std::string_view option) const { return numbers.find(option)->second.front(); }
  /// The number behind the option's mark.
  double second(std::string_view option, double otherwise) const {
    const std::vector<double>& both = numbers.find(option)->second;
    return both.size() > 1 ? both[1] : otherwise;
  }
  const std::string& word(std::string_view option) const { return words.find(option)->second; }
  bool flag(std::string_view option) const { return flags.find(option)->second; }

  /// The mask as --normalize and --flip want it.
  Mask finished(Mask mask) const;
};

/// A line of the table. Help, the manual, completion, defaults, errors and `list filters` come from
/// it.
struct FilterLine {
  CommandHelp help;
  std::vector<FilterOption> options;
  FilterPtr (*make)(const FilterValues& values);  ///< null where a recipe makes it
  std::vector<Clash> clashes{};                   ///< among its options

  bool is_chain() const { return !make; }

  /// Whether the filter takes the option, also one of all masks, such as --flip.
  bool has(std::string_view option) const;

  /// Makes the filter of the words of a command line: options, their values, and arguments. `given`
  /// are values that hold besides, such as {"--mode", "full"}. `read`, if not null, becomes the
  /// values. Throws UsageError.
  FilterPtr make_of(const Words& words, const Values& given, FilterValues* read = nullptr) const;
};

std::span<const FilterLine> filters();

/// The line of that name; null where there is none, or where a recipe makes the filter.
const FilterLine* find_filter(std::string_view name);

/// The message for an unknown option: "unknown option '--sigm'; did you mean '--sigma'?", or where
/// options are listed, since the whole list is longer than an error may be.
std::string unknown_option(const std::string& word, const Words& known, std::string_view command);

/// A mask by formula, for `mask make`.
struct MaskLine {
  std::string_view name;
  Words options;
  Mask (*make)(const std::vector<double>& numbers);  ///< of all options

  bool lacks(const std::string& option) const { return std::ranges::count(options, option) == 0; }
};

std::span<const MaskLine> mask_lines();

/// The options of all; each text begins with the names of the masks that take it.
std::vector<FilterOption> mask_options();

/// Throws UsageError for a name that no line has, and for an option that is missing.
Mask make_mask_of(const std::string& name, const FilterValues& values);

}  // namespace convfilt
