/// What lies beside the picture in the rows of a block of separable_walk.cu.
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
  int begin, end;  ///< samples of a row that are copied: those of the picture, at whole addresses

  CONVFILT_DEVICE LineSource(const PlaneView<const T>& in_, T ghost_, Border border_, int x_)
      : in(in_), ghost(ghost_), border(border_), x(x_), begin(R::kRow), end(R::kRow) {
    if (!lies_at_multiples_of(16, in)) return;
    begin = min(R::kRow, max(0, -x));  // x is a multiple of 16 bytes
    end = max(begin, min(R::kRow, in.width - x));
  }

  /// The row that stands in for y; -1: ghosts.
  CONVFILT_DEVICE int row(int y) const {
    return y >= 0 && y < in.height ? y : edge_row(border, y, in.height);
  }
};

/// Called, not written out in every place, as edge_row() is.
CONVFILT_CALLED inline int edge_column(Border border, int x, int width, int channels) {
  return border_sample(border, x, width, channels);
}

/// Fills in the words of which a sample is not copied. Most borders repeat samples of the same row,
/// which have come: to wait for memory would make strips at the sides take half as long again.
template <class T, class R>
class LineGhosts {
 public:
  CONVFILT_DEVICE explicit LineGhosts(const LineSource<T, R>& source)
      : source_(source),
        thread_(threadIdx.y * 32 + threadIdx.x),
        begin_((source.begin + kInWord - 1) / kInWord),
        end_(max(begin_, source.end / kInWord)),
        words_(begin_ + R::kPitch - end_) {
    if (!any()) return;
    CONVFILT_UNROLL(kKnown)
    for (int k = 0; k < kKnown; ++k) find(thread_ + k * R::kThreads, known_[k]);
  }

  CONVFILT_DEVICE bool any() const { return words_ > 0; }

  /// Of the rows in a slot, whose copies have come; the first is row y.
  CONVFILT_DEVICE void fill(SharedWords slot, int y) const {
    CONVFILT_UNROLL(kKnown)
    for (int k = 0; k < kKnown; ++k) fill(slot, y, thread_ + k * R::kThreads, known_[k]);
    CONVFILT_UNROLL(1)
    for (int n = thread_ + kKnown * R::kThreads; n < words_; n += R::kThreads) {
      Samples samples = {};
      find(n, samples);
      fill(slot, y, n, samples);
    }
  }

 private:
  static constexpr int kInWord = 4 / int(sizeof(T));
  // What a strip has on one side where the other lies in the picture.
  static constexpr int kKnown = ((R::kBeside + 1) * 4 + R::kThreads - 1) / R::kThreads;
  /// Of a word: where in the row they lie; kGhost; or below it, where in the picture, from kGhost
  /// downwards.
  using Samples = int[kInWord];
  static constexpr int kGhost = -1;

  /// Where word n of these lies in a row.
  CONVFILT_DEVICE int place(int n) const { return n < begin_ ? n : n + end_ - begin_; }

  CONVFILT_DEVICE void find(int n, Samples& samples) const {
    CONVFILT_UNROLL(kInWord)
    for (int k = 0; k < kInWord; ++k) {
      const int x = source_.x + place(n) * kInWord + k;
      const int column = edge_column(source_.border, x, source_.in.width, R::kPixel);
      const int at = column - source_.x;
      // A word that is filled in here is none to copy from.
      const bool copied = at >= begin_ * kInWord && at < end_ * kInWord;
      samples[k] = column < 0 ? kGhost : copied ? at : kGhost - 1 - column;
    }
  }

  CONVFILT_DEVICE void fill(SharedWords slot, int y, int n, const Samples& samples) const {
    if (n >= words_) return;
    CONVFILT_UNROLL(R::kTogether)
    for (int r = 0; r < R::kTogether; ++r) {
      const SharedWords row = slot.from(r * R::kPitch);
      std::uint32_t bits = 0;
      CONVFILT_UNROLL(kInWord)
      for (int k = 0; k < kInWord; ++k) {
        const T one = sample(row, y + r, samples[k]);
        if constexpr (sizeof(T) == 4) {
          bits = std::bit_cast<std::uint32_t>(one);
        } else {
          bits |= std::uint32_t(one) << (16 * k);
        }
      }
      row.set(place(n), bits);
    }
  }

  CONVFILT_DEVICE T sample(SharedWords row, int y, int at) const {
    if (at >= 0) {
      const auto word = row.get<std::uint32_t>(at / kInWord);
      if constexpr (sizeof(T) == 4) {
        return std::bit_cast<float>(word);
      } else {
        return T(word >> (16 * (at % 2)));
      }
    }
    const int in_y = source_.row(y);
    if (at < kGhost && in_y >= 0) return load(source_.in, kGhost - 1 - at, in_y);
    count_ghost_cell();
    return source_.ghost;
  }

  const LineSource<T, R>& source_;
  const int thread_, begin_, end_, words_;
  Samples known_[kKnown] = {};
};

}  // namespace convfilt::CONVFILT_BACKEND
