/// The width of a terminal, and text that fits it.
#pragma once

#include <string>
#include <string_view>

namespace convfilt {

/// Characters of UTF-8, each one column wide.
std::size_t width_of(std::string_view text);

/// Columns of what a file descriptor writes to: what the environment variable COLUMNS says, else
/// the terminal's; 100 where neither is known. It is at least 80.
std::size_t terminal_width(int fd);

/// The text with lines broken at blanks that are wider than `width` columns. What continues a line
/// begins below its last column of text, which a gap of two blanks shows, if that begins in the
/// left two thirds; else two columns in. A longer word stays whole, so that paths can be copied.
std::string wrapped(std::string_view text, std::size_t width);

}  // namespace convfilt
