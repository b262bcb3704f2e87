/// A progress line on a terminal for long commands.
#pragma once

#include <cstdio>
#include <string>

namespace convfilt {

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
  std::FILE* const stream_ = stderr;  // which a codec may point elsewhere for a while
  bool shown_ = false, wanted_;
};

}  // namespace convfilt
