/// Views of planes. They own nothing and are passed by value, also to kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#ifdef __CUDACC__
#define CONVFILT_HD __host__ __device__
#else
#define CONVFILT_HD
#endif

namespace convfilt {

/// One channel in memory. `stride` is the distance between rows in elements, so a view may be a
/// window of a larger plane.
template <class T>
struct PlaneView {
  T* data = nullptr;
  int width = 0, height = 0;
  std::ptrdiff_t stride = 0;

  CONVFILT_HD T* row(int y) const { return data + y * stride; }

  /// Sample (x, y) of the plane, neither below 0. A GPU multiplies 32-bit numbers to a 64-bit
  /// address in one instruction; row(y) takes four.
  CONVFILT_HD T* at(int x, int y) const {
    return data + std::uint64_t(unsigned(y)) * unsigned(stride) + unsigned(x);
  }

  /// Rows first..first+rows-1.
  CONVFILT_HD PlaneView rows(int first, int rows) const {
    return {data + first * stride, width, rows, stride};
  }

  template <class U = T>
  requires(!std::is_const_v<U>) CONVFILT_HD operator PlaneView<const U>() const {
    return {data, width, height, stride};
  }
};

/// Whether every row starts at an address that is a multiple of `bytes`.
template <class T>
CONVFILT_HD bool lies_at_multiples_of(int bytes, const PlaneView<T>& plane) {
  return plane.stride * std::ptrdiff_t(sizeof(T)) % bytes == 0 &&
         reinterpret_cast<std::uintptr_t>(plane.data) % bytes == 0;
}

/// Four neighbouring samples, as one instruction of a GPU reads them.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T samples[4];
};

/// Neighbouring samples of any depth in 16 bytes, the most that one instruction of a GPU reads.
struct alignas(16) Bytes16 {
  std::uint32_t words[4];
};

}  // namespace convfilt
