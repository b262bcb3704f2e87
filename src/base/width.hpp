/// The terminal's width, and text that fits it.
#pragma once

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

}  // namespace convfilt
