/// One function a command, and what the picture commands share.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "app/options.hpp"

namespace convfilt {

void run(const Answer& answer);
void run(const BlurCommand& command);
void run(const SharpenCommand& command);
void run(const EdgeCommand& command);
void run(const ApplyCommand& command);
void run(const CompareCommand& command);
void run(const ExplainCommand& command);
void run(const TuneCommand& command);
void run(const MaskCommand& command);
void run(const ListCommand& command);
void run(const GenerateCommand& command);

/// Writes a result to standard output; throws IoError where that fails.
void print_result(std::string_view text);

/// The same for a person, with lines that fit the terminal.
void print_text(std::string_view text);

/// The mask as --normalize and --flip want it.
Mask finished(Mask mask, const PictureOptions& options);

/// A filter in its two forms, see Filter.
struct PictureFilter {
  std::function<std::unique_ptr<BandFilter>(const Shape&, Convolver&)> in_bands;
  WholeFilter whole;
  bool keeps_lightness = true;  ///< see filter_mapped()
};

/// The mask as a filter.
PictureFilter filter_by(Mask mask);

/// Checks the output, reads the input, filters, writes, and with -v says what it did. Nothing is
/// written when anything fails.
void filter_picture(const PictureOptions& options, const PictureFilter& filter);

}  // namespace convfilt
