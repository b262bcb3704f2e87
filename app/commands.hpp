/// One function a command, and what the picture commands share.
#pragma once

#include <string_view>

#include "app/options.hpp"
#include "src/filter/filter.hpp"
#include "src/run/picture_file.hpp"

namespace convfilt {

void run(const Answer& answer);
void run(const FilterCommand& command);
void run(const CompareCommand& command);
void run(const ExplainCommand& command);
void run(const TuneCommand& command);
void run(const MaskCommand& command);
void run(const MergeCommand& command);
void run(const TryCommand& command);
void run(const ListCommand& command);
void run(const GenerateCommand& command);

/// Writes a result to standard output; throws IoError where that fails.
void print_result(std::string_view text);

/// The same for a person, with lines that fit the terminal.
void print_text(std::string_view text);

/// Filters one picture: reads the input, filters, writes, and with -v says what it did. Throws
/// IoError, UsageError and what the filter throws.
FileReport filter_picture(const PictureOptions& options, const Filter& filter, const FileJob& job);

}  // namespace convfilt
