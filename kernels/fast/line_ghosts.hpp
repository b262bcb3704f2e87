/// What a block of separable_walk.cu loads beside the picture: words of samples that borders make
/// up, or that do not lie at addresses of sixteen bytes.
#pragma once

#include "device_plan.hpp"
#include "edge_row.hpp"
#include "line_reach.hpp"
#include "shared_words.hpp"

namespace convfilt::CONVFILT_BACKEND {

/// The rows that a block reads, from sample `x` on.
template <class T, class R>
struct LineSource {
  PlaneView<const T> in;
  T ghost;
  Border border;
  int x;
  int begin, end;  ///< chunks of a row that lie in the picture, at whole addresses

  static constexpr int kInWord = 4 / int(sizeof(T));

  CONVFILT_DEVICE LineSource(const PlaneView<const T>& in_, T ghost_, Border border_, int x_)
      : in(in_), ghost(ghost_), border(border_), x(x_), begin(R::kChunks), end(R::kChunks) {
    if (!lies_at_multiples_of(16, in)) return;
    begin = min(R::kChunks, (max(0, -x) + R::kChunk - 1) / R::kChunk);
    end = max(begin, min(R::kChunks, (in.width - x) / R::kChunk));
  }

  CONVFILT_DEVICE int words_beside() const { return (begin + R::kChunks - end) * 4; }

  /// Where word n of those lies in a row.
  CONVFILT_DEVICE int place(int n) const { return n < begin * 4 ? n : n + (end - begin) * 4; }

  /// The row that stands in for y; -1: ghosts.
  CONVFILT_DEVICE int row(int y) const {
    return y >= 0 && y < in.height ? y : edge_row(border, y, in.height);
  }

  /// A word of these columns, -1: ghosts.
  CONVFILT_DEVICE std::uint32_t word(const int (&columns)[kInWord], int y) const {
    std::uint32_t bits = 0;
    CONVFILT_UNROLL(kInWord)
    for (int n = 0; n < kInWord; ++n) {
      T sample = ghost;
      if (columns[n] >= 0 && y >= 0) {
        sample = load(in, columns[n], y);
      } else {
        count_ghost_cell();
      }
      if constexpr (sizeof(T) == 4) {
        bits = std::bit_cast<std::uint32_t>(sample);
      } else {
        bits |= std::uint32_t(sample) << (16 * n);
      }
    }
    return bits;
  }
};

/// Called, not written out in every place, as edge_row() is.
CONVFILT_CALLED inline int edge_column(Border border, int x, int width, int channels) {
  return border_sample(border, x, width, channels);
}

/// The words beside the picture: read a step ahead, so that nobody waits for them.
template <class T, class R>
class LineGhosts {
 public:
  /// From row y on.
  CONVFILT_DEVICE LineGhosts(const LineSource<T, R>& source, int y)
      : source_(source),
        thread_(threadIdx.y * 32 + threadIdx.x),
        words_beside_(source.words_beside()),
        y_(y) {
    if (!any()) return;
    CONVFILT_UNROLL(kFetches)
    for (int k = 0; k < kFetches; ++k) find_columns(thread_ + k * R::kThreads, columns_[k]);
  }

  CONVFILT_DEVICE bool any() const { return words_beside_ > 0; }

  /// Reads those of the next rows.
  CONVFILT_DEVICE void fetch() {
    CONVFILT_UNROLL(R::kTogether)
    for (int r = 0; r < R::kTogether; ++r, ++y_) {
      const int row = source_.row(y_);
      CONVFILT_UNROLL(kFetches)
      for (int k = 0; k < kFetches; ++k) {
        if (thread_ + k * R::kThreads < words_beside_)
          words_[r][k] = source_.word(columns_[k], row);
      }
    }
  }

  /// Puts them into their rows' slot, and those that were too many to be fetched.
  CONVFILT_DEVICE void put(SharedWords slot) const {
    CONVFILT_UNROLL(R::kTogether)
    for (int r = 0; r < R::kTogether; ++r) {
      const SharedWords to = slot.from(r * R::kPitch);
      CONVFILT_UNROLL(kFetches)
      for (int k = 0; k < kFetches; ++k) {
        const int n = thread_ + k * R::kThreads;
        if (n < words_beside_) to.set(source_.place(n), words_[r][k]);
      }
      CONVFILT_UNROLL(1)
      for (int n = thread_ + kFetches * R::kThreads; n < words_beside_; n += R::kThreads) {
        Columns columns = {};
        find_columns(n, columns);
        to.set(source_.place(n), source_.word(columns, source_.row(y_ - R::kTogether + r)));
      }
    }
  }

 private:
  static constexpr int kInWord = LineSource<T, R>::kInWord;
  using Columns = int[kInWord];
  // What a strip has on one side where the other lies in the picture.
  static constexpr int kFetches = ((R::kBeside + 2) * 4 + R::kThreads - 1) / R::kThreads;

  CONVFILT_DEVICE void find_columns(int n, Columns& columns) const {
    const int x = source_.x + source_.place(n) * kInWord;
    CONVFILT_UNROLL(kInWord)
    for (int k = 0; k < kInWord; ++k) {
      columns[k] = edge_column(source_.border, x + k, source_.in.width, R::kPixel);
    }
  }

  const LineSource<T, R>& source_;
  const int thread_, words_beside_;
  int y_;  ///< of the next row to fetch
  Columns columns_[kFetches] = {};
  std::uint32_t words_[R::kTogether][kFetches] = {};
};

}  // namespace convfilt::CONVFILT_BACKEND
