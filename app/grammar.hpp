/// The grammar of one command; the command-line library's words appear only here and in
/// grammar.cpp.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "app/checks.hpp"
#include "app/help.hpp"
#include "src/base/suggest.hpp"

namespace convfilt {

/// Options are bound to the structs that parse() fills; shared ones to Raw.
class Grammar {
 public:
  explicit Grammar(const CommandHelp& help);

  template <class Value>
  void positional(const char* name, Value& value, const char* description, bool required = true) {
    app_.add_option(name, value, description)->required(required)->option_text(" ");
  }

  /// `letter` stands for the value in help.
  template <class Value>
  CLI::Option* option(const char* group, const std::string& name, const char* letter, Value& value,
                      const std::string& description) {
    return bound(name, value, description)->type_name("value")->option_text(letter)->group(group);
  }

  /// An option whose values are a list, which help shows below its description.
  template <class Value>
  void choice(const char* group, const std::string& name, Value& value,
              const std::string& description, const Words& choices, const char* letter = "NAME") {
    option(group, name, letter, value, description + ":\n" + listed(choices, "or"));
  }

  CLI::Option* flag(const char* group, const char* name, bool& value, const char* description);

  /// An option that may be given several times; `values` are replaced then.
  void repeated(const char* group, const char* name, const char* letter,
                std::vector<std::string>& values, const std::string& description);

  /// An option that may stand alone, then meaning standard output ("-"), or be joined to a file's
  /// name.
  void output(const char* group, const std::string& name, std::string& path,
              const std::string& description);

  void picture_files(PictureOptions& picture);
  void picture_options(PictureOptions& picture);
  void explain_options(ExplainCommand& command);

  /// --device, --threads and --pitch.
  void device_options(Request& request);

  /// --border and what goes with it; --mode.
  void border_options();

  /// One option for each setting that strategies have.
  void setting_options();

  /// -v and -q.
  void message_options();

  /// Declares --help and --version, which are answered before anything is parsed.
  void closing_options();

  std::string help() const;

  /// Throws UsageError where the words do not fit.
  void parse(const Words& words);

  const Raw& raw() const { return raw_; }

 private:
  void refuse_extras() const;

  CLI::Option* bound(const std::string& name, std::string& value, const std::string& description) {
    return app_.add_option(name, value, description);
  }

  // CLI11 reads 010 as eight.
  template <class Value>
  CLI::Option* bound(const std::string& name, Value& value, const std::string& description) {
    return app_.add_option_function<std::string>(
        name, [name, &value](const std::string& word) { assign(name, word, value); }, description);
  }
  template <class Number>
  static void assign(const std::string& name, const std::string& word, Number& value) {
    value = number_in<Number>(name.c_str(), word);
  }
  template <class Number>
  static void assign(const std::string& name, const std::string& word,
                     std::optional<Number>& value) {
    if constexpr (std::is_same_v<Number, std::string>) {
      value = word;
    } else {
      value = number_in<Number>(name.c_str(), word);
    }
  }

  CLI::App app_;
  Raw raw_;
};

}  // namespace convfilt
