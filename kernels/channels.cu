// Between pictures, whose channels are interleaved, and planes, which the kernels filter.

#include <algorithm>

#include "device_plan.hpp"
#include "dispatch.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

constexpr int kBlockColumns = 64;
constexpr int kBlockRows = 4;

template <class T>
__global__ void extract_kernel(PlaneView<const T> picture, int channels, int channel,
                               PlaneView<T> plane) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = blockIdx.y * kBlockRows + threadIdx.y;
  if (x >= plane.width || y >= plane.height) return;
  plane.row(y)[x] = picture.row(y)[std::ptrdiff_t(x) * channels + channel];
}

template <class T>
__global__ void insert_kernel(PlaneView<const T> plane, PlaneView<T> picture, int channels,
                              int channel) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = blockIdx.y * kBlockRows + threadIdx.y;
  if (x >= plane.width || y >= plane.height) return;
  picture.row(y)[std::ptrdiff_t(x) * channels + channel] = plane.row(y)[x];
}

// f(sample type tag, first row, rows): only the size of a sample matters here.
template <class F>
void for_row_chunks(Depth depth, int height, F f) {
  for (int first = 0; first < height; first += kMaxLaunchRows) {
    const int rows = std::min(kMaxLaunchRows, height - first);
    with_depth(depth, [&](auto tag) { f(tag, first, rows); });
  }
}

dim3 grid_for(int width, int rows) {
  return dim3(ceil_div(width, kBlockColumns), ceil_div(rows, kBlockRows));
}

}  // namespace

void extract_channel(Depth depth, const DevicePlane& picture, int channels, int channel,
                     const DevicePlane& plane, const Stream& stream) {
  for_row_chunks(depth, plane.height, [&](auto tag, int first, int rows) {
    using T = typename decltype(tag)::type;
    launch(grid_for(plane.width, rows), dim3(kBlockColumns, kBlockRows), stream, extract_kernel<T>,
           picture.rows(first, rows).template view<const T>(), channels, channel,
           plane.rows(first, rows).template view<T>());
  });
}

void insert_channel(Depth depth, const DevicePlane& plane, const DevicePlane& picture, int channels,
                    int channel, const Stream& stream) {
  for_row_chunks(depth, plane.height, [&](auto tag, int first, int rows) {
    using T = typename decltype(tag)::type;
    launch(grid_for(plane.width, rows), dim3(kBlockColumns, kBlockRows), stream, insert_kernel<T>,
           plane.rows(first, rows).template view<const T>(),
           picture.rows(first, rows).template view<T>(), channels, channel);
  });
}

}  // namespace convfilt::CONVFILT_BACKEND
