#include "app/grammar/defaults.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/base/users_folder.hpp"
#include "src/recipe/recipe.hpp"

namespace convfilt {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;  // of a file of defaults

/// The whole text, which must be readable and of a length that a person would write.
std::string text_in(std::istream& in, const std::string& file) {
  std::string text(kMostBytes + 1, '\0');
  in.read(text.data(), std::streamsize(text.size()));
  if (in.bad())
    throw IoError("'" + printable_name(file) +
                  "' cannot be read to its end, so no defaults are taken from it; check the file");
  text.resize(std::size_t(in.gcount()));
  if (text.size() > kMostBytes)
    throw IoError("'" + printable_name(file) +
                  "' is larger than 1 MiB, which no file of defaults is; check its name");
  return text;
}

/// The value without its quotation marks and without a comment behind it.
std::string value_in(std::string_view text, const std::string& file, int line) {
  const auto fail = [&](const char* message) { fail_at(file, line, message); };
  if (text.starts_with('"') || text.starts_with('\'')) {
    const char mark = text.front();
    std::string value;
    std::size_t end = 1;
    for (; end < text.size() && text[end] != mark; ++end) {
      if (mark == '"' && text[end] == '\\') {
        ++end;
        if (end == text.size() || (text[end] != '"' && text[end] != '\\'))
          fail(
              "behind a \\ stands \" or \\; or write the value between '...', where it means "
              "itself");
      }
      value += text[end];
    }
    if (end >= text.size()) fail("a quotation mark is missing at the value's end");
    const std::string_view rest = without_blanks(text.substr(end + 1));
    if (!rest.empty() && !rest.starts_with('#'))
      fail("there is more behind the value; write option = \"value\", one a line");
    return value;
  }
  if (text.starts_with('[')) fail("lists are not understood; write the line again for each value");
  text = without_blanks(text.substr(0, text.find('#')));
  if (text.empty()) fail("the value is missing; write option = \"value\"");
  return std::string(text);
}

}  // namespace

std::string with_origin(const std::string& message, std::span<const Default> defaults,
                        std::span<const std::string> words, bool quotes_values) {
  std::string origins;
  for (const Default& d : defaults) {
    const bool is_quoted = quotes_values && message.find(in_quotes(d.value)) != message.npos &&
                           std::ranges::none_of(words, [&](const std::string& word) {
                             return word == d.value || word.ends_with("=" + d.value);
                           });
    if (is_quoted || named_at(message, d.option) != message.npos)
      origins += (origins.empty() ? "" : ", ") + d.where;
  }
  return origins.empty() ? message : origins + ": " + message;
}

std::string variable_of(const std::string& option) {
  std::string name = "CONVFILT";
  for (const char c : option.substr(1)) name += c == '-' ? '_' : char(std::toupper(c));
  return name;
}

std::string users_config() {
  const std::string folder = users_folder("XDG_CONFIG_HOME", ".config");
  return folder.empty() ? "" : folder + "/convfilt/config.toml";
}

void fail_at(const std::string& file, int line, const std::string& message) {
  throw UsageError(printable_name(file) + ":" + std::to_string(line) + ": " + message);
}

std::vector<ConfigLine> config_lines(std::istream& in, const std::string& file) {
  std::vector<ConfigLine> lines;
  ConfigLine line;
  const std::string whole = text_in(in, file);
  for (std::string_view text = whole; !text.empty();) {
    const auto fail = [&](const char* message) { fail_at(file, line.number, message); };
    if (++line.number == 1 && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    const std::string_view rest = without_blanks(SourceText::take_line(text));
    if (rest.empty() || rest.starts_with('#')) continue;
    if (rest.starts_with('[')) {
      const std::size_t end = rest.find(']');
      const std::string_view after = end == rest.npos ? "" : without_blanks(rest.substr(end + 1));
      if (end == rest.npos || !(after.empty() || after.starts_with('#')))
        fail("a section is a command in brackets, e.g. [blur]");
      line.section = without_blanks(rest.substr(1, end - 1));
      line.key = line.value = "";
      if (line.section.empty()) fail("a section is a command in brackets, e.g. [blur]");
    } else {
      const std::size_t sign = rest.find('=');
      line.key = without_blanks(rest.substr(0, sign));
      if (sign == rest.npos || line.key.empty())
        fail("this is no option; write option = \"value\", e.g. border = \"reflect\"");
      line.value = value_in(without_blanks(rest.substr(sign + 1)), file, line.number);
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace convfilt
