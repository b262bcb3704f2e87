/// One function for each command.
#pragma once

#include <string_view>

#include "app/options.hpp"

namespace convfilt {

void run(const FilterCommand& command);
void run(const MaskCommand& command);
void run(const MergeCommand& command);
void run(const ListCommand& command);
void run(const GenerateCommand& command);

/// Writes a result to standard output; throws IoError where that fails.
void print_result(std::string_view text);

/// Writes a result to a file, or to standard output where the path is "-". Throws IoError.
void write_result(const std::string& path, const std::string& text);

/// A result for a person, with lines that fit the terminal.
void print_text(std::string_view text);

}  // namespace convfilt
