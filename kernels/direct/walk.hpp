/// Squares of a known side: a warp walks down a strip of the picture, and every row that it reads
/// adds to as many rows of outputs as the mask has.
#pragma once

#include "kernels/direct/rows.hpp"
#include "kernels/plan/edge_row.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// A lane's strip. The samples of output x begin at column x of `in`, and go on beyond its rows:
/// side_samples.hpp wrote there what the border makes up. Rows of `out` have room for whole words.
template <class T, int kSide, int kChannels>
class Strip {
  using R = Reach<T, kSide, kChannels>;
  static constexpr WalkTuning kTuning = R::kTuning;
  static constexpr int kTogether = R::kTogether, kLoaded = kTuning.ahead ? kTogether : 0;
  using Piece = typename R::Piece;
  using Rows = typename R::Row[kTogether];

 public:
  CONVFILT_DEVICE Strip(const PlaneView<const T>& in, const PlaneView<T>& out, T ghost,
                        Border border, const WalkGrid& grid)
      : picture_(in), outputs_(out), ghost_(ghost), border_(border), grid_(grid) {}

  /// Walks a block's rows.
  CONVFILT_DEVICE void walk(const MaskPart<T>& mask) {
    int at = int(blockIdx.x) * grid_.rows;
    const int end = min(at + grid_.rows, grid_.strips * grid_.length);
    begin(at, end, mask.dy);
    CONVFILT_UNROLL(1)
    for (int k = 0; k < in_rows();) {
      // Between its first and its last rows a strip meets neither rows outside the picture nor
      // outputs that are not its own.
      const int last = out_.height - kTogether - kLoaded;
      CONVFILT_UNROLL(1)
      for (; k < in_rows() && (k < kSide - 1 || k > last); k += kTogether) step<true>(mask, k);
      const int y = first_y_ + k + kLoaded;
      here_ = in_.rows(y, in_.height - y);
      to_ = out_.row(k - (kSide - 1));
      CONVFILT_UNROLL(kTuning.unrolled)
      for (; k <= last; k += kTogether) {
        step<false>(mask, k);
        here_ = here_.rows(kTogether, here_.height - kTogether);
        to_ += kTogether * out_.stride;
      }
      if constexpr (kTuning.guarded) {
        if (k < in_rows()) continue;
        at += out_.height;
        if (at >= end) return;
        begin(at, end, mask.dy);
        k = 0;
      }
    }
  }

 private:
  CONVFILT_DEVICE int in_rows() const { return out_.height + kSide - 1; }

  /// A strip from the long strip's row `at` on. Lanes beside the picture do as the last one in it.
  CONVFILT_DEVICE void begin(int at, int end, int dy) {
    const int lane = (at / grid_.length * kWalkWarps + threadIdx.y) * 32 + threadIdx.x;
    const int x = min(lane, (outputs_.width - 1) / R::kOutputs) * R::kOutputs;
    const int y = at % grid_.length, rows = min(end - at, outputs_.height - y);
    in_ = {picture_.data + x, picture_.width - x, picture_.height, picture_.stride};
    out_ = {outputs_.row(y) + x, outputs_.width - x, rows, outputs_.stride};
    first_y_ = y + dy;
    if (kLoaded) load_any(0, now_);
  }

  /// Row k of the strip, and those added together with it.
  template <bool kAtEnds>
  CONVFILT_DEVICE void step(const MaskPart<T>& mask, int k) {
    // Load the next rows where there is little to compute meanwhile, else these.
    Rows next = {};
    Rows& loaded = kLoaded ? next : now_;
    if (kAtEnds) {
      if (k + kLoaded < in_rows()) load_any(k + kLoaded, loaded);
    } else {
      CONVFILT_UNROLL(kTogether)
      for (int r = 0; r < kTogether; ++r) {
        CONVFILT_UNROLL(R::kLoads)
        for (int n = 0; n < R::kLoads; ++n) loaded[r][n] = load_piece<R>(here_, n * R::kOutputs, r);
        const int near = kTuning.near + r;
        if (kTuning.near && near < here_.height) prefetch(here_, 0, near);
      }
    }

    // Compute, and store the rows of outputs that are complete.
    typename R::Samples samples[kTogether];
    CONVFILT_UNROLL(kTogether)
    for (int r = 0; r < kTogether; ++r) unpack<T, R>(now_[r], samples[r]);
    float complete[kTogether][R::kOutputs] = {};
    add_rows<R, kSide, kChannels, kAtEnds && kTuning.guarded>(mask, samples, k, out_.height, sums_,
                                                              complete);
    CONVFILT_UNROLL(kTogether)
    for (int r = 0; r < kTogether; ++r) {
      const Piece ends = ends_of<R, T>(mask.finish, complete[r]);
      const int row = k - (kSide - 1) + r;
      if (kAtEnds && (row < 0 || row >= out_.height)) continue;
      *reinterpret_cast<Piece*>(kAtEnds ? out_.row(row) : to_ + r * out_.stride) = ends;
    }
    CONVFILT_UNROLL(kTogether)
    for (int r = 0; kLoaded && r < kTogether; ++r) {
      CONVFILT_UNROLL(R::kLoads)
      for (int n = 0; n < R::kLoads; ++n) now_[r][n] = next[r][n];
    }
  }

  /// Loads rows from row k of the strip on, or what the border puts in their place.
  CONVFILT_DEVICE void load_any(int k, Rows& rows) const {
    T ghosts[R::kOutputs];
    CONVFILT_UNROLL(R::kOutputs)
    for (int n = 0; n < R::kOutputs; ++n) ghosts[n] = ghost_;
    CONVFILT_UNROLL(kTogether)
    for (int r = 0; r < kTogether; ++r) {
      const int y = edge_row(border_, first_y_ + k + r, in_.height);
      CONVFILT_UNROLL(R::kLoads)
      for (int n = 0; n < R::kLoads; ++n) {
        rows[r][n] = y < 0 ? piece_of<R>(ghosts) : load_piece<R>(in_, n * R::kOutputs, y);
      }
      CONVFILT_UNROLL(1)
      for (int n = 0; y < 0 && n < R::kSamples; ++n) count_ghost_cell();
    }
  }

  const PlaneView<const T> picture_;
  const PlaneView<T> outputs_;
  const T ghost_;
  const Border border_;
  const WalkGrid grid_;
  PlaneView<const T> in_{};    ///< from the lane's samples on
  PlaneView<T> out_{};         ///< and its outputs
  int first_y_ = 0;            ///< of the rows that the strip reads
  PlaneView<const T> here_{};  ///< from the next row on that is to be loaded, within the picture
  T* to_ = nullptr;            ///< where the next outputs go
  Rows now_ = {};
  typename R::Sums sums_ = {};  ///< the first row of the mask starts them: none is left from before
};

template <class T, int kSide, int kChannels>
__global__ void __launch_bounds__(kWalkWarps * 32,
                                  Reach<T, kSide, kChannels>::kTuning.warps / kWalkWarps)
    walk_kernel(PlaneView<const T> in, PlaneView<T> out, T ghost, Border border, WalkGrid grid,
                const MaskPart<T> __grid_constant__ mask) {
  Strip<T, kSide, kChannels> strip(in, out, ghost, border, grid);
  strip.walk(mask);
}

}  // namespace convfilt::CONVFILT_BACKEND
