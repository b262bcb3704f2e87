/// Options and arguments of a command, bound to the fields that they set. Help, the manual,
/// completion and defaults read everything about an option from the place where it is bound.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/grammar/clashes.hpp"
#include "app/grammar/defaults.hpp"
#include "app/grammar/help.hpp"
#include "src/base/suggest.hpp"
#include "src/base/words.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace convfilt {

/// Texts are sentences; -h shows the first one alone. Values are checked as they are read. What
/// needs several options is checked by the functions that then() is given.
class Binder {
  template <class Number>
  using NumberOf = typename decltype(std::optional(std::declval<Number>()))::value_type;

 public:
  explicit Binder(const CommandHelp& help);
  ~Binder();
  Binder(const Binder&) = delete;
  Binder& operator=(const Binder&) = delete;

  /// Puts the options that follow below this heading; -h shows them where `is_own`.
  void group(const char* heading, bool is_own = false) {
    group_ = heading;
    is_own_ = is_own;
  }

  /// `choices` are for completion; then() has the last word.
  void positional(const char* name, std::string& value, const std::string& text,
                  bool required = true, const Words& choices = {});

  /// Names beyond the last positional argument.
  void more(Words& names) { more_ = &names; }

  using Read = std::function<void(const std::string& word)>;

  /// An option whose word `read` takes. `letters` stand for the word in help.
  void option(const std::string& name, const char* letters, Read read, const std::string& text,
              const Words& choices = {});

  /// The same for a word that is checked later.
  template <class Word>
  requires std::is_assignable_v<Word&, std::string>
  void option(const std::string& name, const char* letters, Word& value, const std::string& text,
              const Words& choices = {}) {
    option(
        name, letters, [&value](const std::string& word) { value = word; }, text, choices);
  }

  /// A number within these bounds. CLI11 reads 010 as eight, so numbers arrive as words.
  template <class Number>
  void number(const std::string& name, const char* letters, Number& value,
              const Bounds<NumberOf<Number>>& bounds, const std::string& text) {
    option(
        name, letters,
        [name, &value, bounds](const std::string& word) { value = number_in(name, word, bounds); },
        text);
  }

  /// One of several words. The text gets the default, which is the value now.
  template <class Value, class Meaning>
  void choice(const std::string& name, Value& value, const Choices<Meaning>& choices,
              const std::string& text) {
    std::string usual;
    for (const auto& [word, meaning] : choices)
      if (usual.empty() && value == meaning) usual = word;
    const auto read = [name, &value, choices](const std::string& word) {
      value = meaning_of(name, word, choices);
    };
    option(name, "NAME", read, with_default(text, usual), words_of(choices));
  }

  /// Some of several words, with commas between them.
  template <class Meaning>
  void list(const std::string& name, std::vector<Meaning>& values, const Choices<Meaning>& choices,
            const std::string& text) {
    const auto read = [name, &values, choices](const std::string& list) {
      values.clear();
      for (const std::string& word : listed_in(name, list))
        values.push_back(meaning_of(name, word, choices));
    };
    option(name, "LIST", read, text, words_of(choices));
  }

  void flag(const std::string& name, bool& value, const std::string& text);

  /// An option that may be given several times, or with up to `most` words at once.
  void repeated(const std::string& name, const char* letters, Words& values,
                const std::string& text);
  void several(const std::string& name, const char* letters, int most, Words& values,
               const std::string& text);

  /// An option that may stand alone, which means `alone`, or be joined to a word.
  void joined(const std::string& name, const char* letters, const std::string& alone,
              std::string& word, const std::string& text, const Words& choices = {});

  /// The same of a file; alone it means standard output ("-").
  void output(const std::string& name, std::string& path, const std::string& text) {
    joined(name, "FILE", "-", path, text);
  }

  /// Has this done when all words have been read and no two of them clash.
  void then(std::function<void()> check) { checks_.push_back(std::move(check)); }

  /// Declares --help and --version, which are answered before anything is parsed, and --config
  /// where defaults may set options.
  void close();

  CommandFacts facts() const;

  /// Throws UsageError where the words, or the defaults, do not fit. `defaults` are those taken.
  void parse(const Words& words, std::vector<Default>& defaults);

  /// The values that arguments and options have by now.
  Values values() const;

 private:
  struct Entry;

  using ReadAll = std::function<void(const Words& words)>;

  Entry& add(ArgumentFacts facts, CLI::Option* option);
  CLI::Option* words(const std::string& name, ReadAll read);
  Entry& entry(const std::string& name) const;
  bool is_given(const std::string& name) const;

  /// Takes the command line alone.
  void read(const Words& words);

  /// Takes the defaults that are not set on the command line and go together with it.
  void take(std::vector<Default>& defaults);

  /// Those that variables of the environment set.
  std::vector<Default> variables() const;

  /// The lines of the file of defaults that are for this command, whether or not they are used.
  std::vector<ConfigLine> config() const;

  /// Throws UsageError where words were left over: misspelt options, and superfluous names.
  void refuse_extras() const;

  /// Throws UsageError where a value or a name is empty: no option and no argument has a use for
  /// that, and in scripts it stands for a variable that is not set.
  void refuse_empty() const;

  const CommandHelp& help_;
  std::unique_ptr<CLI::App> app_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::function<void()>> checks_;
  Words* more_ = nullptr;
  std::string group_, config_;
  bool is_own_ = false, answered_ = false;
};

}  // namespace convfilt
