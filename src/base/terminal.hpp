/// The terminal: its width, text that fits it, and a line that shows progress.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace convfilt {

/// Characters of UTF-8, each one column wide.
std::size_t width_of(std::string_view text);

/// Columns of a file descriptor's terminal: the environment variable COLUMNS, else the terminal's
/// width, else 100; at least 80.
std::size_t terminal_width(int fd);

/// Breaks lines wider than `width` columns at blanks. A continued line begins below the line's last
/// column of text (a gap of two blanks separates columns) if that begins in the left two thirds;
/// else it is indented by two. Longer words stay whole, so that paths can be copied.
std::string wrapped(std::string_view text, std::size_t width);

/// Overwrites its line on standard error, and clears it at the end. Writes only if `wanted` and if
/// standard error is a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Shows the text, cut to the terminal's width.
  void show(const std::string& text);

  /// Removes the line.
  void clear();

 private:
  std::FILE* const stream_ = stderr;  // a codec may point `stderr` elsewhere, and leaves it there
  bool shown_ = false, wanted_;
};

}  // namespace convfilt
