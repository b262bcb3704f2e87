/// How a block of separable_walk.cu walks down its strip.
#pragma once

#include "kernels/contract/ceil_div.hpp"
#include "kernels/separable/walk/rows.hpp"
#include "kernels/separable/walk/runs.hpp"
#include "kernels/separable/walk/sums.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// The samples of output x begin at column x of `in`, and go on beyond its rows: side_samples.hpp
/// wrote there what the border makes up. Rows of `out` have room for whole words.
template <class T, class R>
class LineWalk {
  static constexpr int kSide = R::kSide, kTogether = R::kTogether, kSlots = R::kSlots;

 public:
  CONVFILT_DEVICE LineWalk(const PlaneView<const T>& in, const PlaneView<T>& out, T ghost,
                           Border border, const LineGrid& grid, const LineMask& mask)
      : mask_(mask),
        words_(shared_words()),
        strip_x_(int(blockIdx.x) * R::kColumns),
        columns_(out.width - strip_x_),
        // Lanes beside the picture do as the last one in it, but for those that share mids.
        lane_x_(min(int(threadIdx.y * 32 + threadIdx.x),
                    R::kRun > 0 ? R::kThreads : (columns_ - 1) / R::kOutputs) *
                R::kOutputs),
        out_stride_(out.stride),
        rows_(min(grid.rows, out.height - int(blockIdx.y) * grid.rows)),
        lines_(in, ghost, border, strip_x_, int(blockIdx.y) * grid.rows + mask.dy),
        to_(out.row(blockIdx.y * grid.rows) + strip_x_ + lane_x_) {}

  CONVFILT_DEVICE void walk() {
    const int above = mask_.side - 1;
    const int steps = ceil_div(rows_ + above, kTogether);
    // Between its first and its last rows a block meets neither rows outside the picture nor
    // outputs that are not its own.
    const int first = max(ceil_div(above, kTogether), lines_.first_inside() - (kSlots - 1));
    const int last = min(min((rows_ + above) / kTogether, steps - (kSlots - 1)),
                         lines_.last_inside() - (kSlots - 1));
    if constexpr (R::kDoubtful > 0) {
      DoubtfulWeights<R>::store(words_.from(R::kWeightsAt), mask_,
                                int(threadIdx.y * 32 + threadIdx.x));
    }
    CONVFILT_UNROLL(kSlots)
    for (int slot = 0; slot < kSlots - 1; ++slot) {
      if (slot < steps) lines_.template copy<true>(words_.from(slot * R::kSlot));
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
  /// row: of the first outputs that are complete then.
  template <bool kAtEnds>
  CONVFILT_DEVICE void step(int row, bool goes_on) {
    // Load rows ahead, where all have read those of the step before.
    finish_copies<kSlots - 2>();
    synchronise();
    if (!kAtEnds || goes_on) lines_.template copy<kAtEnds>(words_.from(free_slot_));
    commit_copies();

    // Compute, and store the rows of outputs that are complete.
    if constexpr (R::kRun > 0) {
      shared_step<kAtEnds>(row);
    } else {
      const SharedWords first = words_.from(slot_ + lane_x_ * int(sizeof(T)) / 4);
      CONVFILT_UNROLL(kTogether)
      for (int r = 0; r < kTogether; ++r) {
        typename R::Samples samples;
        read_line<T, R>(first.from(r * R::kPitch), samples);
        add_line<R>(mask_, samples, sums_);
        store<kAtEnds>(row + r, sums_[kSide - 1]);
      }
    }
    free_slot_ = slot_;
    slot_ = slot_ == (kSlots - 1) * R::kSlot ? 0 : slot_ + R::kSlot;
  }

  /// Where a warp's lanes share its mids.
  template <bool kAtEnds>
  CONVFILT_DEVICE void shared_step(int row) {
    const int warp_x = int(threadIdx.y) * 32 * R::kOutputs;
    const SharedWords mids = words_.from(R::kMidsAt + int(threadIdx.y) * R::kMids);
    const SharedWords weights = words_.from(R::kWeightsAt);
    share_mids<T, R>(mask_, weights, words_.from(slot_), mids, warp_x,
                     (columns_ - 1) / R::kRun * R::kRun);
    const SharedWords own = mids.from(int(threadIdx.x) * R::kOutputs);
    CONVFILT_UNROLL(1)
    for (int r = 0; r < kTogether; r += kRowsAtOnce) {
      float ends[kRowsAtOnce][R::kOutputs];
      add_mids<R>(mask_, weights.from(R::kDoubtful), own.from(r * R::kMidPitch), sums_, ends);
      CONVFILT_UNROLL(kRowsAtOnce)
      for (int k = 0; k < kRowsAtOnce; ++k) store<kAtEnds>(row + r + k, ends[k]);
    }
  }

  /// The next row of outputs, if it is one of the block's.
  template <bool kAtEnds>
  CONVFILT_DEVICE void store(int row, const float (&sums)[R::kOutputs]) {
    if (kAtEnds && (row < 0 || row >= rows_)) return;
    const LineOutputs<T, R> ends(mask_.finish, sums);
    if (R::kRun == 0 || lane_x_ < columns_) *reinterpret_cast<LineOutputs<T, R>*>(to_) = ends;
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

  const LineMask& mask_;
  const SharedWords words_;
  const int strip_x_, columns_;  ///< of outputs in the picture, from the strip's first on
  const int lane_x_;
  const std::ptrdiff_t out_stride_;
  const int rows_;  ///< of outputs
  LineRows<T, R> lines_;
  T* to_;  ///< where the next outputs go
  int slot_ = 0, free_slot_ = (kSlots - 1) * R::kSlot;
  typename R::Sums sums_ = {};
};

template <class T, int kSide, int kChannels>
__global__ void __launch_bounds__(LineReach<T, kSide, kChannels>::kThreads,
                                  LineReach<T, kSide, kChannels>::kTuning.warps * 32 /
                                      LineReach<T, kSide, kChannels>::kThreads)
    line_kernel(PlaneView<const T> in, PlaneView<T> out, T ghost, Border border, LineGrid grid,
                const LineMask __grid_constant__ mask) {
  LineWalk<T, LineReach<T, kSide, kChannels>> block(in, out, ghost, border, grid, mask);
  block.walk();
}

}  // namespace convfilt::CONVFILT_BACKEND
