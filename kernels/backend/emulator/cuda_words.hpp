/// CUDA's words as the kernels use them, for the emulator and the host backend.
#pragma once

#include <cmath>
#include <cstddef>

#include "kernels/contract/border.hpp"
#include "kernels/strategy.hpp"

#define __global__
#define __launch_bounds__(...)
#define __threadfence() void(0)
#define __grid_constant__ &  // behind the type: a kernel takes its mask by reference

namespace convfilt::emulator {

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(int x_ = 1, int y_ = 1, int z_ = 1)
      : x(unsigned(x_)), y(unsigned(y_)), z(unsigned(z_)) {}
};

/// CUDA's uint3, but signed, since coordinates are.
struct Index3 {
  int x = 0, y = 0, z = 0;
};

inline constinit thread_local Index3 blockIdx;

enum cudaTextureAddressMode {
  cudaAddressModeWrap,
  cudaAddressModeClamp,
  cudaAddressModeMirror,
  cudaAddressModeBorder,
};

/// A texture over one plane in host memory.
struct TextureObject {
  const std::byte* data;
  int width, height;
  std::ptrdiff_t pitch;
  cudaTextureAddressMode mode;
  bool normalised;
};
using cudaTextureObject_t = const TextureObject*;

/// Only the CUDA build needs to know an element's format.
struct ChannelFormat {};
template <class T>
ChannelFormat cudaCreateChannelDesc() {
  return {};
}

}  // namespace convfilt::emulator
