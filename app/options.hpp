/// The commands as plain structs: what the command line says, in types.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/grammar/filters.hpp"
#include "src/base/log.hpp"
#include "src/base/sides.hpp"
#include "src/compare/measure.hpp"
#include "src/compare/plot.hpp"
#include "src/compare/report.hpp"
#include "src/explain/architectures.hpp"
#include "src/explain/tile_picture.hpp"
#include "src/filter/convolver.hpp"
#include "src/filter/mapped.hpp"
#include "src/lesson/kernel_file.hpp"
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

/// What the journals of shards say together.
struct MergeCommand {
  std::string out;  ///< the folder of the results
  Loudness loudness = Loudness::normal;
};

/// A student's kernel and how it is launched.
struct TryCommand {
  std::string kernel;  ///< a path
  LaunchWish launch;
  std::string mask;  ///< as mask_named() takes it; empty = random weights
  LessonWish wish;   ///< but for the mask
  std::string device = "auto";
  bool json = false;
};

struct CompareCommand {
  std::string in;    ///< a path; empty = noise
  std::string from;  ///< a report to be read instead of measuring; empty = none
  ReadOptions read;
  std::vector<Extent> sizes = {{2048, 2048}};  ///< the noise's, as depths and channels are
  std::vector<Depth> depths = {Depth::u8};
  std::vector<int> channels = {1};
  std::vector<std::string> masks;    ///< as mask_named() takes them
  std::vector<Extent> random_sides;  ///< of random masks, of each kind of weights
  std::vector<Weights> weights = {Weights::bits16};
  ConvolverOptions convolver;  ///< border, mode, pitch, threads and device
  CompareOptions compare;
  std::string json, csv, markdown;  ///< paths; "-" is standard output; empty = not wanted
  std::string plot;                 ///< a path; empty = not wanted
  PlotKind plot_kind = PlotKind::bars;
  std::optional<TableKind> table;  ///< by default brief, or what the file of --from says
  Loudness loudness = Loudness::normal;
};

struct ListCommand {
  std::string topic;  ///< one of kListTopics; empty = all
};

struct TuneCommand {
  std::string device = "auto";  ///< auto, cpu, or a CUDA device, as in --device
  bool quick = false;
  std::string output;  ///< a path; "-" = standard output; empty = the user's profiles
  Loudness loudness = Loudness::normal;
};

/// The word of --table for the costs of overlap-discard and overlap-add.
inline constexpr std::string_view kOverlapTable = "overlap";

/// The tables that explain shows instead of one block.
struct ReuseTables {
  std::vector<int> tiles, masks;  ///< sides; empty = no table is wanted
  std::string json, markdown;     ///< paths; "-" is standard output; empty = not wanted
  bool overlap = false;           ///< what overlap-discard and overlap-add cost, not reuse
  bool wanted() const { return overlap || !tiles.empty(); }
};

struct ExplainCommand {
  ConvolverOptions convolver;       ///< the strategy and its settings, the border, the mode
  std::optional<std::string> mask;  ///< as mask_named() takes it; by default 5x5, or 3x3
  bool flip = false;                ///< turn it by 180 degrees
  std::string picture;              ///< a path to draw to; empty = none
  std::optional<OutputAt> at;       ///< whose block is drawn; by default one in the middle
  std::string architecture{kDefaultArchitecture};
  int width = 200, height = 120;  ///< the picture's: a few tiles, those at the edges cut
  bool sized = false;             ///< whether --size says so; else it may be larger
  std::optional<Depth> depth;     ///< by default f32, or u8 where the strategy does not take that
  ReuseTables table;
};

/// What a mask is, and what it does.
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

/// --help or --version: a text for standard output.
struct Answer {
  std::string text;
};

using Command = std::variant<Answer, FilterCommand, CompareCommand, ExplainCommand, TuneCommand,
                             MaskCommand, MergeCommand, TryCommand, ListCommand, GenerateCommand>;

}  // namespace convfilt
