/// The block of separable.cu: how many warps lie beside and below each other, and where in shared
/// memory everything lies.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/contract/ceil_div.hpp"
#include "kernels/contract/separable.hpp"
#include "kernels/strategy.hpp"

namespace convfilt::separable {

constexpr int kStripColumns = 128;  ///< columns of a warp's strip, four for each lane
constexpr int kWarpRows = 8;        ///< rows of outputs that a warp computes together
constexpr int kMostTaps = 129;      ///< taps of a row or column
constexpr int kMostChannels = 4;    ///< side by side; with more, a picture is filtered as planes
constexpr int kMostWarps = 16;      ///< warps of a block
/// Words from one row of row sums to the next. It is an odd multiple of sixteen bytes, one more
/// than a strip has, so that sixteen bytes of each of four rows lie in different banks.
constexpr int kRowSumPitch = kStripColumns + 4;

/// The mask as the kernel takes it, by value.
template <class T>
struct KernelMask {
  int width = 0, height = 0, terms = 0;
  int dx = 0, dy = 0;  ///< the first tap, in pixels from the output
  FinishOf<T> column_finish;
  FinishOf<RowResultOf<T>> row_finish[kMostTerms];
  SumOf<RowResultOf<T>> row[kMostTerms][kMostTaps];
  SumOf<T> column[kMostTerms][kMostTaps];
};

/// A block has `across` strips of kStripColumns samples, each of which `down` warps filter. Between
/// two barriers it takes a step of step_rows() rows. Places and pitches are in words.
struct BlockLayout {
  int across = 1, down = 1;
  int slots = 1;                     ///< steps of input that are kept: in use or being copied
  int skip_x = 0, skip_y = 0;        ///< taps of weight 0 before the first one, which align fours
  int lead = 0;                      ///< samples from the first one loaded to the first tap skipped
  int in_columns = 0, in_pitch = 0;  ///< samples loaded of a row, and its pitch
  int ring = 0;                      ///< steps of row sums that are kept
  int row_weights = 0, column_weights = 0, in_rows = 0, row_sums = 0;  ///< their places
  int row_pitch = 0, column_pitch = 0, row_sum_pitch = 0;              ///< from term to term
  int loaded = 0, loaded_pitch = 0;  ///< where rows arrive: for floats at in_rows
  int words = 0;                     ///< words of the whole block
  int block_rows = 0;                ///< rows of outputs, a multiple of step_rows()
  bool row_copies = false;           ///< whether the device copies rows on its own

  CONVFILT_HD int warps() const { return across * down; }
  /// The rows of row sums, and of outputs, that a step computes.
  CONVFILT_HD int step_rows() const { return down * kWarpRows; }
  /// The number of steps before the first outputs, which give row sums alone.
  CONVFILT_HD int first_steps() const { return ring - 1; }
};

/// i modulo the power of two n.
CONVFILT_HD constexpr int low_bits(int i, int n) {
  return i & (n - 1);
}

/// The layout of a block for samples of sample_bytes bytes, without its block_rows and row_copies.
inline BlockLayout layout_of(int width, int height, int terms, int dx, int channels,
                             int sample_bytes, int across, int down, int slots) {
  BlockLayout s;
  s.across = across;
  s.down = down;
  s.slots = slots;
  const int chunk = 16 / sample_bytes;
  s.skip_x = low_bits(dx, 4);
  s.lead = low_bits((dx - s.skip_x) * channels, chunk);
  s.in_columns =
      ceil_div(s.lead + across * kStripColumns + (s.skip_x + width + 3) / 4 * 4 * channels, chunk) *
      chunk;
  s.in_pitch = (s.in_columns / 4 | 1) * 4;
  s.skip_y = low_bits(-height, 4);
  s.ring = ceil_div(s.skip_y + height - 1, s.step_rows()) + 1;
  // The counters of arrivals come first. The lists of weights are four longer, since four more are
  // read than used.
  s.row_weights = ceil_div(2 * slots, 4) * 4;
  s.row_pitch = (s.skip_x + width + 3) / 4 * 4 + 4;
  s.column_pitch = s.skip_y + height + 4;
  s.row_sum_pitch = across * s.ring * s.step_rows() * kRowSumPitch;
  s.column_weights = s.row_weights + terms * s.row_pitch;
  s.in_rows = s.column_weights + terms * s.column_pitch;
  s.loaded = s.in_rows;
  s.loaded_pitch = s.in_pitch;
  // Samples smaller than a word are converted, so the step in use lies apart from those that
  // arrive.
  const bool converts = sample_bytes < 4;
  if (converts) {
    s.loaded += s.step_rows() * s.in_pitch;
    s.loaded_pitch = s.in_columns / chunk * 4;
  }
  s.row_sums = s.loaded + slots * s.step_rows() * s.loaded_pitch;
  s.words = s.row_sums + terms * s.row_sum_pitch;
  return s;
}

/// The layout of which most warps fit an SM. The first among equals is taken, since this order was
/// the fastest on an H200 for 9 to 63 taps. Wide blocks of few rows load the fewest samples twice,
/// and high blocks share a ring.
inline BlockLayout best_layout(int width, int height, int terms, int dx, int channels,
                               int sample_bytes, int block_limit, int limit) {
  constexpr Sides kLayouts[] = {{4, 2}, {2, 2}, {1, 4}, {2, 4}, {2, 8}, {4, 4}, {1, 2}, {1, 1}};
  constexpr int kEnoughWarps = 16;      // what an SM's registers hold
  constexpr int kReservedBytes = 1024;  // shared memory that the device reserves for each block
  const bool converts = sample_bytes < 4;
  BlockLayout best;
  int most = -1;
  for (const auto [across, down] : kLayouts) {
    if (converts && across == 4) continue;
    const int slots = converts ? 2 : 1;
    const auto s = layout_of(width, height, terms, dx, channels, sample_bytes, across, down, slots);
    const int bytes = s.words * 4;
    const int blocks = bytes > block_limit ? 0 : limit / (bytes + kReservedBytes);
    const int warps = std::min(kEnoughWarps, blocks * s.warps());
    if (warps <= most) continue;
    most = warps;
    best = s;
  }
  return best;
}

}  // namespace convfilt::separable
