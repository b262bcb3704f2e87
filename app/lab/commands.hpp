/// The commands of the lab as plain structs, and one function for each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/numbers.hpp"
#include "src/filter/convolver.hpp"
#include "src/lab/compare/measure.hpp"
#include "src/lab/compare/plot.hpp"
#include "src/lab/compare/report.hpp"
#include "src/lab/explain/architectures.hpp"
#include "src/lab/explain/tile_picture.hpp"
#include "src/lab/try/kernel_file.hpp"
#include "src/mask/random.hpp"
#include "src/picture/io.hpp"

namespace convfilt {

/// A picture without its alpha, of which strategies know nothing. A note says what is not `done`.
Image read_colours(const std::string& path, const ReadOptions& read, const std::string& done,
                   int threads = 0);

struct CompareCommand : Command {
  std::string in;    ///< a path; empty = noise
  std::string from;  ///< a report to be read instead of measuring; empty = none
  ReadOptions read;
  std::vector<Extent> sizes = {{2048, 2048}};  ///< the noise's, as depths and channels are
  std::vector<Depth> depths = {Depth::u8};
  std::vector<int> channels = {1};
  std::vector<std::string> masks;    ///< as mask_named() takes them
  std::vector<Extent> random_sides;  ///< of random masks, of each kind of weights
  std::vector<Weights> weights = {Weights::bits16};
  CompareOptions compare;
  std::string json, csv, markdown;  ///< paths; "-" is standard output; empty = not wanted
  std::string plot;                 ///< a path; empty = not wanted
  PlotKind plot_kind = PlotKind::bars;
  std::optional<TableKind> table;  ///< by default brief, or what the file of --from says
  Loudness loudness = Loudness::normal;

  void run() override;
};

/// The tables that explain shows instead of one block.
struct ReuseTables {
  std::vector<int> tiles, masks;  ///< sides; empty = no table is wanted
  std::string markdown;           ///< a path; "-" is standard output; empty = not wanted
  bool overlap = false;           ///< what overlap-discard and overlap-add cost, not reuse
  bool wanted() const { return overlap || !tiles.empty(); }
};

struct ExplainCommand : Command {
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
  std::string json;  ///< a path for the block's or the tables'; "-" is standard output; empty = not
                     ///< wanted

  void run() override;
};

/// A result of another program.
struct CheckCommand : Command {
  std::string in, theirs;           ///< paths
  std::string mask;                 ///< as text_or_picture_masks() takes it
  std::optional<double> tolerance;  ///< in steps; by default 0, or roundings of floats
  double border_value = 0;
  ReadOptions read;
  std::string difference;  ///< a path; empty = not wanted
  std::string json;        ///< a path; "-" is standard output; empty = not wanted
  Loudness loudness = Loudness::normal;

  void run() override;
};

struct TuneCommand : Command {
  std::string device = "auto";  ///< auto, cpu, or a CUDA device, as in --device
  bool quick = false;
  std::string output;  ///< a path; "-" = standard output; empty = the user's profiles
  Loudness loudness = Loudness::normal;

  void run() override;
};

/// A student's kernel and how it is launched.
struct TryCommand : Command {
  std::string kernel;  ///< a path
  LaunchWish launch;
  std::string mask;  ///< as mask_named() takes it; empty = random weights
  LessonWish wish;   ///< but for the mask
  std::string device = "auto";
  bool json = false;

  void run() override;
};

}  // namespace convfilt
