#include "src/lab/explain/tile_axis.hpp"

#include <algorithm>

#include "kernels/transform/block_schedule.hpp"

namespace convfilt {

int TileAxis::outputs_of(int t) const {
  return std::min(first_output(t) + tile, outputs) - std::max(first_output(t), 0);
}

int TileAxis::inputs_inside(int t) const {
  const int first = std::max(0, first_input(t));
  const int last = std::min(inputs, first_input(t) + in_tile);
  return std::max(0, last - first);
}

std::int64_t TileAxis::taps_inside_of(int first, int last) const {
  std::int64_t taps = 0;
  for (int n = first; n < last; ++n)
    taps += std::max(0, std::min(inputs, n - lead + side) - std::max(0, n - lead));
  return taps;
}

std::int64_t TileAxis::taps_inside(int t) const {
  const int first = std::max(first_output(t), 0);
  return taps_inside_of(first, first + outputs_of(t));
}

std::int64_t TileAxis::all_inputs_inside() const {
  std::int64_t sum = 0;
  for (int t = 0; t < tiles(); ++t) sum += inputs_inside(t);
  return sum;
}

std::int64_t TileAxis::all_taps_in_own_tile() const {
  std::int64_t taps = 0;
  for (int t = 0; t < tiles(); ++t) {
    const int first = std::max(0, first_input(t));
    const int last = std::min(inputs, first_input(t) + in_tile);
    const int tap = std::max(first_output(t), 0) - lead;  // the first tap of the first output
    for (int i = 0; i < side; ++i)
      taps += std::max(0, std::min(last, tap + i + outputs_of(t)) - std::max(first, tap + i));
  }
  return taps;
}

TileAxes tile_axes(const Problem& p, const Geometry& g) {
  const bool bare = g.adding_x.steps > 0 && transform::zeros_outside(p);
  return {{p.width, p.out_width(), p.mask.width, p.lead_x(), p.mask.anchor_x, g.out_columns,
           g.step_x(), g.in_columns, g.lead_x, bare},
          {p.height, p.out_height(), p.mask.height, p.lead_y(), p.mask.anchor_y, g.out_rows,
           g.step_y(), g.in_rows, g.lead_y, bare}};
}

}  // namespace convfilt
