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

static_assert(sizeof(MaskPart<std::uint8_t>) + 2 * sizeof(PlaneView<float>) +
                      2 * sizeof(Intervals) + 3 * sizeof(int) <=
                  4096,
              "the kernel's arguments do not fit");

template <class T, Border B, bool kAtomically>
__global__ void spatial_blocks_kernel(PlaneView<const T> in, PlaneView<Total<T>> sums, T ghost,
                                      Intervals columns, Intervals rows, int first_i, int first_j,
                                      const MaskPart<T> __grid_constant__ mask) {
#ifndef CONVFILT_HOST
  __shared__ SharedTile<T, 1, kMostCells> cells;
#endif
  // This block's interval, and the private buffer of its division.
  const int px = columns.interval(blockIdx.x), py = rows.interval(blockIdx.y);
  const int height = sums.height / (columns.divisions * rows.divisions);
  const int buffer = rows.division(py) * columns.divisions + columns.division(px);
  const PlaneView<Total<T>> own = sums.rows(buffer * height, height);

  // Each pair of a block of samples and a part of the mask that reaches the interval.
  const Interval across = columns.blocks_of(px), down = rows.blocks_of(py);
  for (int pair = 0; pair < across.count * down.count; ++pair) {
    const int bx = across.first + pair % across.count, by = down.first + pair / across.count;
    const Interval part_x = columns.weights_of(px, bx, {first_i, mask.width});
    const Interval part_y = rows.weights_of(py, by, {first_j, mask.height});
    if (part_x.count == 0 || part_y.count == 0) continue;
    const int block_columns = columns.axis.block, block_rows = rows.axis.block;
    const int last_i = part_x.count - 1, last_j = part_y.count - 1;
    const auto fetched = [&](int col, int row) {
      const int x = bx * block_columns + col, y = by * block_rows + row;
      return col >= 0 && col < block_columns && x < columns.samples && y < rows.samples
                 ? load<B>(in, columns.origin + x, rows.origin + y, ghost)
                 : T(0);
    };

#ifdef CONVFILT_HOST
    const auto sample = fetched;  // Threads are a loop there, and the caches serve.
#else
    // Fetch the samples into cells, with zeros beside them.
    const int cell_columns = block_columns + 2 * last_i;
    for (int row = threadIdx.y; row < block_rows; row += int(blockDim.y)) {
      for (int col = threadIdx.x; col < cell_columns; col += int(blockDim.x)) {
        cells[0][row * cell_columns + col] = fetched(col - last_i, row);
      }
    }
    __syncthreads();
    const auto sample = [&](int col, int row) {
      return T(cells[0][row * cell_columns + col + last_i]);
    };
#endif

    // Compute the pair's outputs, in sweeps, and add them. Only where additions are atomic may
    // another block of the launch add to the same output. The mask's columns and rows count from
    // the other end than the weights of parts.
    const int left = columns.output(0) + bx * block_columns + part_x.first;
    const int top = rows.output(0) + by * block_rows + part_y.first;
    const int column = first_i + mask.width - part_x.first - part_x.count;
    const int line = first_j + mask.height - part_y.first - part_y.count;
    for (int row = threadIdx.y; row < block_rows + last_j; row += int(blockDim.y)) {
      for (int col = threadIdx.x; col < block_columns + last_i; col += int(blockDim.x)) {
        const int x = left + col, y = top + row;
        if (!contains(own, x, y)) continue;
        const int begin_j = max(0, last_j - row),
                  end_j = min(last_j + 1, block_rows + last_j - row);
        SumOf<T> sum = 0;
        for (int j = begin_j; j < end_j; ++j) {
          SumOf<T> row_sum = 0;
          for (int i = 0; i <= last_i; ++i) {
            row_sum = multiply_add(weight_of(mask, column + i, line + j),
                                   sample(col - last_i + i, row - last_j + j), row_sum);
          }
          sum += row_sum;
        }
        if constexpr (kAtomically) {
          atomic_add(own.row(y)[x], Total<T>(sum));
        } else {
          own.row(y)[x] += sum;
          count_add(own, x, y);
        }
      }
    }
#ifndef CONVFILT_HOST
    if (pair + 1 < across.count * down.count) __syncthreads();  // before the next samples
#endif
  }
}

template <class T>
class SpatialBlocksPlan : public ScheduledPlan<T, FinishOf<T>, Total<T>> {
  using Base = ScheduledPlan<T, FinishOf<T>, Total<T>>;
  using Base::schedule_;

 public:
  SpatialBlocksPlan(const Problem& problem, const PlanOptions& options, PreparedMask<T> mask,
                    const BlockSchedule& schedule)
      : Base(problem, options, mask.finish, schedule), ghost_(ghost_sample<T>(problem)) {
    const BlockAxis &x = schedule.x, &y = schedule.y;
    for (int down = 0; down < y.pieces(); ++down)
      for (int across = 0; across < x.pieces(); ++across)
        parts_.push_back(part_of(mask, x.piece(across), y.piece(down)));
  }

 protected:
  void add_up(const DevicePlane& in, const PlaneView<Total<T>>& sums, Shift shift) override {
    for (const ConstantPart& part : parts_)
      for (int step = 0; step < this->steps(); ++step)
        add_blocks(in, sums, part, this->launch_of(in, sums, shift, step, part.x, part.y));
  }

 private:
  /// The part of the mask that constant memory holds at once, and its intervals along both axes.
  struct ConstantPart {
    MaskPart<T> mask;
    Interval x, y;
  };

  static ConstantPart part_of(const PreparedMask<T>& mask, Interval x, Interval y) {
    PreparedMask<T> cut = mask;
    cut.width = x.count;
    cut.height = y.count;
    cut.weights.clear();
    for (int j = mask.height - y.first - y.count; j < mask.height - y.first; ++j) {
      const auto row = mask.weights.begin() + std::ptrdiff_t(j) * mask.width;
      cut.weights.insert(cut.weights.end(), row + (mask.width - x.first - x.count),
                         row + (mask.width - x.first));
    }
    return {cut.parts(x.count, y.count)[0], x, y};
  }

  void add_blocks(const DevicePlane& in, const PlaneView<Total<T>>& sums, const ConstantPart& part,
                  typename Base::Launch on) {
    const auto outputs = [](const BlockAxis& axis, Interval weights) {
      return axis.block + std::min(weights.count, axis.part) - 1;
    };
    const dim3 threads = threads_over(outputs(on.x.axis, part.x), outputs(on.y.axis, part.y));
    const int all = on.y.count;
    for (int done = 0; on.x.count > 0 && done < all; done += kMaxLaunchRows) {
      on.y.count = std::min(kMaxLaunchRows, all - done);
      with_border(this->problem_.border, [&](auto border) {
        const auto kernel = schedule_.atomic ? spatial_blocks_kernel<T, border(), true>
                                             : spatial_blocks_kernel<T, border(), false>;
        launch(dim3(on.x.count, on.y.count), threads, this->stream_, kernel, in.view<const T>(),
               sums, ghost_, on.x, on.y, part.x.first, part.y.first, part.mask);
      });
      on.y.first += on.y.count;
    }
  }

  std::vector<ConstantPart> parts_;
  const T ghost_;
};

}  // namespace

std::unique_ptr<Plan> make_spatial_blocks_plan(const Problem& p, const PlanOptions& options,
                                               const BlockSchedule& schedule) {
  return with_depth(p.depth, [&]<class T>(TypeTag<T>) -> std::unique_ptr<Plan> {
    return std::make_unique<SpatialBlocksPlan<T>>(p, options, prepare_mask<T>(p.mask), schedule);
  });
}

}  // namespace convfilt::CONVFILT_BACKEND::transform
