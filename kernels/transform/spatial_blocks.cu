// The spatial form of overlap-add and in-parts: a block of samples under one part of the mask.
//
//   Blocks are disjoint, so each sample belongs to one. The outputs of a block reach w - 1
//   columns and h - 1 rows beyond it, into those of the blocks before. An output gets from
//   each block the products of the samples that lie in it.
//
//       <- w - 1 -> <---- S ----> <- w - 1 ->
//      |  zeros    |   samples   |  zeros    |     cells in shared memory, e.g. 4 + 16 + 4
//      |       outputs           |                 e.g. 20, each of which sums w cells
//
//   One block of threads fetches a block's samples. Zeros beside them spare the taps a test.
//   Above and below there are none, since a warp's outputs lie in one row and skip taps together.
//   Global reads per output: 1 a part. It is added in (1 + (w - 1) / S) * (1 + (h - 1) / S) pieces,
//   each of which is read and written once in the plane of sums, e.g. 1.27 at 5x5, S = 32.
//   Sibling: scatter adds every product by itself, and atomically.

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/sums.hpp"
#include "kernels/transform/block_plans.hpp"
#include "kernels/transform/grid.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {

using namespace convfilt::transform;
namespace {

/// A launch's tiles of outputs along one axis, and the samples of a block under them. Places count
/// from the block's first sample.
struct TileAxis {
  int first;    ///< the output where the first tile begins
  int stride;   ///< outputs from one tile to the next
  int outputs;  ///< of a tile
  int place;    ///< of the first sample under the first output of a tile; may be negative
  int block;    ///< samples of a block
  int needed;   ///< samples under all outputs of the picture, from that under output 0 on

  /// Whether a block has a sample at this distance from the first one under tile output 0, which is
  /// output `from`, and an output of the picture needs it.
  CONVFILT_HD bool has(int from, int distance) const {
    return place + distance >= 0 && place + distance < block && from + distance >= 0 &&
           from + distance < needed;
  }
};

template <class T, Border B, bool kAtomically>
__global__ void spatial_blocks_kernel(PlaneView<const T> in, PlaneView<Total<T>> sums, T ghost,
                                      TileAxis columns, TileAxis rows,
                                      const MaskPart<T> __grid_constant__ mask) {
  const int tile_x = columns.first + int(blockIdx.x) * columns.stride;
  const int tile_y = rows.first + int(blockIdx.y) * rows.stride;
  const int first_row = max(0, -rows.place);  // rows of cells begin with the block's first row
  const int end_row = min(rows.block - rows.place, rows.outputs + mask.height - 1);
  const auto fetched = [&](int col, int row) {
    return columns.has(tile_x, col) && rows.has(tile_y, row)
               ? load<B>(in, tile_x + mask.dx + col, tile_y + mask.dy + row, ghost)
               : T(0);
  };

#ifdef CONVFILT_HOST
  const auto sample = fetched;  // Threads are a loop there, and the caches serve.
#else
  // Fetch the samples into cells, with zeros beside them.
  __shared__ SharedTile<T, 1, kMostCells> cells;
  const int cell_columns = columns.outputs + mask.width - 1;
  for (int row = first_row + int(threadIdx.y); row < end_row; row += int(blockDim.y)) {
    for (int col = threadIdx.x; col < cell_columns; col += int(blockDim.x)) {
      cells[0][(row - first_row) * cell_columns + col] = fetched(col, row);
    }
  }
  __syncthreads();
  const auto sample = [&](int col, int row) {
    return T(cells[0][(row - first_row) * cell_columns + col]);
  };
#endif

  // Compute the tile's outputs, in sweeps, and add them. Only where additions are atomic may
  // another block of the launch add to the same output.
  for (int row = threadIdx.y; row < rows.outputs; row += int(blockDim.y)) {
    for (int col = threadIdx.x; col < columns.outputs; col += int(blockDim.x)) {
      const int x = tile_x + col, y = tile_y + row;
      if (!contains(sums, x, y)) continue;
      const int first_j = max(0, first_row - row), end_j = min(mask.height, end_row - row);
      SumOf<T> sum = 0;
      for (int j = first_j; j < end_j; ++j) {
        SumOf<T> row_sum = 0;
        for (int i = 0; i < mask.width; ++i) {
          row_sum = multiply_add(weight_of(mask, i, j), sample(col + i, row + j), row_sum);
        }
        sum += row_sum;
      }
      if constexpr (kAtomically) {
        atomic_add(sums.row(y)[x], Total<T>(sum));
      } else {
        sums.row(y)[x] += sum;
        count_add(sums, x, y);
      }
    }
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
      for (int down = 0; down < y.launches(); ++down) {
        for (int across = 0; across < x.launches(); ++across) {
          add_blocks(
              in, sums, shift, part,
              tiles(x, {part.dx + this->problem_.mask.anchor_x, part.width}, across, sums.width),
              tiles(y, {part.dy + this->problem_.mask.anchor_y, part.height}, down, sums.height));
        }
      }
    }
  }

 private:
  struct Tiles {
    TileAxis axis;
    int count;
  };

  /// The tiles of a launch along an axis, under these weights.
  static Tiles tiles(const BlockAxis& axis, Interval weights, int launch, int outputs) {
    const Interval blocks = axis.blocks_of_step(outputs, weights, launch % axis.steps);
    const Interval division = axis.division(launch / axis.steps, weights.count);
    return {{axis.outputs_of(blocks.first, weights).first + division.first, axis.steps * axis.block,
             division.count, division.first - (weights.count - 1), axis.block,
             outputs + weights.count - 1},
            division.count > 0 ? blocks.count : 0};
  }

  void add_blocks(const DevicePlane& in, const PlaneView<Total<T>>& sums, Shift shift,
                  MaskPart<T> part, const Tiles& along_x, Tiles along_y) {
    part.dx += shift.x;
    part.dy += shift.y;
    const dim3 threads = block_for_outputs(along_y.axis.outputs);
    for (int done = 0; along_x.count > 0 && done < along_y.count; done += kMaxLaunchRows) {
      const int count = std::min(kMaxLaunchRows, along_y.count - done);
      with_border(this->problem_.border, [&](auto border) {
        const auto kernel = schedule_.atomic ? spatial_blocks_kernel<T, border(), true>
                                             : spatial_blocks_kernel<T, border(), false>;
        launch(dim3(along_x.count, count), threads, this->stream_, kernel, in.view<const T>(), sums,
               ghost_, along_x.axis, along_y.axis, part);
      });
      along_y.axis.first += count * along_y.axis.stride;
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
