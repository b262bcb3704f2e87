/// How squares of a known side are filtered: a warp walks down a strip of the picture, and adds
/// every row of samples that it reads to as many rows of outputs as the mask has rows.
#pragma once

#include "kernels/contract/float_samples.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/ghost_cells.hpp"

namespace convfilt::CONVFILT_BACKEND::direct {

constexpr int kWalkWarps = 4;  // warps of a block, side by side

/// How a picture is shared out among blocks. Its strips, laid end to end, make up one long strip.
/// Each block walks an equal number of the long strip's rows, so that all blocks end together.
struct WalkGrid {
  int strips;
  int length;  ///< rows of a strip, at least as many as rows of outputs
  int rows;    ///< rows that a block walks
};

/// How strips are walked down.
struct WalkTuning {
  int together;  ///< rows of samples that are added at once, so that one weight serves them all
  bool ahead;    ///< whether the next rows are loaded while these are added
  int near;      ///< rows from a load to the row that is prefetched to the L2 cache; 0 = none
  bool guarded;  ///< whether a strip's first and last rows leave out rows of the mask
  int unrolled;  ///< turns of the loop that are unrolled
  int warps;     ///< warps whose registers an SM must hold
};

/// The fastest choices measured on an H200. Large masks run best with few warps that keep all their
/// sums and the next rows in registers. More warps would be at different places of a long loop and
/// wait for instructions. From 15x15 on, a loop that adds two rows no longer fits into the
/// instruction cache.
constexpr WalkTuning walk_tuning(int side, int channels, bool is_float) {
  const bool colour = channels > 1;
  switch (side) {
    case 3: return {2, true, 0, false, 2, 28};
    case 5:
      if (!is_float) return {1, true, 0, false, 1, 20};
      if (colour) return {2, false, 2, false, 1, 20};
      return {2, true, 0, false, 1, 24};
    case 7:
      if (!is_float) return {1, true, 0, true, 1, 16};
      if (colour) return {1, false, 4, false, 1, 20};
      return {2, false, 2, false, 1, 20};
    case 9:
      if (!is_float && colour) return {1, true, 0, true, 1, 12};
      if (colour) return {2, false, 2, true, 1, 12};
      return {2, true, 0, true, 1, 12};
    case 11: return {2, true, 0, true, 1, 8};
    case 13:
      if (colour) return {1, true, 0, true, 1, 12};
      return {2, true, 0, true, 1, 8};
    default: return {1, true, 0, true, 1, 8};
  }
}

/// The samples of a row that a lane reads, in vectors of as many samples as it has outputs. A
/// vector is 16 bytes for small masks, which wait for memory. For large masks it is four samples,
/// because the sums of more outputs would not fit into the registers.
template <class T, int kSide_, int kChannels>
struct Reach {
  static constexpr int kSide = kSide_;
  static constexpr int kOutputs = kSide <= 7 ? kIn16<T> : 4;
  static constexpr int kSamples = kOutputs + (kSide - 1) * kChannels;
  static constexpr int kLoads = (kSamples + kOutputs - 1) / kOutputs;
  static constexpr WalkTuning kTuning = walk_tuning(kSide, kChannels, sizeof(T) == 4);
  static constexpr int kTogether = kTuning.together;
  static_assert((kSide - 1) % kTogether == 0);

  using Vector = std::conditional_t<kOutputs == kIn16<T>, Bytes16, Four<T>>;
  using RowVectors = Vector[kLoads];
  using Samples = float[kSamples];
  using Sums = float[kSide][kOutputs];
};

/// Loads the vector that begins at (x, y).
template <class R, class T>
CONVFILT_DEVICE inline typename R::Vector load_vector(const PlaneView<const T>& in, int x, int y) {
  if constexpr (R::kOutputs == kIn16<T>) {
    return load16(in, x, y);
  } else {
    return load4(in, x, y);
  }
}

/// A vector made of these samples.
template <class R, class T>
CONVFILT_DEVICE inline typename R::Vector vector_of(const T* samples) {
  if constexpr (R::kOutputs == kIn16<T>) {
    return bytes16_of(samples);
  } else {
    return {samples[0], samples[1], samples[2], samples[3]};
  }
}

/// Ends the sums of a lane's outputs in one row.
template <class R, class T>
CONVFILT_DEVICE inline typename R::Vector ends_of(const FloatFinish& f,
                                                  const float (&sums)[R::kOutputs]) {
  if constexpr (R::kOutputs == kIn16<T>) {
    return finished<T>(f, sums);
  } else {
    float all[kIn16<T>] = {};
    CONVFILT_UNROLL(R::kOutputs)
    for (int n = 0; n < R::kOutputs; ++n) all[n] = sums[n];
    const Bytes16 words = finished<T>(f, all);
    return {sample_of<T>(words, 0), sample_of<T>(words, 1), sample_of<T>(words, 2),
            sample_of<T>(words, 3)};
  }
}

/// The samples of a row's vectors, as floats.
template <class T, class R>
CONVFILT_DEVICE inline void unpack(const typename R::RowVectors& row,
                                   typename R::Samples& samples) {
  CONVFILT_UNROLL(R::kSamples)
  for (int n = 0; n < R::kSamples; ++n) {
    const auto& vector = row[n / R::kOutputs];
    if constexpr (R::kOutputs == kIn16<T>) {
      samples[n] = sum_of(sample_of<T>(vector, n % R::kOutputs));
    } else {
      samples[n] = sum_of(vector.samples[n % R::kOutputs]);
    }
  }
}

/// Adds row k of the strip, and the row that is added together with it, if any. Row k meets row j
/// of the mask in the outputs of row k - j, whose sums the row before left at j - 1. The sums thus
/// move on by one place with each row that is added, and those at kSide - 1 are complete. With
/// kGuarded some of these outputs lie outside the strip, which has `rows` rows, and are left out.
template <class R, int kSide, int kChannels, bool kGuarded, class T>
CONVFILT_DEVICE inline void add_rows(const MaskPart<T>& mask,
                                     const typename R::Samples (&samples)[R::kTogether], int k,
                                     int rows, typename R::Sums& sums,
                                     float (&complete)[R::kTogether][R::kOutputs]) {
  constexpr int kOutputs = R::kOutputs, kTogether = R::kTogether;
  float after[kOutputs] = {};  // the second row's products for the sums at j + 1
  CONVFILT_UNROLL(kSide)
  for (int j = kSide - 1; j >= 0; --j) {
    if (kGuarded && (j >= k + kTogether || k - j >= rows)) continue;
    float row_sums[kTogether][kOutputs] = {};
    CONVFILT_UNROLL(kSide)
    for (int i = 0; i < kSide; ++i) {
      const float weight = mask.weights[j * kSide + i];
      CONVFILT_UNROLL(kTogether)
      for (int r = 0; r < kTogether; ++r) {
        CONVFILT_UNROLL(kOutputs)
        for (int n = 0; n < kOutputs; ++n) {
          row_sums[r][n] = multiply_add(weight, samples[r][n + i * kChannels], row_sums[r][n]);
        }
      }
    }
    CONVFILT_UNROLL(kOutputs)
    for (int n = 0; n < kOutputs; ++n) {
      const float sum = j == 0 ? row_sums[0][n] : sums[j > 0 ? j - 1 : 0][n] + row_sums[0][n];
      if (kTogether == 1) {
        sums[j][n] = sum;
      } else {
        if (j < kSide - 1) sums[j < kSide - 1 ? j + 1 : j][n] = sum + after[n];
        after[n] = row_sums[kTogether - 1][n];
        if (j == 0) sums[0][n] = after[n];
      }
      if (j == kSide - 1) complete[0][n] = sum;
    }
  }
  CONVFILT_UNROLL(kOutputs)
  for (int n = 0; n < kOutputs; ++n) complete[kTogether - 1][n] = sums[kSide - 1][n];
}

/// A lane's strip. The samples of output x begin at column x of `in`. They go on beyond the ends of
/// its rows, where side_samples.hpp has written ghost cells. Rows of `out` have room for whole
/// vectors.
template <class T, int kSide, int kChannels>
class Strip {
  using R = Reach<T, kSide, kChannels>;
  static constexpr WalkTuning kTuning = R::kTuning;
  static constexpr int kTogether = R::kTogether, kLoaded = kTuning.ahead ? kTogether : 0;
  using Vector = typename R::Vector;
  using RowsTogether = typename R::RowVectors[kTogether];

 public:
  CONVFILT_DEVICE Strip(const PlaneView<const T>& in, const PlaneView<T>& out, T ghost,
                        Border border, const WalkGrid& grid)
      : picture_(in), outputs_(out), ghost_(ghost), border_(border), grid_(grid) {}

  /// Walks the rows of this block.
  CONVFILT_DEVICE void walk(const MaskPart<T>& mask) {
    int at = int(blockIdx.x) * grid_.rows;
    const int end = min(at + grid_.rows, grid_.strips * grid_.length);
    begin(at, end, mask.dy);
    CONVFILT_UNROLL(1)
    for (int k = 0; k < in_rows();) {
      // Between a strip's first and last rows no row lies outside the picture, and every output is
      // the strip's own.
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

  /// Begins at row `at` of the long strip, in the strip that holds it. Lanes to the right of the
  /// picture repeat the work of the last lane inside it.
  CONVFILT_DEVICE void begin(int at, int end, int dy) {
    const int lane = (at / grid_.length * kWalkWarps + threadIdx.y) * 32 + threadIdx.x;
    const int x = min(lane, (outputs_.width - 1) / R::kOutputs) * R::kOutputs;
    const int y = at % grid_.length, rows = min(end - at, outputs_.height - y);
    in_ = {picture_.data + x, picture_.width - x, picture_.height, picture_.stride};
    out_ = {outputs_.row(y) + x, outputs_.width - x, rows, outputs_.stride};
    first_y_ = y + dy;
    if (kLoaded) load_any(0, now_);
  }

  /// Adds kTogether rows from row k of the strip on, and stores the outputs that are then complete.
  template <bool kAtEnds>
  CONVFILT_DEVICE void step(const MaskPart<T>& mask, int k) {
    // Load the next rows, or the current ones where the walk does not load ahead.
    RowsTogether next = {};
    RowsTogether& loaded = kLoaded ? next : now_;
    if (kAtEnds) {
      if (k + kLoaded < in_rows()) load_any(k + kLoaded, loaded);
    } else {
      CONVFILT_UNROLL(kTogether)
      for (int r = 0; r < kTogether; ++r) {
        CONVFILT_UNROLL(R::kLoads)
        for (int n = 0; n < R::kLoads; ++n)
          loaded[r][n] = load_vector<R>(here_, n * R::kOutputs, r);
        const int near = kTuning.near + r;
        if (kTuning.near && near < here_.height) prefetch(here_, 0, near);
      }
    }

    // Compute, and store the complete rows of outputs.
    typename R::Samples samples[kTogether];
    CONVFILT_UNROLL(kTogether)
    for (int r = 0; r < kTogether; ++r) unpack<T, R>(now_[r], samples[r]);
    float complete[kTogether][R::kOutputs] = {};
    add_rows<R, kSide, kChannels, kAtEnds && kTuning.guarded>(mask, samples, k, out_.height, sums_,
                                                              complete);
    CONVFILT_UNROLL(kTogether)
    for (int r = 0; r < kTogether; ++r) {
      const Vector ends = ends_of<R, T>(mask.finish, complete[r]);
      const int row = k - (kSide - 1) + r;
      if (kAtEnds && (row < 0 || row >= out_.height)) continue;
      *reinterpret_cast<Vector*>(kAtEnds ? out_.row(row) : to_ + r * out_.stride) = ends;
    }
    CONVFILT_UNROLL(kTogether)
    for (int r = 0; kLoaded && r < kTogether; ++r) {
      CONVFILT_UNROLL(R::kLoads)
      for (int n = 0; n < R::kLoads; ++n) now_[r][n] = next[r][n];
    }
  }

  /// Loads kTogether rows from row k of the strip on. The border replaces those outside the
  /// picture.
  CONVFILT_DEVICE void load_any(int k, RowsTogether& rows) const {
    T ghosts[R::kOutputs];
    CONVFILT_UNROLL(R::kOutputs)
    for (int n = 0; n < R::kOutputs; ++n) ghosts[n] = ghost_;
    CONVFILT_UNROLL(kTogether)
    for (int r = 0; r < kTogether; ++r) {
      const int y = edge_row(border_, first_y_ + k + r, in_.height);
      CONVFILT_UNROLL(R::kLoads)
      for (int n = 0; n < R::kLoads; ++n) {
        rows[r][n] = y < 0 ? vector_of<R>(ghosts) : load_vector<R>(in_, n * R::kOutputs, y);
      }
      if (y < 0) count_ghost_cells(R::kSamples);
    }
  }

  const PlaneView<const T> picture_;
  const PlaneView<T> outputs_;
  const T ghost_;
  const Border border_;
  const WalkGrid grid_;
  PlaneView<const T> in_{};    ///< begins at the lane's first sample of a row
  PlaneView<T> out_{};         ///< begins at the lane's first output in the strip
  int first_y_ = 0;            ///< the picture's row that the strip reads first
  PlaneView<const T> here_{};  ///< begins at the next row to load, if that lies in the picture
  T* to_ = nullptr;            ///< where the next outputs go
  RowsTogether now_ = {};
  typename R::Sums sums_ = {};  ///< products of the mask's first row start them
};

template <class T, int kSide, int kChannels>
__global__ void __launch_bounds__(kWalkWarps * 32,
                                  Reach<T, kSide, kChannels>::kTuning.warps / kWalkWarps)
    walk_kernel(PlaneView<const T> in, PlaneView<T> out, T ghost, Border border, WalkGrid grid,
                const MaskPart<T> __grid_constant__ mask) {
  Strip<T, kSide, kChannels> strip(in, out, ghost, border, grid);
  strip.walk(mask);
}

}  // namespace convfilt::CONVFILT_BACKEND::direct
