// The spatial form of overlap-add and in-parts: a block of samples under one part of the mask.
//
//   Blocks are disjoint, so each sample belongs to one. The outputs of a block reach w - 1
//   columns and h - 1 rows beyond it, into those of the blocks before. An output gets from
//   each block the products of the samples that lie in it.
//
//        <- w - 1 -> <---- S ---->
//       +-----------+-------------+
//       |     outputs of the block|     one thread an output; the taps that
//       |           +-------------+     leave the block belong to another
//       |           |    block    |
//       +-----------+-------------+
//
//   Global reads per output: w * h, e.g. 25 at 5x5, in (1 + (w - 1) / S) * (1 + (h - 1) / S)
//   pieces, each of which is read and written once in the plane of sums, e.g. 1.27 at S = 32.
//   Sibling: scatter adds every product by itself, and atomically.

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/sums.hpp"
#include "kernels/transform/block_plans.hpp"
#include "kernels/transform/grid.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {

using namespace convfilt::transform;
namespace {

/// A launch's blocks along one axis, and the tiles of outputs that they add to.
struct TileAxis {
  int first;    ///< the output where the first tile begins
  int stride;   ///< outputs from one tile to the next
  int block;    ///< samples of a block
  int threads;  ///< blocks of threads that cover a tile
};

template <class T, Border B, bool kAtomically>
__global__ void spatial_blocks_kernel(PlaneView<const T> in, PlaneView<Total<T>> sums, T ghost,
                                      TileAxis columns, TileAxis rows,
                                      const MaskPart<T> __grid_constant__ mask) {
  // This thread's output has the place (col, row) in the tile, and (x, y) in the picture.
  const int col = int(blockIdx.x) % columns.threads * kBlockColumns + int(threadIdx.x);
  const int row = int(blockIdx.y) % rows.threads * kBlockRows + int(threadIdx.y);
  const int x = columns.first + int(blockIdx.x) / columns.threads * columns.stride + col;
  const int y = rows.first + int(blockIdx.y) / rows.threads * rows.stride + row;
  if (col >= columns.block + mask.width - 1 || row >= rows.block + mask.height - 1) return;
  if (!contains(sums, x, y)) return;

  // Compute the sum over the taps whose samples lie in the block.
  const int first_i = max(0, mask.width - 1 - col);
  const int first_j = max(0, mask.height - 1 - row);
  const int end_i = min(mask.width, mask.width - 1 - col + columns.block);
  const int end_j = min(mask.height, mask.height - 1 - row + rows.block);
  SumOf<T> sum = 0;
  for (int j = first_j; j < end_j; ++j) {
    SumOf<T> row_sum = 0;
    for (int i = first_i; i < end_i; ++i) {
      const T sample = load<B>(in, x + mask.dx + i, y + mask.dy + j, ghost);
      row_sum = multiply_add(mask.weight(i, j), sample, row_sum);
    }
    sum += row_sum;
  }

  // Add it. Only where additions are atomic may another block of the launch add to this output.
  if constexpr (kAtomically) {
    atomic_add(sums.row(y)[x], Total<T>(sum));
  } else {
    sums.row(y)[x] += sum;
  }
}

template <class T>
class SpatialBlocksPlan : public AddingPlan<T, FinishOf<T>, Total<T>> {
 public:
  SpatialBlocksPlan(const Problem& problem, const PlanOptions& options, const PreparedMask<T>& mask,
                    const BlockSchedule& schedule)
      : AddingPlan<T, FinishOf<T>, Total<T>>(problem, options, mask.finish),
        schedule_(schedule),
        parts_(mask.parts(std::min(kMaxPartSide, schedule.x.part),
                          std::min(kMaxPartSide, schedule.y.part))),
        ghost_(ghost_sample<T>(problem)) {}

 protected:
  void add_up(const DevicePlane& in, const PlaneView<Total<T>>& sums, Shift shift) override {
    const auto& [x, y, atomic] = schedule_;
    for (const MaskPart<T>& part : parts_) {
      const Interval columns{part.dx + this->problem_.mask.anchor_x, part.width};
      const Interval rows{part.dy + this->problem_.mask.anchor_y, part.height};
      for (int step_y = 0; step_y < y.steps; ++step_y) {
        for (int step_x = 0; step_x < x.steps; ++step_x) {
          add_blocks(in, sums, shift, part, columns, rows,
                     x.blocks_of_step(sums.width, columns, step_x),
                     y.blocks_of_step(sums.height, rows, step_y));
        }
      }
    }
  }

 private:
  static TileAxis tiles(const BlockAxis& axis, Interval weights, int first_block, int side) {
    const Interval outputs = axis.outputs_of(first_block, weights);
    return {outputs.first, axis.steps * axis.block, axis.block, ceil_div(outputs.count, side)};
  }

  void add_blocks(const DevicePlane& in, const PlaneView<Total<T>>& sums, Shift shift,
                  MaskPart<T> part, Interval columns, Interval rows, Interval blocks_x,
                  Interval blocks_y) {
    part.dx += shift.x;
    part.dy += shift.y;
    const TileAxis along_x = tiles(schedule_.x, columns, blocks_x.first, kBlockColumns);
    TileAxis along_y = tiles(schedule_.y, rows, blocks_y.first, kBlockRows);
    const int most = std::max(1, kMaxLaunchRows / along_y.threads);
    for (int done = 0; blocks_x.count > 0 && done < blocks_y.count; done += most) {
      const int count = std::min(most, blocks_y.count - done);
      const dim3 grid(blocks_x.count * along_x.threads, count * along_y.threads);
      with_border(this->problem_.border, [&](auto border) {
        const auto kernel = schedule_.atomic ? spatial_blocks_kernel<T, border(), true>
                                             : spatial_blocks_kernel<T, border(), false>;
        launch(grid, block_of_threads(), this->stream_, kernel, in.view<const T>(), sums, ghost_,
               along_x, along_y, part);
      });
      along_y.first += count * along_y.stride;
    }
  }

  const BlockSchedule schedule_;
  const std::vector<MaskPart<T>> parts_;
  const T ghost_;
};

}  // namespace

std::unique_ptr<Plan> make_spatial_blocks_plan(const Problem& p, const PlanOptions& options,
                                               const BlockSchedule& schedule) {
  return with_depth(p.depth, [&](auto depth) -> std::unique_ptr<Plan> {
    using T = typename decltype(depth)::type;
    return std::make_unique<SpatialBlocksPlan<T>>(p, options, prepare_mask<T>(p.mask), schedule);
  });
}

}  // namespace convfilt::CONVFILT_BACKEND::transform
