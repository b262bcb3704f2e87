#include "src/base/words.hpp"

#include <cctype>
#include <charconv>
#include <iterator>
#include <system_error>

#include "kernels/strategy.hpp"
#include "src/base/numbers.hpp"
#include "src/base/source_text.hpp"
#include "src/base/suggest.hpp"

namespace convfilt {

void require(bool met, const std::string& message) {
  if (!met) throw UsageError(message);
}

UsageError unknown_word(const std::string& option, const std::string& word, const Words& choices) {
  return UsageError(option + ": " + unknown_name("value", word, choices));
}

void require_choice(const std::string& kind, const std::string& word, const Words& choices) {
  require(std::ranges::count(choices, word) > 0, unknown_name(kind, word, choices));
}

std::string option_in(const std::string& condition) {
  return condition.substr(0, condition.find_first_of("!=~"));
}

namespace {

/// Whether the value is one of these. "cuda" stands for cuda:1, too.
bool is_among(const std::string& value, const std::string& words) {
  const auto has = [&](const std::string& word) {
    return ("|" + words + "|").find("|" + word + "|") != words.npos;
  };
  return has(value) || has(value.substr(0, value.find(':')));
}

/// Whether this is another word, or another number.
bool is_other(const std::string& value, const std::string& usual) {
  const std::string_view digits = std::string_view(value).substr(value.starts_with('+') ? 1 : 0);
  const auto number = number_of_word<double>(digits), usual_number = number_of_word<double>(usual);
  return number && usual_number ? *number != *usual_number : value != usual;
}

/// A setting's number, or two for one that has sides.
int number_of(const SettingInfo& info, const std::string& word) {
  const auto number_in = [&](std::string_view digits) {
    const auto number = number_of_word<int>(digits);
    return number && *number >= info.lowest && *number <= info.highest ? number : std::nullopt;
  };
  const std::size_t x = info.sides ? word.find('x') : word.npos;
  const auto columns = number_in(std::string_view(word).substr(0, x));
  const auto rows = x == word.npos ? columns : number_in(std::string_view(word).substr(x + 1));
  require(columns && rows, "--" + std::string(info.name) + ": " + in_quotes(word) +
                               " is not a whole number, " + std::to_string(info.lowest) + " to " +
                               std::to_string(info.highest) +
                               (info.sides ? ", or two of them, as 32x8" : ""));
  return info.sides ? TileSides{*columns, *rows}.value() : *columns;
}

}  // namespace

bool meets(const std::string& value, const std::string& condition) {
  const std::string option = option_in(condition);
  if (option == condition) return true;
  const bool is_not = condition[option.size()] == '!';
  const std::string text = condition.substr(option.size() + (is_not ? 2 : 1));
  if (condition[option.size() + is_not] == '~') return (value.find(text) == value.npos) == is_not;
  return is_not ? is_other(value, text) : is_among(value, text);
}

std::optional<std::string> other_in(const Values& values, const Clash& row) {
  const auto found = values.find(option_in(row.other));
  return found == values.end() ? row.absent : found->second;
}

void check_clashes(std::span<const Clash> rows, const Values& values) {
  for (const Clash& row : rows) {
    const auto one = values.find(option_in(row.one));
    if (one == values.end() || row.message.empty()) continue;
    const std::optional<std::string> other = other_in(values, row);
    if (other && meets(one->second, row.one) && meets(*other, row.other))
      throw UsageError(row.message);
  }
}

Words listed_in(const std::string& option, const std::string& list) {
  Words words;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    const std::string word = list.substr(from, comma - from);
    require(!word.empty(), option + ": something is missing beside a comma; write a,b,c");
    if (std::ranges::count(words, word) == 0) words.push_back(word);
    from = comma + 1;
  }
  return words;
}

std::string shown(double number) {
  char text[32];
  return {text, std::to_chars(text, std::end(text), number, std::chars_format::fixed).ptr};
}

template <class Number>
std::string limits_of(const Bounds<Number>& bounds) {
  const auto shown = [](Number number) {
    if constexpr (std::is_integral_v<Number>)
      return std::to_string(number);
    else
      return convfilt::shown(number);
  };
  if (bounds.most == std::numeric_limits<double>::max()) return "finite";
  return (bounds.above ? "above " : "from ") + shown(bounds.least) +
         (bounds.above ? " and up to " : " to ") + shown(bounds.most);
}

template std::string limits_of(const Bounds<double>&);

template <class Number>
Number number_in(const std::string& option, const std::string& word, const Bounds<Number>& bounds) {
  const std::size_t sign = word.starts_with('+') ? 1 : 0;
  const char* end = word.data() + word.size();
  Number number{};
  const auto [stop, error] = std::from_chars(word.data() + sign, end, number);
  const bool fits = error == std::errc() && number >= bounds.least && number <= bounds.most &&
                    !(bounds.above && number == bounds.least);
  const bool is_number = (error == std::errc() || error == std::errc::result_out_of_range) &&
                         stop == end && number == number;
  const std::string limits = limits_of(bounds);
  require(fits && is_number, option + ": " + in_quotes(word) +
                                 (is_number                    ? " is out of range"
                                  : std::is_integral_v<Number> ? " is not a whole number"
                                                               : " is not a number") +
                                 "; give " +
                                 (limits == "finite" ? "a finite one" : "one " + limits));
  return number;
}

template int number_in(const std::string&, const std::string&, const Bounds<int>&);
template std::int64_t number_in(const std::string&, const std::string&,
                                const Bounds<std::int64_t>&);
template double number_in(const std::string&, const std::string&, const Bounds<double>&);

std::vector<int> numbers_in(const std::string& option, const std::string& word,
                            const std::vector<int>& least, const std::string& example) {
  std::vector<int> numbers;
  std::size_t from = 0;
  for (const int each : least) {
    const bool is_last = numbers.size() + 1 == least.size();
    const std::size_t comma = is_last ? word.size() : word.find(',', from);
    require(comma != word.npos, option + ": " + in_quotes(word) + " is not " + example);
    numbers.push_back(number_in<int>(option, word.substr(from, comma - from), {.least = each}));
    from = comma + 1;
  }
  return numbers;
}

void set_from_word(Tuning& tuning, Setting setting, const std::string& word) {
  const SettingInfo& info = info_of(setting);
  if (info.words.empty()) {
    tuning[setting] = number_of(info, word);
    return;
  }
  const auto found = std::ranges::find(info.words, word);
  if (found == info.words.end())
    throw unknown_word("--" + std::string(info.name), word, words_of(info.words));
  tuning[setting] = int(found - info.words.begin());
}

std::int64_t bytes_in(const std::string& option, const std::string& word) {
  constexpr std::string_view kUnits = "KMGT";
  const char last =
      word.empty() ? ' ' : char(std::toupper(static_cast<unsigned char>(word.back())));
  const std::size_t unit = kUnits.find(last);
  const bool has_unit = unit != kUnits.npos;
  const int shift = has_unit ? 10 * int(unit + 1) : 0;
  const auto number = number_of_word<std::int64_t>(word.substr(0, word.size() - has_unit));
  require(number && *number > 0 && *number <= (std::int64_t{1} << 62) >> shift,
          option + ": " + in_quotes(word) +
              " is no size from 1 byte to 4194304T; give one such as 500M or 2G");
  return *number << shift;
}

}  // namespace convfilt
