/// A filter command, and the parts that commands share.
#pragma once

#include <string>
#include <string_view>

#include "src/base/log.hpp"
#include "src/filter/mapped.hpp"
#include "src/recipe/table.hpp"
#include "src/run/batch.hpp"

namespace convfilt {

// Words of options. The first of each is the default.
inline const Choices<Negative> kNegatives = {
    {"clamp", Negative::clamp}, {"abs", Negative::absolute}, {"signed", Negative::centred}};
inline const Choices<Loader> kLoaders = {{"auto", Loader::automatic}, {"opencv", Loader::opencv}};
inline const Choices<IfExists> kIfExists = {
    {"overwrite", IfExists::overwrite}, {"skip", IfExists::skip}, {"fail", IfExists::fail}};
inline const Choices<CodecKind> kCodecs = {
    {"auto", CodecKind::automatic}, {"cpu", CodecKind::cpu}, {"gpu", CodecKind::gpu}};

/// The word of explain's --table for the costs of overlap-discard and overlap-add.
inline constexpr std::string_view kOverlapTable = "overlap";

/// A command with its options.
struct Command {
  virtual ~Command() = default;
  virtual void run() = 0;
};

/// A filter for pictures.
struct FilterCommand : Command {
  const FilterLine* line = nullptr;
  FilterValues values;
  Values given;   ///< values by their options, for the steps of a recipe
  Words options;  ///< all that the command has
  Mapping mapping;
  Batch batch;               ///< but for its filter
  std::string needs_folder;  ///< an option that makes sense where OUT is one; empty = none
  bool dry_run = false, json = false, no_progress = false;
  Loudness loudness = Loudness::normal;

  void run() override;
};

/// Writes a result to standard output; throws IoError where that fails.
void print_result(std::string_view text);

/// Writes a result to a file, or to standard output where the path is "-". Throws IoError.
void write_result(const std::string& path, const std::string& text);

/// A result for a person, with lines that fit the terminal.
void print_text(std::string_view text);

}  // namespace convfilt
