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
      const int chunk = thread_ + k * R::kThreads;
      copies_[k] = chunk >= source.begin && chunk < source.end;
    }
  }

  /// Starts to copy the next rows to a slot, but for what lies beside the picture.
  CONVFILT_DEVICE void copy(SharedWords slot) {
    const auto& in = source_.in;
    const SharedWords own = slot.from(thread_ * 4);
    CONVFILT_UNROLL(R::kTogether)
    for (int r = 0; r < R::kTogether; ++r, ++y_, at_ += in.stride) {
      std::ptrdiff_t at = at_;
      if (y_ < 0 || y_ >= in.height) {
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
        if (copies_[k]) copy16(in, at + further * R::kChunk, own, r * R::kPitch + further * 4);
      }
    }
  }

 private:
  static constexpr int kCopies = (R::kChunks + R::kThreads - 1) / R::kThreads;

  /// A row of ghosts.
  CONVFILT_DEVICE void fill(SharedWords to) const {
    constexpr int kInWord = LineSource<T, R>::kInWord;
    int ghosts[kInWord];
    CONVFILT_UNROLL(kInWord)
    for (int n = 0; n < kInWord; ++n) ghosts[n] = -1;
    CONVFILT_UNROLL(1)
    for (int n = source_.begin * 4 + thread_; n < source_.end * 4; n += R::kThreads) {
      to.set(n, source_.word(ghosts, -1));
    }
  }

  const LineSource<T, R>& source_;
  const int thread_;
  int y_;              ///< of the next row to copy
  std::ptrdiff_t at_;  ///< where the thread's first chunk of it lies, or would lie, in the picture
  bool copies_[kCopies];
};

}  // namespace convfilt::CONVFILT_BACKEND
