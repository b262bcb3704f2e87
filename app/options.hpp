/// The commands as plain structs: what the command line says, in types.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/sides.hpp"
#include "src/batch/codec_choice.hpp"
#include "src/batch/folder.hpp"
#include "src/compare/measure.hpp"
#include "src/compare/report.hpp"
#include "src/explain/architectures.hpp"
#include "src/explain/tile_picture.hpp"
#include "src/filter/convolver.hpp"
#include "src/filter/edge.hpp"
#include "src/filter/mapped.hpp"
#include "src/lesson/kernel_file.hpp"
#include "src/mask/random.hpp"
#include "src/picture/io.hpp"

namespace convfilt {

/// What blur, sharpen, edge and apply share.
struct PictureOptions {
  std::string in, out;  ///< paths; "-" = standard input, standard output; out may be a folder
  std::vector<std::string> more;  ///< further inputs, beside `in`
  std::string needs_folder;       ///< an option that makes sense where `out` is one; empty = none
  ReadOptions read;
  WriteOptions write;
  bool in_place = false;
  ConvolverOptions convolver;
  Mapping mapping;
  bool flip = false, normalize = false;
  Loudness loudness = Loudness::normal;
  std::int64_t max_memory = 0;  ///< bytes; 0 = no limit

  FolderOptions folder;  ///< but for what stands above
  bool dry_run = false, json = false, progress = true;
  CodecKind codec = CodecKind::automatic;
  std::string devices;  ///< all, or numbers; empty = all, or the one that --device names
};

/// What the journals of shards say together.
struct MergeCommand {
  std::string out;  ///< the folder of the results
  Loudness loudness = Loudness::normal;
};

inline constexpr Mode kTryModes[] = {Mode::same, Mode::valid};

/// A student's kernel and how it is launched.
struct TryCommand {
  std::string kernel;  ///< a path
  LaunchWish launch;
  std::string mask;  ///< as mask_named() takes it; empty = random weights
  LessonWish wish;   ///< but for the mask
  std::string device = "auto";
  bool json = false;

  /// Words as they arrive, until check() has read them.
  struct {
    std::optional<std::string> block, outputs, mask_size, mode;
  } words;
};

inline constexpr double kDefaultBlurSigma = 2;

struct BlurCommand {
  PictureOptions picture;
  std::optional<double> sigma;  ///< pixels; kDefaultBlurSigma if there is no box either
  std::optional<int> box;       ///< side in pixels, instead of sigma
};

struct SharpenCommand {
  PictureOptions picture;
  double amount = 1;
  double sigma = 1;  ///< pixels
};

struct EdgeCommand {
  PictureOptions picture;
  EdgeOptions edge;
};

struct ApplyCommand {
  PictureOptions picture;
  std::string mask;  ///< a path, or a name in filters/
};

/// A mask of random weights, see random_mask().
struct RandomMask {
  Weights weights = Weights::bits16;
  Extent sides;
};

struct CompareCommand {
  std::string in;    ///< a path; empty = noise
  std::string from;  ///< a report to be read instead of measuring; empty = none
  ReadOptions read;
  std::vector<Extent> sizes = {{2048, 2048}};  ///< the noise's, as depths and channels are
  std::vector<Depth> depths = {Depth::u8};
  std::vector<int> channels = {1};
  std::vector<std::string> masks;  ///< as mask_named() takes them
  std::vector<RandomMask> random_masks;
  ConvolverOptions convolver;  ///< border, mode, pitch, threads and device
  CompareOptions compare;
  std::string json, csv, markdown;  ///< paths; "-" is standard output; empty = not wanted
  std::optional<std::string> plot;  ///< path
  std::string plot_kind = "bars";   ///< name of one of kPlotKinds
  Loudness loudness = Loudness::normal;

  std::optional<TableKind> table;  ///< by default brief, or what the file of --from says

  /// Words as they arrive, until check() has read them.
  struct {
    std::optional<std::string> size, depth, channels, masks, weights, strategies, table;
    std::optional<int> repeats;
    std::optional<double> patience;
  } words;
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
  std::vector<int> tiles, masks;   ///< sides; empty = no table is wanted
  std::string json, markdown;      ///< paths; "-" is standard output; empty = not wanted
  std::vector<std::string> words;  ///< as they arrive, until check() has read them
  bool overlap = false;            ///< what overlap-discard and overlap-add cost, not reuse
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
inline constexpr std::string_view kListTopics[] = {"strategies", "filters", "devices"};

/// --help or --version: a text for standard output.
struct Answer {
  std::string text;
};

using Command = std::variant<Answer, BlurCommand, SharpenCommand, EdgeCommand, ApplyCommand,
                             CompareCommand, ExplainCommand, TuneCommand, MaskCommand, MergeCommand,
                             TryCommand, ListCommand, GenerateCommand>;

}  // namespace convfilt
