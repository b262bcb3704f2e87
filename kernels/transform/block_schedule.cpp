#include "kernels/transform/block_schedule.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/backend/fourier.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/ceil_div.hpp"

namespace convfilt::transform {
namespace {

constexpr int kSpatialBlock = 32;
constexpr int kSteps = 2;               // the fewest that keep the blocks of a step apart
constexpr int kLeastTransform = 16;     // shorter transforms are little but overhead
constexpr int kLargestTransform = 512;  // a block's spectrum is 1 MB: some 50 stay in an L2 cache
constexpr int kLargestPartTransform = 256;  // larger masks get more parts, not larger transforms

/// The block side S >= least_block with the least transform work per output, where S + side - 1 is
/// a power of two up to `largest`. It is 0 when there is none.
int best_block(int side, int least_block, int largest) {
  int best = 0;
  double best_work = 0;
  for (int length = kLeastTransform; length <= largest; length *= 2) {
    const int block = length - side + 1;
    if (block < std::max(1, least_block)) continue;
    const double work = std::pow(double(length) / block, 2) * std::log2(length);
    if (best == 0 || work < best_work) {
      best = block;
      best_work = work;
    }
  }
  return best;
}

/// The block's side, or the number of samples where that is less.
int clipped(int block, int outputs, int side) {
  return std::min(block, outputs + side - 1);
}

BlockAxis overlap_add_axis(int outputs, int side, const Tuning& tuning) {
  const bool atomic = tuning[Setting::accumulate] == kAtomic;
  BlockAxis axis;
  axis.side = axis.part = side;
  axis.steps = tuning[Setting::steps] ? tuning[Setting::steps] : kSteps;
  axis.block = tuning[Setting::block];
  const int least = ceil_div(side - 1, std::max(1, axis.steps - 1));
  if (axis.block == 0 && tuning[Setting::domain] == kSpatial) {
    axis.block = std::max(kSpatialBlock, least);
  }
  for (int largest = kLargestTransform; axis.block == 0; largest *= 2) {
    axis.block = best_block(side, least, largest);
  }
  if (atomic) axis.steps = 1;
  axis.block = clipped(axis.block, outputs, side);
  return axis;
}

BlockAxis in_parts_axis(int outputs, int side, const Tuning& tuning) {
  const bool spatial = tuning[Setting::domain] == kSpatial;
  BlockAxis axis;
  axis.side = side;
  axis.steps = tuning[Setting::accumulate] == kAtomic ? 1 : kSteps;
  axis.block = tuning[Setting::block];
  if (axis.block == 0 && spatial) axis.block = kSpatialBlock;
  if (axis.block == 0) axis.block = best_block(side, side, kLargestPartTransform);
  if (axis.block == 0) axis.block = kLargestPartTransform / 2;
  axis.block = clipped(axis.block, outputs, side);
  axis.part = std::min({axis.block, side, spatial ? kMaxPartSide : side});
  return axis;
}

template <class Axis>
BlockSchedule both_axes(const Problem& p, const Tuning& tuning, Axis axis) {
  return {axis(p.out_width(), p.mask.width, tuning), axis(p.out_height(), p.mask.height, tuning),
          tuning[Setting::accumulate] == kAtomic};
}

std::string too_many(const Problem& p, const BlockAxis& x, const BlockAxis& y) {
  return blocks_refuse(x.blocks(p.out_width()), y.blocks(p.out_height()));
}

std::string by(int columns, int rows) {
  return std::to_string(columns) + "x" + std::to_string(rows);
}

}  // namespace

BlockSchedule overlap_add_schedule(const Problem& p, const Tuning& tuning) {
  return both_axes(p, tuning, overlap_add_axis);
}

BlockSchedule in_parts_schedule(const Problem& p, const Tuning& tuning) {
  return both_axes(p, tuning, in_parts_axis);
}

std::string overlap_add_refuses(const Problem& p, const Tuning& tuning) {
  const auto [x, y, atomic] = overlap_add_schedule(p, tuning);
  if (const std::string many = too_many(p, x, y); !many.empty()) return many;
  if (atomic) {
    return tuning[Setting::steps] == 0 ? ""
                                       : "atomic additions take one launch; leave out --steps, or "
                                         "use --accumulate=steps";
  }
  if (x.disjoint() && y.disjoint()) return "";
  std::string reason = std::to_string(x.steps) + (x.steps == 1 ? " step" : " steps") +
                       " an axis let blocks of " + by(x.block, y.block) + " meet under a mask of " +
                       by(x.side, y.side) + "; use ";
  const int steps = 1 + std::max(ceil_div(x.side - 1, x.block), ceil_div(y.side - 1, y.block));
  if (steps <= info_of(Setting::steps).highest) reason += "--steps=" + std::to_string(steps);
  if (x.steps == 1) {
    return steps <= info_of(Setting::steps).highest ? reason : reason + "a larger --block";
  }
  const int block = ceil_div(std::max(x.side, y.side) - 1, x.steps - 1);
  if (steps <= info_of(Setting::steps).highest) reason += " or ";
  return reason + "--block=" + std::to_string(block);
}

std::string in_parts_refuses(const Problem& p, const Tuning& tuning) {
  const auto [x, y, atomic] = in_parts_schedule(p, tuning);
  return too_many(p, x, y);
}

std::vector<float> framed_parts(const Mask& mask, const BlockSchedule& schedule, int begin,
                                int count, int columns, int rows) {
  const auto& [x, y, atomic] = schedule;
  std::vector<float> frames(std::size_t(columns) * rows * count);
  const double over = mask.divisor * columns * rows;
  for (int n = 0; n < std::min(count, x.parts() * y.parts() - begin); ++n) {
    const int first_i = (begin + n) % x.parts() * x.part;
    const int first_j = (begin + n) / x.parts() * y.part;
    for (int j = 0; j < std::min(y.part, y.side - first_j); ++j) {
      float* row = &frames[(std::size_t(n) * rows + j) * columns];
      for (int i = 0; i < std::min(x.part, x.side - first_i); ++i) {
        row[i] = float(mask.weight(first_i + i, first_j + j) / over);
      }
    }
  }
  return frames;
}

Geometry geometry_of(const Problem& p, const Tuning& tuning, const BlockSchedule& schedule,
                     int block_columns, int block_rows) {
  const auto& [x, y, atomic] = schedule;
  const bool spatial = tuning[Setting::domain] == kSpatial;
  Geometry g;
  g.block_columns = block_columns;
  g.block_rows = block_rows;
  g.loading_threads = block_columns * block_rows;
  g.computing_threads = block_columns * block_rows;
  g.in_columns = x.block;
  g.in_rows = y.block;
  g.out_columns = x.block + x.part - 1;
  g.out_rows = y.block + y.part - 1;
  g.lead_x = p.lead_x() - (x.part - 1);  // if negative, the output tile begins further left
  g.lead_y = p.lead_y() - (y.part - 1);
  g.loads = double(x.block) * y.block * (spatial ? double(x.part) * y.part : 1.0);
  g.loads_per_output = spatial ? "w * h" : "1";
  const std::string parts =
      x.parts() * y.parts() > 1 ? by(x.parts(), y.parts()) + " parts of the mask times " : "";
  if (atomic) {
    g.note =
        "One launch adds all blocks; the outputs that neighbours share are added to atomically.";
  } else {
    g.note = "Blocks are added in " + parts + by(x.steps, y.steps) +
             " launches. Those of one launch lie " + by(x.steps * x.block, y.steps * y.block) +
             " apart and write " + by(g.out_columns, g.out_rows) + " each, so none meet.";
  }
  const int tile_x = spatial ? g.out_columns : good_fft_size(g.out_columns);
  const int tile_y = spatial ? g.out_rows : good_fft_size(g.out_rows);
  g.note +=
      " A block of the picture takes " +
      by(ceil_div(tile_x, block_columns), ceil_div(tile_y, block_rows)) +
      " blocks of threads. Its side, unless set: " +
      (spatial ? "32, or what the steps need."
               : "that for which transforms of a power of two take the least work an output.");
  return g;
}

}  // namespace convfilt::transform
