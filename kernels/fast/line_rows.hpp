/// How a block of separable_walk.cu loads rows: sixteen bytes at a time as they lie in memory, on
/// their way while others are computed.
#pragma once

#include "line_ghosts.hpp"

namespace convfilt::CONVFILT_BACKEND {

template <class T, class R>
class LineRows {
 public:
  /// From row y on.
  CONVFILT_DEVICE LineRows(const LineSource<T, R>& source, int y)
      : source_(source),
        thread_(threadIdx.y * 32 + threadIdx.x),
        y_(y),
        at_(y * source.in.stride + source.x + thread_ * R::kChunk) {
    CONVFILT_UNROLL(kCopies)
    for (int k = 0; k < kCopies; ++k) {
      const int first = (thread_ + k * R::kThreads) * R::kChunk;
      const int samples = first < source.begin ? 0 : max(0, min(R::kChunk, source.end - first));
      bytes_[k] = samples * int(sizeof(T));
    }
  }

  /// Starts to copy the next rows to a slot, but for what LineGhosts fills in.
  CONVFILT_DEVICE void copy(SharedWords slot) {
    const auto& in = source_.in;
    const SharedWords own = slot.from(thread_ * 4);
    CONVFILT_UNROLL(R::kTogether)
    for (int r = 0; r < R::kTogether; ++r, ++y_, at_ += in.stride) {
      std::ptrdiff_t at = at_;
      if (unsigned(y_) >= unsigned(in.height)) {
        const int row = edge_row(source_.border, y_, in.height);
        if (row < 0) {
          fill(slot.from(r * R::kPitch));
          continue;
        }
        at += (row - y_) * in.stride;
      }
      CONVFILT_UNROLL(kCopies)
      for (int k = 0; k < kCopies; ++k) {
        const int further = k * R::kThreads;
        copy16(in, at + further * R::kChunk, own, r * R::kPitch + further * 4, bytes_[k]);
      }
    }
  }

 private:
  static constexpr int kCopies = (R::kChunks + R::kThreads - 1) / R::kThreads;

  /// A row of ghosts.
  CONVFILT_DEVICE void fill(SharedWords row) const {
    std::uint32_t word;
    if constexpr (sizeof(T) == 4) {
      word = std::bit_cast<std::uint32_t>(source_.ghost);
    } else {
      word = source_.ghost * 0x10001u;
    }
    CONVFILT_UNROLL(1)
    for (int n = thread_; n < R::kPitch; n += R::kThreads) {
      row.set(n, word);
      count_ghost_cell();
    }
  }

  const LineSource<T, R>& source_;
  const int thread_;
  int y_;               ///< of the next row to copy
  std::ptrdiff_t at_;   ///< where the thread's first chunk of it lies, or would lie, in the picture
  int bytes_[kCopies];  ///< of its chunks, that are copied
};

}  // namespace convfilt::CONVFILT_BACKEND
