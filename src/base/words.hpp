/// Words of options, and what they mean. All functions throw UsageError, with the nearest
/// name or the range.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"

namespace convfilt {

enum class Setting;
class Tuning;

using Words = std::vector<std::string>;

/// Values of options and arguments by their names, such as "--border" and "IN". A flag's value is
/// "true" or "false".
using Values = std::map<std::string, std::string>;

/// The names in a range of names or of named things.
template <class Things>
Words words_of(const Things& things) {
  Words words;
  for (const auto& thing : things) {
    if constexpr (requires { std::string(thing); }) {
      words.emplace_back(thing);
    } else if constexpr (requires { thing.name; }) {
      words.emplace_back(thing.name);
    } else if constexpr (requires { thing->name; }) {
      words.emplace_back(thing->name);
    } else {
      words.emplace_back(name_of(thing));
    }
  }
  return words;
}

/// The help texts of a command.
struct CommandHelp {
  std::string_view name;
  std::string_view summary;   ///< one line for the list of commands
  std::string_view about;     ///< what it does, in lines
  std::string_view examples;  ///< a line each
  std::string_view more{};    ///< what only --help says
};

/// Words, each with its meaning.
template <class Meaning>
using Choices = std::vector<std::pair<std::string, Meaning>>;

template <class Meaning>
Words words_of(const Choices<Meaning>& choices) {
  Words words;
  for (const auto& choice : choices) words.push_back(choice.first);
  return words;
}

/// Enumerators by their names.
template <class Things>
auto choices_of(const Things& things) {
  Choices<std::remove_cvref_t<decltype(*std::begin(things))>> choices;
  for (const auto& thing : things) choices.emplace_back(name_of(thing), thing);
  return choices;
}

/// Two options that a command does not take together. Each may stand with the values for which
/// that holds:
///   --border=wrap|reflect   these; "cuda" stands for cuda:1, too
///   --border!=constant      any other of its names, or any other number
///   --depth~,               those in which that text stands; !~ those in which it does not
struct Clash {
  std::string one, other;
  std::string message{};  ///< empty where other code knows more, and reports the clash
  /// If this is set, `one` needs the other option, which has this value where it is not given.
  std::optional<std::string> absent{};
};

/// The option of a condition: "--border" of "--border!=constant".
std::string option_in(const std::string& condition);

/// Whether a value of the condition's option meets it.
bool meets(const std::string& value, const std::string& condition);

/// The value of the row's other option. If that is not given, `absent`, which is empty where the
/// row needs no other option.
std::optional<std::string> other_in(const Values& values, const Clash& row);

/// Throws UsageError if two of the values exclude each other, or one lacks what it needs.
void check_clashes(std::span<const Clash> rows, const Values& values);

/// "cpu|emulator": the names of things for which that holds.
template <class Things, class Holds>
std::string those(const Things& things, Holds holds) {
  std::string names;
  for (const auto& thing : things)
    if (holds(thing)) names += (names.empty() ? "" : "|") + words_of(std::span(&thing, 1)).front();
  return names;
}

void require(bool met, const std::string& message);

/// An error: "--border: unknown value 'relect'; did you mean 'reflect'?".
UsageError unknown_word(const std::string& option, const std::string& word, const Words& choices);

/// `kind` names the choice in the message: "unknown KIND 'word'; did you mean ...".
void require_choice(const std::string& kind, const std::string& word, const Words& choices);

/// The meaning of an option's word.
template <class Meaning>
const Meaning& meaning_of(const std::string& option, const std::string& word,
                          const Choices<Meaning>& choices) {
  for (const auto& [known, meaning] : choices)
    if (word == known) return meaning;
  throw unknown_word(option, word, words_of(choices));
}

/// The words of a list with commas between them, of which there must be one. Each appears once.
Words listed_in(const std::string& option, const std::string& list);

/// The numbers that an option takes; by default all from 0 on.
template <class Number>
struct Bounds {
  Number least = 0, most = std::numeric_limits<Number>::max();
  bool above = false;  ///< whether `least` itself is too small
};

/// The number in decimals, without an exponent.
std::string shown(double number);

/// "from 1 to 1024"; "finite" where any number of the type will do.
template <class Number>
std::string limits_of(const Bounds<Number>& bounds);

/// Reads all of `word` as a number within the bounds, a whole one for integers. It is decimal,
/// whatever the locale. `option` leads the message, which shows the word and the bounds. Defined
/// for int, std::int64_t and double.
template <class Number>
Number number_in(const std::string& option, const std::string& word,
                 const Bounds<Number>& bounds = {});

/// Numbers with commas between them, none of them below its least. `example` shows how to write
/// them.
std::vector<int> numbers_in(const std::string& option, const std::string& word,
                            const std::vector<int>& least, const std::string& example);

/// Sets a setting of a strategy from a word of its list, or a number in its range.
void set_from_word(Tuning& tuning, Setting setting, const std::string& word);

/// A number of bytes, with a letter for their unit.
std::int64_t bytes_in(const std::string& option, const std::string& word);

}  // namespace convfilt
