/// What a block of separable.cu is: how many warps lie beside and below each other, and where in
/// shared memory things lie.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/contract/ceil_div.hpp"
#include "kernels/contract/separable.hpp"
#include "kernels/implementation.hpp"
#include "kernels/plan/even_rows.hpp"

namespace convfilt {

constexpr int kFusedColumns = 128;  ///< of a warp's strip: four of each lane
constexpr int kFusedRows = 8;       ///< outputs that a warp computes together, below each other
constexpr int kFusedTaps = 129;     ///< at most, a line
constexpr int kFusedChannels = 4;   ///< at most, side by side; more are filtered as planes
constexpr int kFusedWarps = 16;     ///< at most, of a block
/// Words of a row of mids: sixteen bytes more than a strip, an odd multiple, so that four rows of
/// sixteen bytes lie in different banks.
constexpr int kMidPitch = kFusedColumns + 4;

/// The mask as the kernel takes it, by value.
template <class T>
struct FusedMask {
  int width = 0, height = 0, terms = 0;
  int dx = 0, dy = 0;  ///< the first tap, in pixels from the output
  FinishOf<T> column_finish;
  FinishOf<MidOf<T>> row_finish[kMostTerms];
  SumOf<MidOf<T>> row[kMostTerms][kFusedTaps];
  SumOf<T> column[kMostTerms][kFusedTaps];
};

/// Of a block: `across` strips of kFusedColumns samples, each filtered by `down` warps.
struct FusedShape {
  int across = 1, down = 1;
  int slots = 1;               ///< steps of input that are on their way or in use
  int skip_x = 0, skip_y = 0;  ///< taps before the first one that make its place a multiple of four
  int lead = 0;                ///< samples between the first one loaded and the first tap skipped
  int in_columns = 0, in_pitch = 0;  ///< samples loaded of a row, and words between rows
  int ring = 0;                      ///< steps of mids that are kept
  int row_weights = 0, column_weights = 0, in_rows = 0, mids = 0;  ///< where they lie, in words
  int row_pitch = 0, column_pitch = 0, mid_pitch = 0;  ///< words between those of two terms
  int loaded = 0,
      loaded_pitch = 0;     ///< where rows arrive, and words between them: in_rows for floats
  int words = 0;            ///< of all
  int segment = 0;          ///< rows of outputs of a block, a multiple of step_rows()
  bool row_copies = false;  ///< whether the device copies rows on its own

  CONVFILT_HD int warps() const { return across * down; }
  /// Rows of mids, and of outputs, between two barriers.
  CONVFILT_HD int step_rows() const { return down * kFusedRows; }
  /// Steps of mids alone, before the first outputs.
  CONVFILT_HD int first_steps() const { return ring - 1; }
};

/// i modulo the power of two n.
CONVFILT_HD constexpr int low_bits(int i, int n) {
  return i & (n - 1);
}

/// The shape of a block for samples of so many bytes. Not yet: the segment.
inline FusedShape fused_shape(int width, int height, int terms, int dx, int channels,
                              int sample_bytes, int across, int down, int slots) {
  FusedShape s;
  s.across = across;
  s.down = down;
  s.slots = slots;
  const int chunk = 16 / sample_bytes;
  s.skip_x = low_bits(dx, 4);
  s.lead = low_bits((dx - s.skip_x) * channels, chunk);
  s.in_columns =
      ceil_div(s.lead + across * kFusedColumns + (s.skip_x + width + 3) / 4 * 4 * channels, chunk) *
      chunk;
  s.in_pitch = (s.in_columns / 4 | 1) * 4;
  s.skip_y = low_bits(-height, 4);
  s.ring = ceil_div(s.skip_y + height - 1, s.step_rows()) + 1;
  // The counters of what arrives stand first. Four weights more are read than used.
  s.row_weights = ceil_div(2 * slots, 4) * 4;
  s.row_pitch = (s.skip_x + width + 3) / 4 * 4 + 4;
  s.column_pitch = s.skip_y + height + 4;
  s.mid_pitch = across * s.ring * s.step_rows() * kMidPitch;
  s.column_weights = s.row_weights + terms * s.row_pitch;
  s.in_rows = s.column_weights + terms * s.column_pitch;
  s.loaded = s.in_rows;
  s.loaded_pitch = s.in_pitch;
  const bool converts =
      sample_bytes < 4;  // then one step is in use, and those on their way are raw
  if (converts) {
    s.loaded += s.step_rows() * s.in_pitch;
    s.loaded_pitch = s.in_columns / chunk * 4;
  }
  s.mids = s.loaded + slots * s.step_rows() * s.loaded_pitch;
  s.words = s.mids + terms * s.mid_pitch;
  return s;
}

/// The shape of which most warps fit an SM. Of equals the first of these, which was the fastest
/// (H200, 9 to 63 taps): wide blocks of few rows load least twice, higher ones share a ring.
inline FusedShape best_shape(int width, int height, int terms, int dx, int channels,
                             int sample_bytes, int block_limit, int limit) {
  constexpr Sides kShapes[] = {{4, 2}, {2, 2}, {1, 4}, {2, 4}, {2, 8}, {4, 4}, {1, 2}, {1, 1}};
  constexpr int kEnoughWarps = 16;      // what an SM's registers hold
  constexpr int kReservedBytes = 1024;  // of shared memory, for each block
  const bool converts = sample_bytes < 4;
  FusedShape best;
  int most = -1;
  for (const auto [across, down] : kShapes) {
    if (converts && across == 4) continue;
    const int slots = converts ? 2 : 1;
    const auto s =
        fused_shape(width, height, terms, dx, channels, sample_bytes, across, down, slots);
    const int bytes = s.words * 4;
    const int blocks = bytes > block_limit ? 0 : limit / (bytes + kReservedBytes);
    const int warps = std::min(kEnoughWarps, blocks * s.warps());
    if (warps <= most) continue;
    most = warps;
    best = s;
  }
  return best;
}

/// Rows of a block's segment.
template <class T>
int segment_rows(const FusedShape& s, int height, int strips, int blocks,
                 const FusedMask<T>& mask) {
  const int step = s.step_rows();
  const double above = double(s.first_steps()) * step * mask.width / (mask.width + mask.height);
  return even_rows(height, step, strips, blocks, above);
}

}  // namespace convfilt
