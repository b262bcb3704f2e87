/// Tiles along one axis of a picture: what lies in the image and what is a ghost cell. What is
/// asked of both axes is the product.
#pragma once

#include <cstdint>

#include "geometry.hpp"
#include "problem.hpp"

namespace convfilt {

struct TileAxis {
  int inputs = 0;   ///< samples of the picture along the axis
  int outputs = 0;  ///< of the result
  int side = 0;     ///< of the mask
  int lead = 0;     ///< output n sums the samples from n - lead on
  int anchor = 0;   ///< of the mask: output n lies over sample n - lead + anchor
  int tile = 0;     ///< outputs of a block
  int in_tile = 0;  ///< samples of its input tile; 0 = none is kept
  int in_lead = 0;  ///< of them, those before the output tile

  int tiles() const { return (outputs + tile - 1) / tile; }

  /// Outputs of tile t that exist.
  int outputs_of(int t) const;

  /// First sample of tile t's input tile, and of its output tile. They may lie outside the image.
  int first_input(int t) const { return first_output(t) - in_lead; }
  int first_output(int t) const { return t * tile - lead + anchor; }

  /// Samples of tile t's input tile that lie in the image.
  int inputs_inside(int t) const;

  /// Taps of tile t's outputs that lie in the image.
  std::int64_t taps_inside(int t) const;

  /// Of all tiles together.
  std::int64_t all_inputs_inside() const;
  std::int64_t all_taps_inside() const;
};

/// Both axes of a problem whose blocks look like that. `lead_x` and `lead_y` of the geometry must
/// be those of Mode::same, where output n lies over sample n.
struct TileAxes {
  TileAxis x, y;

  std::int64_t blocks() const { return std::int64_t(x.tiles()) * y.tiles(); }
  std::int64_t outputs() const { return std::int64_t(x.outputs) * y.outputs; }
  std::int64_t taps() const { return outputs() * x.side * y.side; }
};

TileAxes tile_axes(const Problem& problem, const Geometry& geometry);

}  // namespace convfilt
