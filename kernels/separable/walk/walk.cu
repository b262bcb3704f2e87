// separable's way for square masks of up to 63 taps and samples of 16 bits or floats: the sums of
// all rows of outputs that a row of samples adds to stay in registers.
//
//   A block walks down a strip. A lane reads a row's samples around its own outputs from shared
//   memory, computes their row sums, and adds these to the sums of all rows of outputs that they
//   belong to.
//
//       | s s s s | s s s s | s s s s |   a row in shared memory, copied rows ahead
//                   r r r r               row sums, w multiply-adds each
//                   o o o o               h rows of sums, which move down a place as
//                   o o o o               they are added to
//
//   Long masks leave registers for the sums of few columns, so the lanes of a warp then share row
//   sums (sums.hpp). Ghost cells beside the picture are first written into its rows' padding.
//
//   Global reads per output: (1 + (h - 1) / rows) * (1 + (w + 2) / columns) of 32-bit samples.
//   Multiply-adds per output: (w + h) * (1 + (h - 1) / rows). Loads from shared memory per output:
//   ceil((w + 3) / 4) / 4 of 16 bytes, for 32-bit samples.
//   Sibling: separable.cu keeps h rows of row sums in shared memory, and no sums.

#include "kernels/separable/walk/walk.hpp"

#include "kernels/backend/shared_words.hpp"
#include "kernels/contract/ceil_div.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/even_rows.hpp"
#include "kernels/plan/ghost_cells.hpp"
#include "kernels/separable/walk/reach.hpp"
#include "kernels/separable/walk/sums.hpp"

namespace convfilt::CONVFILT_BACKEND::separable::walk {
namespace {

/// Copies a strip's rows to shared memory, 16 bytes at a time as they lie in memory, while other
/// rows are computed. Rows of `in` begin at multiples of 16 bytes and have room for whole ones.
template <class T, class R>
class RowCopies {
 public:
  /// The first row's first sample is (x, y).
  CONVFILT_DEVICE RowCopies(const PlaneView<const T>& in, T ghost, Border border, int x, int y)
      : in_(in),
        ghost_(ghost),
        border_(border),
        thread_(threadIdx.y * 32 + threadIdx.x),
        y_(y),
        from_(in.data + y * in.stride + x + thread_ * R::kChunk) {
    CONVFILT_UNROLL(kCopies)
    for (int k = 0; k < kCopies; ++k) {
      const int chunk = thread_ + k * R::kThreads;
      const int samples = chunk < R::kChunks ? in.width - x - chunk * R::kChunk : 0;
      bytes_[k] = min(samples, R::kChunk) * int(sizeof(T));
    }
  }

  /// Calls first_inside()..last_inside()-1 of copy() have all their rows in the picture. Both must
  /// be asked before the first copy.
  CONVFILT_DEVICE int first_inside() const { return y_ < 0 ? ceil_div(-y_, R::kTogether) : 0; }
  CONVFILT_DEVICE int last_inside() const { return (in_.height - y_) / R::kTogether; }

  /// Starts to copy the next rows to a slot. Without kAtEnds they must all lie in the picture.
  template <bool kAtEnds>
  CONVFILT_DEVICE void copy(SharedWords slot) {
    const SharedWords own = slot.from(thread_ * 4);
    CONVFILT_UNROLL(R::kTogether)
    for (int r = 0; r < R::kTogether; ++r, ++y_, from_ += in_.stride) {
      const T* from = from_;
      if (kAtEnds && unsigned(y_) >= unsigned(in_.height)) {
        const int row = edge_row(border_, y_, in_.height);
        if (row < 0) {
          fill(slot.from(r * R::kPitch));
          continue;
        }
        from += (row - y_) * in_.stride;
      }
      CONVFILT_UNROLL(kCopies)
      for (int k = 0; k < kCopies; ++k) {
        const int further = k * R::kThreads;
        copy16(in_, from - in_.data + further * R::kChunk, own, r * R::kPitch + further * 4,
               bytes_[k]);
      }
    }
  }

 private:
  static constexpr int kCopies = (R::kChunks + R::kThreads - 1) / R::kThreads;

  /// Writes a row of ghost cells.
  CONVFILT_DEVICE void fill(SharedWords row) const {
    const std::uint32_t word = ghost_word(ghost_);
    CONVFILT_UNROLL(1)
    for (int n = thread_; n < R::kPitch; n += R::kThreads) {
      row.set(n, word);
      count_ghost_cells(int(sizeof(word) / sizeof(T)));
    }
  }

  const PlaneView<const T> in_;
  const T ghost_;
  const Border border_;
  const int thread_;
  int y_;               ///< the next row to copy
  const T* from_;       ///< where the thread's first chunk of that row would lie
  int bytes_[kCopies];  ///< bytes to copy of each of the thread's chunks
};

/// A block's walk down its strip. The samples of output x begin at column x of `in`, and go on
/// beyond its rows, where side_samples.hpp wrote ghost cells. Rows of `out` have room for a lane's
/// whole outputs.
template <class T, class R>
class Walk {
  static constexpr int kTogether = R::kTogether, kSlots = R::kSlots;

 public:
  CONVFILT_DEVICE Walk(const PlaneView<const T>& in, const PlaneView<T>& out, T ghost,
                       Border border, const BlockGrid& grid, const SquareMask& mask)
      : mask_(mask),
        words_(shared_words()),
        strip_x_(int(blockIdx.x) * R::kColumns),
        columns_(out.width - strip_x_),
        // A lane beside the picture repeats the last lane in it, unless lanes share row sums.
        lane_x_(min(int(threadIdx.y * 32 + threadIdx.x),
                    R::kRun > 0 ? R::kThreads : (columns_ - 1) / R::kOutputs) *
                R::kOutputs),
        out_stride_(out.stride),
        rows_(min(grid.rows, out.height - int(blockIdx.y) * grid.rows)),
        in_rows_(in, ghost, border, strip_x_, int(blockIdx.y) * grid.rows + mask.dy),
        to_(out.row(blockIdx.y * grid.rows) + strip_x_ + lane_x_) {}

  CONVFILT_DEVICE void walk() {
    const int above = mask_.side - 1;
    const int steps = ceil_div(rows_ + above, kTogether);
    // The steps first..last-1 meet neither rows outside the picture nor outputs that are not the
    // block's own.
    const int first = max(ceil_div(above, kTogether), in_rows_.first_inside() - (kSlots - 1));
    const int last = min(min((rows_ + above) / kTogether, steps - (kSlots - 1)),
                         in_rows_.last_inside() - (kSlots - 1));
    if constexpr (R::kOptional > 0) {
      OptionalWeights<R>::store(words_.from(R::kWeightsAt), mask_,
                                int(threadIdx.y * 32 + threadIdx.x));
    }
    CONVFILT_UNROLL(kSlots)
    for (int slot = 0; slot < kSlots - 1; ++slot) {
      if (slot < steps) in_rows_.template copy<true>(words_.from(slot * R::kSlot));
      commit_copies();
    }
    CONVFILT_UNROLL(1)
    for (int k = 0; k < steps;) {
      CONVFILT_UNROLL(1)
      for (; k < steps && (k < first || k >= last); ++k) {
        step<true>(k * kTogether - above, k + kSlots - 1 < steps);
      }
      CONVFILT_UNROLL(1)
      for (; k < last; ++k) step<false>(0, true);
    }
  }

 private:
  /// Takes a step of rows. `row` is the first row of outputs that it completes.
  template <bool kAtEnds>
  CONVFILT_DEVICE void step(int row, bool goes_on) {
    // Load rows ahead, to the slot whose rows all lanes have read in the step before.
    finish_copies<kSlots - 2>();
    synchronise();
    if (!kAtEnds || goes_on) in_rows_.template copy<kAtEnds>(words_.from(free_slot_));
    commit_copies();

    // Compute, and store the rows of outputs that are complete.
    if constexpr (R::kRun > 0) {
      shared_step<kAtEnds>(row);
    } else {
      const SharedWords first = words_.from(slot_ + lane_x_ * int(sizeof(T)) / 4);
      CONVFILT_UNROLL(kTogether)
      for (int r = 0; r < kTogether; ++r) {
        typename R::Samples samples;
        read_row<T, R>(first.from(r * R::kPitch), samples);
        add_row<R>(mask_, samples, sums_);
        store<kAtEnds>(row + r, sums_[R::kSide - 1]);
      }
    }
    free_slot_ = slot_;
    slot_ = slot_ == (kSlots - 1) * R::kSlot ? 0 : slot_ + R::kSlot;
  }

  /// Computes a step where a warp's lanes share its row sums.
  template <bool kAtEnds>
  CONVFILT_DEVICE void shared_step(int row) {
    const int warp_x = int(threadIdx.y) * 32 * R::kOutputs;
    const SharedWords row_sums = words_.from(R::kRowSumsAt + int(threadIdx.y) * R::kRowSumWords);
    const SharedWords weights = words_.from(R::kWeightsAt);
    share_row_sums<T, R>(mask_, weights, words_.from(slot_), row_sums, warp_x,
                         (columns_ - 1) / R::kRun * R::kRun);
    const SharedWords own = row_sums.from(int(threadIdx.x) * R::kOutputs);
    CONVFILT_UNROLL(1)
    for (int r = 0; r < kTogether; r += kRowsAtOnce) {
      float ends[kRowsAtOnce][R::kOutputs];
      add_row_sums<R>(mask_, weights.from(R::kOptional), own.from(r * R::kRowSumPitch), sums_,
                      ends);
      CONVFILT_UNROLL(kRowsAtOnce)
      for (int k = 0; k < kRowsAtOnce; ++k) store<kAtEnds>(row + r + k, ends[k]);
    }
  }

  /// Stores a row of outputs, if it is one of the block's.
  template <bool kAtEnds>
  CONVFILT_DEVICE void store(int row, const float (&sums)[R::kOutputs]) {
    if (kAtEnds && (row < 0 || row >= rows_)) return;
    const Outputs<T, R> ends(mask_.finish, sums);
    if (R::kRun == 0 || lane_x_ < columns_) *reinterpret_cast<Outputs<T, R>*>(to_) = ends;
    to_ += out_stride_;
  }

  /// A barrier of the block.
  static CONVFILT_DEVICE void synchronise() {
    if constexpr (R::kThreads == 32) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }

  const SquareMask& mask_;
  const SharedWords words_;
  const int strip_x_, columns_;  ///< columns of outputs from strip_x_ to the picture's side
  const int lane_x_;
  const std::ptrdiff_t out_stride_;
  const int rows_;  ///< rows of outputs
  RowCopies<T, R> in_rows_;
  T* to_;  ///< where the next outputs go
  int slot_ = 0, free_slot_ = (kSlots - 1) * R::kSlot;
  typename R::Sums sums_ = {};
};

template <class T, int kSide, int kChannels>
__global__ void __launch_bounds__(Reach<T, kSide, kChannels>::kThreads,
                                  Reach<T, kSide, kChannels>::kShape.warps * 32 /
                                      Reach<T, kSide, kChannels>::kThreads)
    walk_kernel(PlaneView<const T> in, PlaneView<T> out, T ghost, Border border, BlockGrid grid,
                const SquareMask __grid_constant__ mask) {
  Walk<T, Reach<T, kSide, kChannels>> block(in, out, ghost, border, grid, mask);
  block.walk();
}

/// Calls f with the Reach of the kernel for a mask of this side, and with that kernel.
template <class T, int kChannels, int kSide = 3, class F>
decltype(auto) with_side(int side, F f) {
  if constexpr (kSide < kMostSide) {
    constexpr int kNext = kernel_taps(kSide + 2, sizeof(T) == 4, kChannels);
    if (side > kSide) return with_side<T, kChannels, kNext>(side, f);
  }
  return f(Reach<T, kSide, kChannels>{}, walk_kernel<T, kSide, kChannels>);
}

template <class T, class F>
decltype(auto) with_kernel(int side, int channels, F f) {
  return channels == 1 ? with_side<T, 1>(side, f) : with_side<T, 3>(side, f);
}

template <class R>
dim3 block_of(R) {
  return dim3(32, R::kShape.beside);
}

template <class R, class Kernel>
BlockGrid grid_for(R reach, Kernel kernel, int width, int height) {
  BlockGrid grid;
  grid.across = ceil_div(width, R::kColumns);
  const auto blocks =
      std::min<std::int64_t>(blocks_at_once(kernel, block_of(reach), R::kBytes),
                             std::int64_t(multiprocessors()) * R::kShape.warps * 32 / R::kThreads);
  grid.rows = even_rows(height, R::kTogether, grid.across, int(blocks), R::kSide - 1);
  return grid;
}

/// Bytes of a row that are read beyond those of walk_sides() where lanes share row sums: they
/// compute whole runs, and their kernel may have more taps than the mask.
template <class T>
int run_sides(const Problem& problem) {
  return with_kernel<T>(problem.mask.width, problem.channels, [&](auto reach, auto) {
    using R = decltype(reach);
    if (R::kRun == 0) return 0;
    return (R::kRun + (R::kSide - problem.mask.width) * R::kPixel + R::kChunk) * int(sizeof(T));
  });
}

template <class T>
class WalkPlan : public DevicePlan {
 public:
  WalkPlan(const Problem& problem, const PlanOptions& options, const SquareMask& mask)
      : DevicePlan(problem, options,
                   {.width = kMostWalkedPixels,
                    .interleaved = true,
                    .sides = walk_sides<T>(problem) + run_sides<T>(problem),
                    .brings_rows = true}),
        ghost_(ghost_sample<T>(problem)),
        mask_(mask) {
    // A kernel of more taps than the mask has takes the column's weights as its last ones.
    with_kernel<T>(mask.side, problem.channels, [&](auto reach, auto) {
      std::rotate(mask_.column, std::end(mask_.column) - (decltype(reach)::kSide - mask.side),
                  std::end(mask_.column));
    });
  }

 protected:
  void filter(const DevicePlane& in_plane, const DevicePlane& out_plane, Shift shift) override {
    const auto in = in_plane.view<T>(), out = out_plane.view<T>();
    SquareMask mask = mask_;
    mask.dx += shift.x;
    mask.dy += shift.y;
    with_kernel<T>(problem_.mask.width, step(), [&](auto reach, auto kernel) {
      using R = decltype(reach);
      const int reached = R::samples_for(out.width);
      // run_sides() says why more columns than the picture's are read.
      const int outputs = R::kRun > 0 ? reached - (mask.side - 1) * step() : out.width;
      const int left =
          bring_rows(callers(), in, outputs, ghost_, problem_, mask.dx, step(), stream_);
      const PlaneView<const T> samples{in.data - left, reached, in.height, in.stride};
      const BlockGrid grid = grid_for(reach, kernel, out.width, out.height);
      launch_shared(dim3(grid.across, ceil_div(out.height, grid.rows)), block_of(reach), R::kBytes,
                    stream_, kernel, samples, out, ghost_, problem_.border, grid, mask);
    });
  }
  /// Puts the first output's samples at a multiple of 16 bytes.
  int margin(Shift shift) const override { return -(mask_.dx + shift.x) * step() * int(sizeof(T)); }

 private:
  const T ghost_;
  SquareMask mask_;
};

}  // namespace

template <class T>
std::unique_ptr<Plan> make_plan(const Problem& problem, const PlanOptions& options,
                                const SquareMask& mask) {
  return std::make_unique<WalkPlan<T>>(problem, options, mask);
}

template <class T>
Geometry geometry(const Problem& p) {
  return with_kernel<T>(p.mask.width, 1, [&](auto reach, auto kernel) {
    using R = decltype(reach);
    const BlockGrid grid = grid_for(reach, kernel, p.out_width(), p.out_height());
    Geometry g;
    g.block_columns = 32;
    g.block_rows = R::kShape.beside;
    g.computing_threads = R::kThreads;
    g.out_columns = R::kColumns;
    g.out_rows = grid.rows;
    g.shared_bytes = R::kBytes;
    const int columns = R::kChunks * R::kChunk;
    const int above = ceil_div(p.mask.height - 1, R::kTogether) * R::kTogether;
    g.loads = double(columns) * (grid.rows + above);
    g.loads_per_output = std::to_string(columns) + " * (rows + " + std::to_string(above) + ") / (" +
                         std::to_string(g.out_columns) + " * rows)";
    g.note = "A block walks down its rows, " + std::to_string(R::kTogether) +
             " at a time, and keeps the sums of as many rows as the mask has: " +
             std::to_string(grid.rows) +
             " rows here, on a GPU as many as let all its multiprocessors end together.";
    return g;
  });
}

template std::unique_ptr<Plan> make_plan<float>(const Problem&, const PlanOptions&,
                                                const SquareMask&);
template std::unique_ptr<Plan> make_plan<std::uint16_t>(const Problem&, const PlanOptions&,
                                                        const SquareMask&);
template Geometry geometry<float>(const Problem&);
template Geometry geometry<std::uint16_t>(const Problem&);

}  // namespace convfilt::CONVFILT_BACKEND::separable::walk
