/// The commands as plain structs: what the command line says, in types.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/grammar/filters.hpp"
#include "src/base/log.hpp"
#include "src/base/numbers.hpp"
#include "src/filter/convolver.hpp"
#include "src/filter/mapped.hpp"
#include "src/mask/random.hpp"
#include "src/picture/io.hpp"
#include "src/run/batch.hpp"

namespace convfilt {

/// A filter for pictures.
struct FilterCommand {
  const FilterLine* line = nullptr;
  FilterValues values;
  Mapping mapping;
  Batch batch;               ///< but for its filter
  std::string needs_folder;  ///< an option that makes sense where OUT is one; empty = none
  bool dry_run = false, json = false, progress = true;
  Loudness loudness = Loudness::normal;
};

/// The summary of all journals of shards.
struct MergeCommand {
  std::string out;  ///< the folder of the results
  Loudness loudness = Loudness::normal;
};

struct ListCommand {
  std::string topic;  ///< one of kListTopics; empty = all
};

/// A mask's properties and effect.
struct MaskCommand {
  std::string action;  ///< one of kMaskActions
  std::string mask;    ///< a path, or a name in filters/
  std::string output;  ///< show: a path for a picture of the response; empty = drawn as text

  // The picture and the machine for which check says what auto takes.
  Request request;
  int width = 1920, height = 1080, channels = 3;
  std::vector<Depth> depths{std::begin(kDepths), std::end(kDepths)};
};

struct GenerateCommand {
  std::string what;  ///< one of kGenerated
};

inline constexpr std::string_view kMaskActions[] = {"check", "show"};
inline constexpr std::string_view kGenerated[] = {"man", "bash", "zsh", "fish"};
inline constexpr std::string_view kListTopics[] = {"strategies", "filters", "masks", "devices"};

}  // namespace convfilt
