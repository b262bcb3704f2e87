/// How a block of separable_walk.cu loads rows: sixteen bytes at a time as they lie in memory, on
/// their way while others are computed.
#pragma once

#include "kernels/backend/shared_words.hpp"
#include "kernels/contract/ceil_div.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/edge_row.hpp"
#include "kernels/separable/walk/reach.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// Rows of `in` have whole 16 bytes, and begin at such addresses.
template <class T, class R>
class LineRows {
 public:
  /// From sample (x, y) on.
  CONVFILT_DEVICE LineRows(const PlaneView<const T>& in, T ghost, Border border, int x, int y)
      : in_(in),
        ghost_(ghost),
        border_(border),
        thread_(threadIdx.y * 32 + threadIdx.x),
        y_(y),
        from_(in.data + y * in.stride + x + thread_ * R::kChunk) {
    CONVFILT_UNROLL(kCopies)
    for (int k = 0; k < kCopies; ++k) {
      const int chunk = thread_ + k * R::kThreads;
      const int samples = chunk < R::kChunks ? in.width - x - chunk * R::kChunk : 0;
      bytes_[k] = min(samples, R::kChunk) * int(sizeof(T));
    }
  }

  /// From which copy on all rows lie in the picture, and up to which, before the first copy.
  CONVFILT_DEVICE int first_inside() const { return y_ < 0 ? ceil_div(-y_, R::kTogether) : 0; }
  CONVFILT_DEVICE int last_inside() const { return (in_.height - y_) / R::kTogether; }

  /// Starts to copy the next rows to a slot. Unless kAtEnds they lie in the picture.
  template <bool kAtEnds>
  CONVFILT_DEVICE void copy(SharedWords slot) {
    const SharedWords own = slot.from(thread_ * 4);
    CONVFILT_UNROLL(R::kTogether)
    for (int r = 0; r < R::kTogether; ++r, ++y_, from_ += in_.stride) {
      const T* from = from_;
      if (kAtEnds && unsigned(y_) >= unsigned(in_.height)) {
        const int row = edge_row(border_, y_, in_.height);
        if (row < 0) {
          fill(slot.from(r * R::kPitch));
          continue;
        }
        from += (row - y_) * in_.stride;
      }
      CONVFILT_UNROLL(kCopies)
      for (int k = 0; k < kCopies; ++k) {
        const int further = k * R::kThreads;
        copy16(in_, from - in_.data + further * R::kChunk, own, r * R::kPitch + further * 4,
               bytes_[k]);
      }
    }
  }

 private:
  static constexpr int kCopies = (R::kChunks + R::kThreads - 1) / R::kThreads;

  /// A row of ghosts.
  CONVFILT_DEVICE void fill(SharedWords row) const {
    std::uint32_t word;
    if constexpr (sizeof(T) == 4) {
      word = std::bit_cast<std::uint32_t>(ghost_);
    } else {
      word = ghost_ * 0x10001u;
    }
    CONVFILT_UNROLL(1)
    for (int n = thread_; n < R::kPitch; n += R::kThreads) {
      row.set(n, word);
      count_ghost_cell();
    }
  }

  const PlaneView<const T> in_;
  const T ghost_;
  const Border border_;
  const int thread_;
  int y_;               ///< of the next row to copy
  const T* from_;       ///< where the thread's first chunk of it lies, or would lie
  int bytes_[kCopies];  ///< of its chunks, that are copied
};

}  // namespace convfilt::CONVFILT_BACKEND
