/// Rows of a picture in host memory, with their ghost cells.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/band.hpp"

namespace convfilt {

/// Samples that inner loops on the CPU may read or write beyond the end of a row: one block of the
/// widest vectors (8 of 64 bytes).
inline constexpr int kSlack = 128;

/// Gives a tile the samples of any row, from `left` pixels before the tile to `right` pixels after
/// it.
template <class T>
class SourceRows {
 public:
  SourceRows(const Problem& problem, int left, int right, std::optional<double> border_alpha = {})
      : width_(problem.width),
        height_(problem.height),
        channels_(problem.channels),
        border_(problem.border),
        ghost_(std::size_t(problem.channels), ghost_sample<T>(problem)),
        left_(left),
        right_(right) {
    if (border_alpha && channels_ == 4) ghost_[3] = T(*border_alpha);
    for (int x = -left; x < 0; ++x) before_.push_back(border_index(border_, x, width_));
    // The last tile may end beyond the picture, since Mode::full has outputs there.
    const int end = problem.out_width() + right;
    for (int x = width_; x < end; ++x) after_.push_back(border_index(border_, x, width_));
  }

  /// The number of samples that row() may write for a tile of that many pixels.
  std::size_t length(int pixels) const {
    return (std::size_t(pixels) + std::size_t(left_) + std::size_t(right_)) *
           std::size_t(channels_);
  }

  /// The samples of row y, which may lie outside the picture, for the output pixels [x0, x1). They
  /// stay in place where they lie in the picture's row, and kSlack more samples in it and in the
  /// rows after it. Elsewhere they are gathered in `buffer`. `in` is the picture, or a band that
  /// has the row or the one that stands in for it. If it has neither, no weight reaches the row,
  /// and any samples will do.
  const T* row(BandView<const std::byte> in, int x0, int x1, int y, T* buffer) const {
    const int first = x0 - left_, last = x1 + right_;  // ghost pixels included
    const int at = row_index(in, y, border_, height_);
    if (at < 0) {
      T* out = buffer;
      for (int x = first; x < last; ++x) out = std::copy_n(ghost_.data(), channels_, out);
      return buffer;
    }
    const T* source = reinterpret_cast<const T*>(in.row(at));
    const std::ptrdiff_t samples_after = std::ptrdiff_t(width_ - last) * channels_;
    const std::ptrdiff_t bytes_below = std::ptrdiff_t(in.height - 1 - at) * in.pitch;
    if (first >= 0 && last <= width_ &&
        samples_after + bytes_below / std::ptrdiff_t(sizeof(T)) >= kSlack) {
      return source + std::ptrdiff_t(first) * channels_;
    }
    T* out = buffer;
    if (first < 0)
      out = pixels(source, before_.data() + (first + left_), std::min(0, last) - first, out);
    const int from = std::max(0, first), to = std::min(width_, last);
    if (from < to) {
      const std::size_t samples = std::size_t(to - from) * std::size_t(channels_);
      std::memcpy(out, source + std::ptrdiff_t(from) * channels_, samples * sizeof(T));
      out += samples;
    }
    const int behind = std::max(width_, first);
    if (behind < last) pixels(source, after_.data() + (behind - width_), last - behind, out);
    return buffer;
  }

 private:
  /// Copies ghost cells from the pixels of `source` that `places` names. A call of memmove for each
  /// would take longer.
  T* pixels(const T* source, const int* places, int count, T* out) const {
    const int channels = channels_;
    const T* const ghost = ghost_.data();
    for (int k = 0; k < count; ++k, out += channels) {
      const T* const from = places[k] < 0 ? ghost : source + std::ptrdiff_t(places[k]) * channels;
      for (int c = 0; c < channels; ++c) out[c] = from[c];
    }
    return out;
  }

  int width_, height_, channels_;
  Border border_;
  std::vector<T> ghost_;  ///< a ghost pixel
  int left_, right_;
  std::vector<int> before_, after_;  ///< the pixel that a ghost cell copies; -1 = the border value
};

}  // namespace convfilt
