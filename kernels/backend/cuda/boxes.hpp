/// CUDA's side of boxes.hpp: PTX, and the driver's description of a tensor.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/backend/cuda/warpgroup.hpp"

namespace convfilt::cuda {

/// The same rows twice: as boxes, and one by one.
struct BoxSource {
  CUtensorMap boxes, rows;
};

inline CUtensorMap tensor_map(const PlaneView<const std::uint8_t>& rows, int box_rows) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
  CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                              cudaEnableDefault, &result));
#else
  CUDA_CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result));
#endif
  const cuuint64_t sizes[] = {cuuint64_t(rows.width), cuuint64_t(rows.height)};
  const cuuint64_t strides[] = {cuuint64_t(rows.stride)};
  const cuuint32_t box[] = {cuuint32_t(kBoxBytes), cuuint32_t(box_rows)}, steps[] = {1, 1};
  CUtensorMap map{};
  const CUresult failed =
      found == nullptr
          ? CUDA_ERROR_NOT_FOUND
          : reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
                &map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, const_cast<std::uint8_t*>(rows.data), sizes,
                strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (failed != CUDA_SUCCESS) {
    throw DeviceError("the driver does not describe the rows as a tensor: error " +
                      std::to_string(int(failed)));
  }
  return map;
}

inline BoxSource box_source(const PlaneView<const std::uint8_t>& rows) {
  return {tensor_map(rows, kBoxRows), tensor_map(rows, 1)};
}

#ifdef __CUDACC__
/// A box begins at a multiple of eight of its rows, because the device swizzles by address.
__device__ inline SharedWords box_words(SharedWords words) {
  const auto address = unsigned(__cvta_generic_to_shared(words.data()));
  constexpr unsigned kMultiple = kBoxSlack * 4;
  return words.from(int((kMultiple - address % kMultiple) % kMultiple / 4));
}

__device__ inline void copy_boxed([[maybe_unused]] const CUtensorMap& map, [[maybe_unused]] int x,
                                  [[maybe_unused]] int y, [[maybe_unused]] SharedWords to,
                                  [[maybe_unused]] SharedWords arrivals) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(unsigned(__cvta_generic_to_shared(to.data()))),
      "l"(&map), "r"(x), "r"(y), "r"(unsigned(__cvta_generic_to_shared(arrivals.data())))
      : "memory");
#endif
}

__device__ inline void copy_box(const BoxSource& source, int x, int y, SharedWords words, int at,
                                SharedWords arrivals) {
  copy_boxed(source.boxes, x, y, words.from(at * kBoxWords), arrivals);
}

__device__ inline void copy_box_row(const BoxSource& source, int x, int y, SharedWords words,
                                    int at, int row, SharedWords arrivals) {
  copy_boxed(source.rows, x, y, words.from(at * kBoxWords + row * (kBoxBytes / 4)), arrivals);
}

/// The swizzle is a function of the address, so box_step() may move the operand within the swizzled
/// rows as well as by whole boxes.
__device__ inline Operand box_operand(SharedWords words) {
  constexpr unsigned kSwizzled = 1u << 30;  // the mode of 128 bytes
  const auto address = unsigned(__cvta_generic_to_shared(words.data()));
  return {address >> 4 | 1u << 16, unsigned(8 * kBoxBytes >> 4) | kSwizzled};
}
#endif

}  // namespace convfilt::cuda
