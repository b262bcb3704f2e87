/// One function a command, and what the picture commands share.
#pragma once

#include <string>
#include <string_view>

#include "app/options.hpp"
#include "src/batch/picture_file.hpp"
#include "src/filter/picture_filter.hpp"

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

/// One picture's filter by these options. What it uses must outlive it; `note` gets what somebody
/// should know of the picture.
Filter make_filter(const PictureOptions& options, const PictureFilter& filter, Convolver& convolver,
                   std::string& note);

/// Filters one picture: reads the input, filters, writes, and with -v says what it did. Throws
/// IoError, UsageError and what the filter throws.
FileReport filter_picture(const PictureOptions& options, const PictureFilter& filter,
                          const FileJob& job);

}  // namespace convfilt
