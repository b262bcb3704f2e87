/// Squares of a known side: a warp walks down a strip of the picture, and every row that it reads
/// adds to as many rows of outputs as the mask has.
#pragma once

#include "direct_edge.hpp"

namespace convfilt::CONVFILT_BACKEND {

constexpr int kWalkWarps = 4;  // of a block, one below the other

/// A strip none of whose samples and outputs lie outside the pictures, at aligned addresses of
/// `in`.
template <class T, int kSide, int kChannels>
CONVFILT_DEVICE inline void walk_inside(const PlaneView<const T>& in, const PlaneView<T>& out,
                                        const MaskPart<T>& mask, const Place& at, bool aligned) {
  using R = Reach<T, kSide, kChannels>;
  constexpr int kTogether = R::kTogether;
  constexpr bool kAhead = R::kTuning.ahead;
  // Rows ahead that are brought near. Seen to help with floats alone: 16-bit rows are shorter.
  constexpr int kPrefetched = sizeof(T) == 4 ? 2 : 0;
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
  CONVFILT_UNROLL((R::kTuning.unrolled))
  for (int k = 0; k < kRows; k += kTogether) {
    // Load the next rows where there is little to compute meanwhile, else these.
    if (!kAhead) {
      load_rows(k, now);
      CONVFILT_UNROLL(kTogether)
      for (int r = 0; kPrefetched && r < kTogether; ++r) {
        const int row = k + kPrefetched + r;
        if (row < kRows) prefetch(in, at.first_x, at.first_y + row);
      }
    } else if (k + kTogether < kRows) {
      load_rows(k + kTogether, next);
    }

    // Compute, and store the rows of outputs that are complete.
    typename R::Samples samples[kTogether];
    CONVFILT_UNROLL(kTogether)
    for (int r = 0; r < kTogether; ++r) unpack<T, R>(now[r], samples[r]);
    float complete[kTogether][R::kOutputs] = {};
    if (R::kTuning.guards == kAllRows ||
        (R::kTuning.guards == kEndRows && (k < kSide - 1 || k >= R::kRows))) {
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

/// Of a block, in blocks.
struct BlockPlace {
  int x, y;
};

/// Blocks at the left and right edges come first, then from the bottom row on: strips at the edges
/// take longer, and at the end all would wait for them.
CONVFILT_DEVICE inline BlockPlace block_place(int block, int across, int down) {
  const int edges = min(across, 3);  // the first, the last, and the last but one for its halo
  BlockPlace at;
  if (block < edges * down) {
    at = {block % edges, block / edges};
    if (at.x > 0) at.x = across - at.x;
  } else {
    const int inside = block - edges * down;
    at = {1 + inside % (across - edges), inside / (across - edges)};
  }
  at.y = at.y == 0 ? down - 1 : at.y - 1;
  return at;
}

/// The first output of a lane is moved `shift` samples to the left.
template <class T, int kSide, int kChannels>
__global__ void __launch_bounds__(kWalkWarps * 32,
                                  Reach<T, kSide, kChannels>::kTuning.warps / kWalkWarps)
    walk_kernel(PlaneView<const T> in, PlaneView<T> out, T ghost, Border border, int shift,
                int blocks_across, int blocks_down, const MaskPart<T> __grid_constant__ mask) {
  using R = Reach<T, kSide, kChannels>;
  const BlockPlace block = block_place(blockIdx.x, blocks_across, blocks_down);
  const int strip_x = block.x * 32 * R::kOutputs - shift;
  const int y = (block.y * kWalkWarps + threadIdx.y) * R::kRows;
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
    const bool wide = in_aligned && at.first_x >= 0 && at.first_x + loaded <= in.width;
    walk_edge<T, kSide, kChannels>(in, out, mask, at, border, ghost, wide);
  }
}

}  // namespace convfilt::CONVFILT_BACKEND
