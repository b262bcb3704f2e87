/// Squares of a known side: a warp walks down a strip of the picture, and every row that it reads
/// adds to as many rows of outputs as the mask has.
#pragma once

#include <cstring>

#include "device_plan.hpp"
#include "float_samples.hpp"
#include "pixel_border.hpp"

namespace convfilt::CONVFILT_BACKEND {

#ifndef WALK_WARPS
#define WALK_WARPS 4
#endif
#ifndef WALK_ROWS
#define WALK_ROWS 32
#endif
#ifndef WALK_PREFETCH
#define WALK_PREFETCH 7
#endif
#ifndef WALK_GUARDS
#define WALK_GUARDS 7
#endif
constexpr int kWalkWarps = WALK_WARPS;  // of a block, one below the other
constexpr int kWalkRows = WALK_ROWS;    // outputs that a warp walks down

/// What a lane reads of a row, for kInWords<T> outputs of it.
template <class T, int kSide, int kChannels>
struct Reach {
  static constexpr int kOutputs = kInWords<T>;
  static constexpr int kSamples = kOutputs + (kSide - 1) * kChannels;
  /// Samples before them, back to an address of whole words: under the default anchor the outputs
  /// then lie at such addresses, too.
  static constexpr int kSlack = (kOutputs - kSide / 2 * kChannels % kOutputs) % kOutputs;
  static constexpr int kLoads = (kSlack + kSamples + kOutputs - 1) / kOutputs;
};

/// Of any anchor: how far the outputs move to the left, so that their samples start kSlack behind
/// an address of whole words.
template <class T, int kSide, int kChannels>
int outputs_shift(int dx) {
  using R = Reach<T, kSide, kChannels>;
  return floor_modulo(dx * kChannels - R::kSlack, R::kOutputs);
}

/// Row k of the strip meets weights of row j for the outputs of row k - j. The sums of these stand
/// at j - 1 from the row before: so they move on as they are added to. kGuarded: not all of these
/// outputs are rows of the strip.
template <bool kGuarded, int kSide, int kChannels, int kOutputs, class T, int kSamples>
CONVFILT_DEVICE inline void add_row(const MaskPart<T>& mask, const float (&samples)[kSamples],
                                    int k, int rows, float (&sums)[kSide][kOutputs]) {
  CONVFILT_UNROLL(kSide)
  for (int j = kSide - 1; j >= 0; --j) {
    if (kGuarded && (j > k || k - j >= rows)) continue;
    float row_sums[kOutputs] = {};
    CONVFILT_UNROLL(kSide)
    for (int i = 0; i < kSide; ++i) {
      const float weight = mask.weights[j * kSide + i];
      CONVFILT_UNROLL(kOutputs)
      for (int n = 0; n < kOutputs; ++n) {
        row_sums[n] = multiply_add(weight, samples[n + i * kChannels], row_sums[n]);
      }
    }
    CONVFILT_UNROLL(kOutputs)
    for (int n = 0; n < kOutputs; ++n) {
      sums[j][n] = j == 0 ? row_sums[n] : sums[j > 0 ? j - 1 : 0][n] + row_sums[n];
    }
  }
}

/// The first output of a lane is moved `shift` samples to the left.
template <class T, int kSide, int kChannels>
__global__ void __launch_bounds__(kWalkWarps * 32)
    walk_kernel(PlaneView<const T> in, PlaneView<T> out, T ghost, Border border, int shift,
                const MaskPart<T> __grid_constant__ mask) {
  using R = Reach<T, kSide, kChannels>;
  constexpr int kOutputs = R::kOutputs, kLoads = R::kLoads;
  const int x = (blockIdx.x * 32 + threadIdx.x) * kOutputs - shift;
  const int y = (blockIdx.y * kWalkWarps + threadIdx.y) * kWalkRows;
  const int rows = min(kWalkRows, out.height - y);
  if (x >= out.width || rows <= 0) return;

  const int first_x = x + mask.dx * kChannels - R::kSlack, first_y = y + mask.dy;
  const bool wide = first_x >= 0 && first_x + kLoads * kOutputs <= in.width &&
                    in.stride % kOutputs == 0 &&
                    reinterpret_cast<std::uintptr_t>(in.data) % sizeof(Words) == 0;
  const auto load_row = [&](int k, Words(&to)[kLoads]) {
    const int row = index_by_border(border, first_y + k, in.height);
    if (wide && row >= 0) {
      CONVFILT_UNROLL(kLoads)
      for (int n = 0; n < kLoads; ++n) to[n] = load_words(in, first_x + n * kOutputs, row);
      return;
    }
    T samples[kLoads * kOutputs] alignas(sizeof(Words)) = {};
    CONVFILT_UNROLL(1)
    for (int n = R::kSlack; n < R::kSlack + R::kSamples; ++n) {
      samples[n] = load_in_row(in, border, kChannels, first_x + n, row, ghost);
    }
    std::memcpy(to, samples, sizeof to);
  };

  const bool whole = x >= 0 && x + kOutputs <= out.width && shift == 0 &&
                     out.stride % kOutputs == 0 &&
                     reinterpret_cast<std::uintptr_t>(out.data) % sizeof(Words) == 0;
  float sums[kSide][kOutputs] = {};
  Words now[kLoads];
  load_row(0, now);
  const int last = rows + kSide - 2;
  CONVFILT_UNROLL((kSide <= WALK_PREFETCH ? 2 : 1))
  for (int k = 0; k <= last; ++k) {
    // Load the next row, where there is little to compute meanwhile.
    constexpr bool kAhead = kSide <= WALK_PREFETCH;
    Words next[kLoads] = {};
    if (kAhead && k < last) load_row(k + 1, next);

    // Compute, and store the row of outputs that is complete.
    float samples[R::kSamples];
    CONVFILT_UNROLL(R::kSamples)
    for (int n = 0; n < R::kSamples; ++n) {
      const int at = R::kSlack + n;
      samples[n] = float_of<T>(now[at / kOutputs], at % kOutputs);
    }
    if (kSide >= WALK_GUARDS && (k < kSide - 1 || k >= rows)) {
      add_row<true, kSide, kChannels, kOutputs>(mask, samples, k, rows, sums);
    } else {
      add_row<false, kSide, kChannels, kOutputs>(mask, samples, k, rows, sums);
    }
    if (k >= kSide - 1) {
      const int to = y + k - (kSide - 1);
      if (whole) {
        *reinterpret_cast<Words*>(out.row(to) + x) = finished<T>(mask.finish, sums[kSide - 1]);
      } else {
        for (int n = 0; n < kOutputs; ++n) {
          if (x + n < 0 || x + n >= out.width) continue;
          finish(mask.finish, sums[kSide - 1][n], out.row(to)[x + n]);
        }
      }
    }
    if (kAhead) {
      CONVFILT_UNROLL(kLoads)
      for (int n = 0; n < kLoads; ++n) now[n] = next[n];
    } else if (k < last) {
      load_row(k + 1, now);
    }
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
