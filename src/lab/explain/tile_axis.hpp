/// Tiles along one axis of a picture: what lies in the image and what is a ghost cell. A number for
/// both axes is the product of the two.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

struct TileAxis {
  int inputs = 0;     ///< samples of the picture along the axis
  int outputs = 0;    ///< the result's length
  int side = 0;       ///< the mask's length
  int lead = 0;       ///< output n sums the samples from n - lead on
  int anchor = 0;     ///< the mask's: output n lies over sample n - lead + anchor
  int tile = 0;       ///< outputs of a block
  int step = 0;       ///< from block to block; less than `tile` where output tiles overlap
  int in_tile = 0;    ///< samples of its input tile; 0 = none is kept
  int in_lead = 0;    ///< how many of them lie before the output tile
  bool bare = false;  ///< whether output tiles overlap, and the first block begins with the picture

  /// Blocks that cover the outputs: where output tiles overlap, the first begins before them.
  int tiles() const { return bare ? (inputs + step - 1) / step : (outputs + tile - 1) / step; }

  /// The first output of tile t, how far right of an output the image's sample under it lies, and
  /// the first sample of the tile's input tile. Tiles may reach beyond the outputs and the image.
  int first_output(int t) const { return t * step - (tile - step) + (bare ? side - 1 : 0); }
  int shift() const { return anchor - lead; }
  int first_input(int t) const { return first_output(t) + shift() - in_lead; }

  /// The tile that computes an output; where output tiles overlap, whose samples the output lies
  /// over.
  int tile_of(int output) const {
    const int from = step < tile ? output + tile - step + in_lead - (bare ? side - 1 : 0) : output;
    return std::clamp(from / step, 0, tiles() - 1);
  }

  /// Outputs of tile t that exist.
  int outputs_of(int t) const;

  /// Samples of tile t's input tile that lie in the image.
  int inputs_inside(int t) const;

  /// Taps of tile t's existing outputs that lie in the image.
  std::int64_t taps_inside(int t) const;

  /// Taps of all outputs that lie in the image and in the input tile of the output's own block.
  std::int64_t all_taps_in_own_tile() const;

  /// The inputs of all tiles together, and the taps of all outputs, each counted once.
  std::int64_t all_inputs_inside() const;
  std::int64_t all_taps_inside() const { return taps_inside_of(0, outputs); }

 private:
  std::int64_t taps_inside_of(int first, int last) const;
};

/// Both axes of a problem, with blocks of a given geometry. `lead_x` and `lead_y` of the geometry
/// must be those of Mode::same, where output n lies over sample n.
struct TileAxes {
  TileAxis x, y;

  std::int64_t blocks() const { return std::int64_t(x.tiles()) * y.tiles(); }
  std::int64_t outputs() const { return std::int64_t(x.outputs) * y.outputs; }
  std::int64_t taps() const { return outputs() * x.side * y.side; }
};

TileAxes tile_axes(const Problem& problem, const Geometry& geometry);

}  // namespace convfilt
