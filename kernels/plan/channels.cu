// Splits pictures, whose channels are interleaved, into the planes that most kernels filter, and
// merges planes into pictures.

#include <algorithm>

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/joint_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

constexpr int kPixels = 4;  // a thread moves four, since it reads and writes four samples at once

/// Rows first..end-1 are moved by a launch. A plane has `height` rows, and planes lie one below the
/// other.
struct RowRange {
  int first, end, height;
};

template <class T>
CONVFILT_DEVICE inline bool takes_fours(const PlaneView<T>& a, const PlaneView<const T>& b) {
  return lies_at_multiples_of(sizeof(Four<T>), a) && lies_at_multiples_of(sizeof(Four<T>), b);
}

/// Moves four pixels, or those that are left of a row. kChannels is the number of channels, or 0
/// where samples are moved one by one. four(x) moves four pixels from x on, and move(x, channel)
/// moves one sample of pixel x.
template <int kChannels, class Four, class Move>
CONVFILT_DEVICE inline void move_pixels(int width, int channels, bool fours, Four four, Move move) {
  const int x = (blockIdx.x * kBlockColumns + threadIdx.x) * kPixels;
  if (kChannels > 0 && fours && x + kPixels <= width) return four(x);
  for (int k = x; k < min(x + kPixels, width); ++k) {
    for (int channel = 0; channel < channels; ++channel) move(k, channel);
  }
}

template <class T, int kChannels>
__global__ void split_kernel(PlaneView<const T> picture, int channels, PlaneView<T> planes,
                             RowRange rows) {
  const int y = rows.first + blockIdx.y * kBlockRows + threadIdx.y;
  if (y >= rows.end) return;
  const auto four = [&](int x) {
    constexpr int kFours = kChannels > 0 ? kChannels : 1;
    const auto* const from = reinterpret_cast<const Four<T>*>(picture.row(y) + x * kChannels);
    Four<T> in[kFours];
    for (int k = 0; k < kFours; ++k) in[k] = from[k];
    for (int channel = 0; channel < kFours; ++channel) {
      Four<T> out;
      for (int k = 0; k < kPixels; ++k) {
        const int at = k * kFours + channel;
        out.samples[k] = in[at / kPixels].samples[at % kPixels];
      }
      *reinterpret_cast<Four<T>*>(planes.row(channel * rows.height + y) + x) = out;
    }
  };
  move_pixels<kChannels>(planes.width, channels, takes_fours(planes, picture), four,
                         [&](int x, int channel) {
                           planes.row(channel * rows.height + y)[x] =
                               picture.row(y)[std::ptrdiff_t(x) * channels + channel];
                         });
}

template <class T, int kChannels>
__global__ void merge_kernel(PlaneView<const T> planes, PlaneView<T> picture, int channels,
                             RowRange rows) {
  const int y = rows.first + blockIdx.y * kBlockRows + threadIdx.y;
  if (y >= rows.end) return;
  const auto four = [&](int x) {
    constexpr int kFours = kChannels > 0 ? kChannels : 1;
    Four<T> out[kFours];
    for (int channel = 0; channel < kFours; ++channel) {
      const auto in = *reinterpret_cast<const Four<T>*>(planes.row(channel * rows.height + y) + x);
      for (int k = 0; k < kPixels; ++k) {
        const int at = k * kFours + channel;
        out[at / kPixels].samples[at % kPixels] = in.samples[k];
      }
    }
    auto* const to = reinterpret_cast<Four<T>*>(picture.row(y) + x * kChannels);
    for (int k = 0; k < kFours; ++k) to[k] = out[k];
  };
  move_pixels<kChannels>(planes.width, channels, takes_fours(picture, planes), four,
                         [&](int x, int channel) {
                           picture.row(y)[std::ptrdiff_t(x) * channels + channel] =
                               planes.row(channel * rows.height + y)[x];
                         });
}

// Calls f(sample type tag, channels as a constant or 0, rows) for chunks of rows that one launch
// can cover.
template <class F>
void for_launches(Depth depth, int channels, int height, F f) {
  for_row_chunks(height, [&](int first, int count) {
    const RowRange rows{first, first + count, height};
    with_depth(depth, [&](auto tag) {
      if (channels == 3) return f(tag, std::integral_constant<int, 3>{}, rows);
      if (channels == 4) return f(tag, std::integral_constant<int, 4>{}, rows);
      f(tag, std::integral_constant<int, 0>{}, rows);
    });
  });
}

dim3 grid_for(int width, const RowRange& rows) {
  return dim3(ceil_div(width, kPixels * kBlockColumns),
              ceil_div(rows.end - rows.first, kBlockRows));
}

}  // namespace

void split_channels(Depth depth, const DevicePlane& picture, int channels,
                    const DevicePlane& planes, const Stream& stream) {
  for_launches(depth, channels, planes.height / channels,
               [&]<class T>(TypeTag<T>, auto known, RowRange rows) {
                 launch(grid_for(planes.width, rows), dim3(kBlockColumns, kBlockRows), stream,
                        split_kernel<T, known()>, picture.view<const T>(), channels,
                        planes.view<T>(), rows);
               });
}

void merge_channels(Depth depth, const DevicePlane& planes, const DevicePlane& picture,
                    int channels, const Stream& stream) {
  for_launches(depth, channels, planes.height / channels,
               [&]<class T>(TypeTag<T>, auto known, RowRange rows) {
                 launch(grid_for(planes.width, rows), dim3(kBlockColumns, kBlockRows), stream,
                        merge_kernel<T, known()>, planes.view<const T>(), picture.view<T>(),
                        channels, rows);
               });
}

}  // namespace convfilt::CONVFILT_BACKEND
