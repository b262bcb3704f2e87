/// The resources of a multiprocessor (SM) of a GPU architecture, and how many blocks fit into it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convfilt {

/// Limits of one SM. They are from the table "Technical Specifications per Compute Capability" of
/// the CUDA C++ Programming Guide 13; the granularity of shared memory from NVIDIA's
/// cuda_occupancy.h.
struct Architecture {
  std::string_view name;     ///< as nvcc calls it: sm_90
  std::string_view example;  ///< GPUs of that architecture
  int threads = 0;           ///< resident at a time
  int blocks = 0;            ///< resident at a time
  std::size_t shared_bytes;  ///< for all resident blocks together
  std::size_t reserved;      ///< bytes of it that the system takes for each block
  std::size_t shared_unit;   ///< a block's share is a multiple of this
};

inline constexpr std::string_view kDefaultArchitecture = "sm_90";

std::span<const Architecture> architectures();

/// Throws UsageError with the nearest name.
const Architecture& find_architecture(const std::string& name);

/// How many blocks an SM holds at a time. Registers are left out, since only the compiled kernel
/// knows them.
struct Occupancy {
  int blocks = 0;                            ///< 0: a block alone is too large
  int threads = 0;                           ///< those blocks' threads together
  std::vector<std::string_view> limited_by;  ///< threads, warps (the last one of a block not full),
                                             ///< blocks, shared memory: those that bind
};

/// The occupancy by blocks with this many threads and bytes of shared memory each.
Occupancy occupancy(const Architecture& architecture, int threads, std::size_t shared_bytes);

}  // namespace convfilt
