/// One function a command, and what the picture commands share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/options.hpp"
#include "src/batch/picture_file.hpp"
#include "src/filter/resident.hpp"

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
void run(const MergeCommand& command);
void run(const TryCommand& command);
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
  NeedsOfWhole needs;           ///< what `whole` takes
  bool keeps_lightness = true;  ///< see filter_mapped()
  std::string kind;             ///< what it does with its masks: no other filter has this word
  std::vector<Mask> masks;      ///< with the kind, all that decides its bytes
  ResidentWork resident;        ///< the same for pictures that lie on a device
};

/// The mask as a filter.
PictureFilter filter_by(Mask mask);

/// One picture's filter by these options. What it uses must outlive it; `note` gets what somebody
/// should know of the picture.
Filter make_filter(const PictureOptions& options, const PictureFilter& filter, Convolver& convolver,
                   std::string& note);

/// Filters one picture or a folder of them. A result is written whole or not at all. Throws IoError
/// where a picture failed.
void filter_pictures(const PictureOptions& options, const PictureFilter& filter);

/// The same for one: checks the output, reads the input, filters, writes, and with -v says what it
/// did.
void filter_picture(const PictureOptions& options, const PictureFilter& filter);

}  // namespace convfilt
