/// Writes the ghost cells beside a picture into the padding of its rows, so that no thread of
/// node_columns.hpp has to look for its samples one by one. plan/side_samples.hpp does so for
/// narrow sides, where each thread writes one column. These sides are some cells wider than the
/// mask, and are written in fours.
#pragma once

#include "kernels/coarse/samples.hpp"

namespace convfilt::CONVFILT_BACKEND::coarse {

inline constexpr int kSideThreads = 128;
inline constexpr int kSideLines = 16;  // rows of a thread, which looks up its columns once

/// The samples beside a row. They are written in fours, each at a multiple of its size. They begin
/// `before` samples before the row, which is a multiple of 4, and end `behind` samples behind it.
struct RowSides {
  int before, behind;
  Border border;
  int channels;

  /// The number of fours before the row, and of all fours. The first four behind the row may begin
  /// with the row's last samples.
  CONVFILT_HD int fours_before() const { return before / 4; }
  CONVFILT_HD int fours(int width) const {
    return fours_before() + ceil_div(width % 4 + behind, 4);
  }
};

template <class T>
__global__ void sides_kernel(PlaneView<T> picture, RowSides sides, T ghost) {
  const int four = blockIdx.x * kSideThreads + threadIdx.x, first = blockIdx.y * kSideLines;
  if (four >= sides.fours(picture.width)) return;
  const int behind = four - sides.fours_before();
  const int x = behind < 0 ? 4 * four - sides.before : picture.width / 4 * 4 + 4 * behind;
  int columns[4];
  for (int k = 0; k < 4; ++k)
    columns[k] = border_sample(sides.border, x + k, picture.width, sides.channels);
  const PlaneView<const T> from{picture.data, picture.width, picture.height, picture.stride};
  const int lines = min(kSideLines, picture.height - first);
  // Only samples beside the picture are written, since other threads read those inside it.
  const bool whole =
      (x + 4 <= 0 || x >= picture.width) && lies_at_multiples_of(4 * sizeof(T), picture);
  CONVFILT_UNROLL(4)
  for (int line = 0; line < lines; ++line) {
    const int y = first + line;
    Four<T> samples;
    for (int k = 0; k < 4; ++k)
      samples.samples[k] = columns[k] < 0 ? ghost : load(from, columns[k], y);
    T* const to = picture.row(y) + x;
    if (whole) {
      *reinterpret_cast<Four<T>*>(to) = samples;
    } else {
      for (int k = 0; k < 4; ++k)
        if (x + k < 0 || (x + k >= picture.width && x + k < picture.width + sides.behind))
          to[k] = samples.samples[k];
    }
  }
}

/// Launches the kernel, unless there is nothing to write.
template <class T>
void write_sides(const PlaneView<T>& picture, const RowSides& sides, T ghost,
                 const Stream& stream) {
  const int fours = sides.fours(picture.width);
  if (fours == 0) return;
  launch(dim3(ceil_div(fours, kSideThreads), ceil_div(picture.height, kSideLines)),
         dim3(kSideThreads), stream, sides_kernel<T>, picture, sides, ghost);
}

}  // namespace convfilt::CONVFILT_BACKEND::coarse
