/// Squares of a known side: a warp walks down a strip of the picture, and every row that it reads
/// adds to as many rows of outputs as the mask has.
#pragma once

#include "device_plan.hpp"
#include "float_samples.hpp"
#include "pixel_border.hpp"

namespace convfilt::CONVFILT_BACKEND {

#ifndef WALK_WARPS
#define WALK_WARPS 4
#endif
#ifndef WALK_ROWS
#define WALK_ROWS (kSide <= 9 ? 16 : 32)
#endif
#ifndef WALK_AHEAD
#define WALK_AHEAD (kSide <= (kWide ? 5 : 9))
#endif
#ifndef WALK_GUARDS
#define WALK_GUARDS (kSide <= (kWide ? 5 : 3) ? 0 : kWide && kSide <= 9 ? 1 : 2)
#endif
#ifndef WALK_TOGETHER
#define WALK_TOGETHER (kSide <= (kWide ? 9 : 3) ? 2 : 1)
#endif
#ifndef WALK_WANTED
#define WALK_WANTED (kSide <= 3 ? 28 : kSide <= 5 ? 20 : kWide || kSide <= 9 ? 16 : 12)
#endif
#ifndef WALK_UNROLL
#define WALK_UNROLL (kSide <= (kWide ? 5 : 3) ? 2 : 1)
#endif
constexpr int kWalkWarps = WALK_WARPS;  // of a block, one below the other

/// Which rows of a strip ask for each row of the mask whether its outputs are rows of the strip:
/// none (their sums are dropped), the first and the last, or all, for less code.
enum Guards { kNoRows, kEndRows, kAllRows };

/// What a lane reads of a row, for kIn16<T> outputs of it.
template <class T, int kSide, int kChannels>
struct Reach {
  static constexpr int kOutputs = kIn16<T>;
  static constexpr int kSamples = kOutputs + (kSide - 1) * kChannels;
  /// Samples before them, back to an address of whole words: under the default anchor the outputs
  /// then lie at such addresses, too.
  static constexpr int kSlack = (kOutputs - kSide / 2 * kChannels % kOutputs) % kOutputs;
  static constexpr int kLoads = (kSlack + kSamples + kOutputs - 1) / kOutputs;
  // What measured best on an H200. Beyond 9x9 a loop of two rows, or of two kinds of rows, no
  // longer fits the cache of instructions.
  static constexpr bool kWide = sizeof(T) == 4;
  static constexpr int kRows = WALK_ROWS;          ///< outputs that a warp walks down
  static constexpr int kTogether = WALK_TOGETHER;  ///< rows added at once: a weight serves them all
  static constexpr bool kAhead = WALK_AHEAD;       ///< whether the next rows are loaded meanwhile
  static constexpr Guards kGuards = Guards(WALK_GUARDS);
  static constexpr int kUnrolled = WALK_UNROLL;
  static constexpr int kWarps = WALK_WANTED;  ///< for whose registers an SM has room
  static_assert(kRows % kTogether == 0 && (kSide - 1) % kTogether == 0);

  using Row = Bytes16[kLoads];
  using Samples = float[kSamples];
  using Sums = float[kSide][kOutputs];
};

/// Of any anchor: how far the outputs move to the left, so that their samples start kSlack behind
/// an address of whole words.
template <class R>
int outputs_shift(int dx) {
  return floor_modulo(dx - R::kSlack, R::kOutputs);
}

template <class T, class R>
CONVFILT_DEVICE inline void unpack(const typename R::Row& row, typename R::Samples& samples) {
  CONVFILT_UNROLL(R::kSamples)
  for (int n = 0; n < R::kSamples; ++n) {
    const int at = R::kSlack + n;
    samples[n] = sum_of(sample_of<T>(row[at / R::kOutputs], at % R::kOutputs));
  }
}

/// Row k of the strip meets row j of the mask for the outputs of row k - j. Their sums stand at j -
/// 1 from the row before: so they move on as they are added to, and those at kSide - 1 are
/// complete. The same for the rows after k, whose sums move on as often. kGuarded: not all of these
/// outputs are rows of the strip, which has `rows`.
template <class R, int kSide, int kChannels, int kTogether, bool kGuarded, class T>
CONVFILT_DEVICE inline void add_rows(const MaskPart<T>& mask,
                                     const typename R::Samples (&samples)[kTogether], int k,
                                     int rows, typename R::Sums& sums,
                                     float (&complete)[kTogether][R::kOutputs]) {
  constexpr int kOutputs = R::kOutputs;
  float after[kOutputs] = {};  // what the second row adds to the sums at j + 1
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

/// A lane's place in the picture.
struct Place {
  int x, y;              // of its first output
  int first_x, first_y;  // of the first sample that it loads
  int rows;              // of outputs
};

/// A strip none of whose samples and outputs lie outside the pictures, at aligned addresses of
/// `in`.
template <class T, int kSide, int kChannels>
CONVFILT_DEVICE inline void walk_inside(const PlaneView<const T>& in, const PlaneView<T>& out,
                                        const MaskPart<T>& mask, const Place& at, bool aligned) {
  using R = Reach<T, kSide, kChannels>;
  constexpr int kTogether = R::kTogether;
  constexpr bool kAhead = R::kAhead;
  constexpr int kRows = R::kRows + kSide - 1;
  const auto load_rows = [&](int k, typename R::Row(&to)[kTogether]) {
    CONVFILT_UNROLL(kTogether)
    for (int r = 0; r < kTogether; ++r) {
      CONVFILT_UNROLL(R::kLoads)
      for (int n = 0; n < R::kLoads; ++n) {
        to[r][n] = load16(in, at.first_x + n * R::kOutputs, at.first_y + k + r);
      }
    }
  };
  typename R::Sums sums = {};
  typename R::Row now[kTogether], next[kTogether] = {};
  if (kAhead) load_rows(0, now);
  CONVFILT_UNROLL((R::kUnrolled))
  for (int k = 0; k < kRows; k += kTogether) {
    // Load the next rows where there is little to compute meanwhile, else these.
    if (!kAhead) {
      load_rows(k, now);
    } else if (k + kTogether < kRows) {
      load_rows(k + kTogether, next);
    }

    // Compute, and store the rows of outputs that are complete.
    typename R::Samples samples[kTogether];
    CONVFILT_UNROLL(kTogether)
    for (int r = 0; r < kTogether; ++r) unpack<T, R>(now[r], samples[r]);
    float complete[kTogether][R::kOutputs] = {};
    if (R::kGuards == kAllRows || (R::kGuards == kEndRows && (k < kSide - 1 || k >= R::kRows))) {
      add_rows<R, kSide, kChannels, kTogether, true>(mask, samples, k, R::kRows, sums, complete);
    } else {
      add_rows<R, kSide, kChannels, kTogether, false>(mask, samples, k, R::kRows, sums, complete);
    }
    if (k >= kSide - 1) {
      CONVFILT_UNROLL(kTogether)
      for (int r = 0; r < kTogether; ++r) {
        const Bytes16 words = finished<T>(mask.finish, complete[r]);
        T* const to = out.row(at.y + k - (kSide - 1) + r) + at.x;
        if (aligned) {
          *reinterpret_cast<Bytes16*>(to) = words;
        } else {
          CONVFILT_UNROLL(R::kOutputs)
          for (int n = 0; n < R::kOutputs; ++n) to[n] = sample_of<T>(words, n);
        }
      }
    }
    if (kAhead) {
      CONVFILT_UNROLL(kTogether)
      for (int r = 0; r < kTogether; ++r) {
        CONVFILT_UNROLL(R::kLoads)
        for (int n = 0; n < R::kLoads; ++n) now[r][n] = next[r][n];
      }
    }
  }
}

/// Any strip, a row at a time. Lanes that are not `wide`, some of whose samples lie outside the
/// picture or at addresses that are not aligned, load them one by one.
template <class T, int kSide, int kChannels>
CONVFILT_DEVICE inline void walk_edge(const PlaneView<const T>& in, const PlaneView<T>& out,
                                      const MaskPart<T>& mask, const Place& at, Border border,
                                      T ghost, bool wide) {
  using R = Reach<T, kSide, kChannels>;
  int columns[R::kSamples] = {};  // of the picture, -1 for ghost cells: the same in all rows
  if (!wide) {
    CONVFILT_UNROLL(1)
    for (int n = 0; n < R::kSamples; ++n) {
      const int x = at.first_x + R::kSlack + n, channel = floor_modulo(x, kChannels);
      const int pixel = index_by_border(border, (x - channel) / kChannels, in.width / kChannels);
      columns[n] = pixel < 0 ? -1 : pixel * kChannels + channel;
    }
  }
  const auto load_row = [&](int k, typename R::Row& to) {
    const int row = index_by_border(border, at.first_y + k, in.height);
    if (wide && row >= 0) {
      CONVFILT_UNROLL(R::kLoads)
      for (int n = 0; n < R::kLoads; ++n) {
        to[n] = load16(in, at.first_x + n * R::kOutputs, row);
      }
      return;
    }
    T samples[R::kLoads * R::kOutputs] = {};
    CONVFILT_UNROLL(R::kSamples)
    for (int n = 0; n < R::kSamples; ++n) {
      const bool inside = row >= 0 && columns[n] >= 0;
      if (!inside) count_ghost_cell();
      samples[R::kSlack + n] = inside ? load(in, columns[n], row) : ghost;
    }
    CONVFILT_UNROLL(R::kLoads)
    for (int n = 0; n < R::kLoads; ++n) to[n] = bytes16_of(samples + n * R::kOutputs);
  };
  typename R::Sums sums = {};
  typename R::Row now, next = {};
  load_row(0, now);
  CONVFILT_UNROLL(1)
  for (int k = 0; k < at.rows + kSide - 1; ++k) {
    if (k + 1 < at.rows + kSide - 1) load_row(k + 1, next);
    typename R::Samples samples[1];
    unpack<T, R>(now, samples[0]);
    float complete[1][R::kOutputs] = {};
    add_rows<R, kSide, kChannels, 1, true>(mask, samples, k, at.rows, sums, complete);
    if (k >= kSide - 1) {
      const Bytes16 ends = finished<T>(mask.finish, complete[0]);
      CONVFILT_UNROLL(R::kOutputs)
      for (int n = 0; n < R::kOutputs; ++n) {
        if (at.x + n < 0 || at.x + n >= out.width) continue;
        out.row(at.y + k - (kSide - 1))[at.x + n] = sample_of<T>(ends, n);
      }
    }
    CONVFILT_UNROLL(R::kLoads)
    for (int n = 0; n < R::kLoads; ++n) now[n] = next[n];
  }
}

/// The first output of a lane is moved `shift` samples to the left.
template <class T, int kSide, int kChannels>
__global__ void __launch_bounds__(kWalkWarps * 32, Reach<T, kSide, kChannels>::kWarps / kWalkWarps)
    walk_kernel(PlaneView<const T> in, PlaneView<T> out, T ghost, Border border, int shift,
                const MaskPart<T> __grid_constant__ mask) {
  using R = Reach<T, kSide, kChannels>;
  // The last blocks come first: strips at the edges take longer.
  const int blocks_x = (out.width + shift - 1) / (32 * R::kOutputs);
  const int blocks_y = (out.height - 1) / (kWalkWarps * R::kRows);
  const int block_x = blockIdx.x == 0 ? blocks_x : blockIdx.x - 1;
  const int block_y = blockIdx.y == 0 ? blocks_y : blockIdx.y - 1;
  const int strip_x = block_x * 32 * R::kOutputs - shift;
  const int y = (block_y * kWalkWarps + threadIdx.y) * R::kRows;
  const int to_first = mask.dx * kChannels - R::kSlack;
  const int x = strip_x + threadIdx.x * R::kOutputs;
  const Place at{x, y, x + to_first, y + mask.dy, min(R::kRows, out.height - y)};
  const auto is_aligned = [](const void* data, std::ptrdiff_t stride) {
    return stride % R::kOutputs == 0 &&
           reinterpret_cast<std::uintptr_t>(data) % sizeof(Bytes16) == 0;
  };
  const bool in_aligned = is_aligned(in.data, in.stride);
  const int loaded = R::kLoads * R::kOutputs, beside = 31 * R::kOutputs;
  if (in_aligned && strip_x >= 0 && strip_x + 32 * R::kOutputs <= out.width &&
      at.rows == R::kRows && strip_x + to_first >= 0 &&
      strip_x + to_first + beside + loaded <= in.width && at.first_y >= 0 &&
      at.first_y + R::kRows + kSide - 1 <= in.height) {
    walk_inside<T, kSide, kChannels>(in, out, mask, at,
                                     shift == 0 && is_aligned(out.data, out.stride));
  } else if (x < out.width && at.rows > 0) {
#ifdef NO_EDGE
    return;
#endif
    const bool wide = in_aligned && at.first_x >= 0 && at.first_x + loaded <= in.width;
    walk_edge<T, kSide, kChannels>(in, out, mask, at, border, ghost, wide);
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
