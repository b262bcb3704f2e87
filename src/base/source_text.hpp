/// A text file in memory, with errors that point at a place in it.
#pragma once

#include <string>
#include <string_view>

namespace convfilt {

/// Text with the name of its file. Places in it are string_views into text(). Does not own the
/// bytes: they must outlive it.
class SourceText {
 public:
  /// Drops a UTF-8 byte order mark. Throws IoError, pointing at the place, if the text is UTF-16 or
  /// holds a control character other than tab, newline and the CR of a CRLF.
  SourceText(std::string_view text, std::string file_name);

  std::string_view text() const { return text_; }
  const std::string& file_name() const { return file_name_; }

  /// Takes the next line from the front of `rest`, which starts as text() and ends empty. The line
  /// has no newline or CRLF.
  static std::string_view take_line(std::string_view& rest);

  /// Three lines: "file:line:column: message", the line, and a caret under the first character of
  /// `place`. Lines and columns count from 1; a column is a character of UTF-8, a tab one column.
  /// The message shows tabs as blanks, escapes bytes outside printable ASCII, and shows only the
  /// surroundings of the place.
  std::string pointing_at(std::string_view place, const std::string& message) const;

  /// Throws IoError of these lines.
  [[noreturn]] void fail(std::string_view place, const std::string& message) const;

 private:
  std::string_view text_;
  std::string file_name_;
};

/// The bytes of a text file; pipes are read like regular files. Throws IoError if it cannot be read
/// or is larger than 64 MiB; `kind` says what it should be, such as "mask".
std::string read_text(const std::string& path, const std::string& kind);

/// The text without the blanks and tabs around it.
std::string_view without_blanks(std::string_view text);

/// `word` in single quotes, escaped as in SourceText::fail, and clipped after some 40 characters.
std::string in_quotes(std::string_view word);

/// A file name for messages: control characters are escaped, so that a message stays one line.
std::string printable_name(std::string_view name);

/// The same in single quotes.
std::string quoted_name(std::string_view name);

}  // namespace convfilt
