/// Words of launch.hpp that mean the same on a GPU and on the host: they read memory, and count
/// nothing. The two backends include it.
#pragma once

#include <cstdint>

#include "kernels/contract/plane_view.hpp"

namespace convfilt::CONVFILT_BACKEND {

template <class T>
CONVFILT_DEVICE inline T load(const PlaneView<const T>& in, int x, int y) {
  return *in.at(x, y);
}

/// The sample under weight (i, j) of a mask whose first weight lies over (x, y).
template <class T>
CONVFILT_DEVICE inline T load(const PlaneView<const T>& in, int x, int y, int i, int j) {
  return *(in.at(x, y) + std::uint64_t(unsigned(j)) * unsigned(in.stride) + i);
}

/// The same, through the L2 cache alone.
template <class T>
CONVFILT_DEVICE inline T load_past_l1(const PlaneView<const T>& in, int x, int y, int i, int j) {
  const T* const at = in.at(x, y) + std::uint64_t(unsigned(j)) * unsigned(in.stride) + i;
#ifdef __CUDA_ARCH__
  return __ldcg(at);
#else
  return *at;
#endif
}

/// The k-th weight, in row order, of a mask that lies in global memory.
template <class Sum>
CONVFILT_DEVICE inline Sum load_weight(const Sum* weights, int k) {
  return weights[k];
}

/// Four samples from (x, y) on, whose address is a multiple of their size.
template <class T>
CONVFILT_DEVICE inline Four<T> load4(const PlaneView<const T>& in, int x, int y) {
  return *reinterpret_cast<const Four<T>*>(in.row(y) + x);
}

/// The samples of 16 bytes from (x, y) on, whose address is a multiple of 16.
template <class T>
CONVFILT_DEVICE inline Bytes16 load16(const PlaneView<const T>& in, int x, int y) {
  return *reinterpret_cast<const Bytes16*>(in.row(y) + x);
}

/// Four neighbouring cells of a shared tile of 4-byte cells, at an address that is a multiple
/// of 16.
template <class T, int rows, int columns>
CONVFILT_DEVICE inline Four<T> shared4(const T (&tile)[rows][columns], int row, int column) {
  return *reinterpret_cast<const Four<T>*>(&tile[row][column]);
}

CONVFILT_DEVICE inline void count_ghost_cell() {}
CONVFILT_DEVICE inline void count_mask_read() {}
template <class T>
CONVFILT_DEVICE inline void count_write(const PlaneView<T>&, int, int) {}
template <class T>
CONVFILT_DEVICE inline void count_add(const PlaneView<T>&, int, int) {}

}  // namespace convfilt::CONVFILT_BACKEND
