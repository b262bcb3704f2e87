/// When does a GPU pay? One formula, all its constants, nothing measured at run time: the same
/// command makes the same choice twice.
///
///   cpu  = max(multiply_adds / (rate per core * threads), traffic / host bandwidth)
///   cuda = context + upload + download + multiply_adds / rate of the GPU
#pragma once

#include "problem.hpp"
#include "strategy.hpp"

namespace convfilt {

/// What a job asks of a machine, whichever it is.
struct Work {
  Depth depth = Depth::u8;
  double multiply_adds = 0;
  double bytes = 0;  ///< of the pictures going in; as many come out
};

/// The work of filtering `runs` pictures of this problem's shape. The separable family does a row
/// and a column pass, width + height multiply-adds a sample; the direct one width * height.
Work work_of(const Problem& problem, Family family, int runs = 1);

/// Estimated seconds on `threads` cores (at least 1), pixels in host memory before and after.
double cpu_seconds(const Work& work, int threads);

/// Estimated seconds on a GPU, from a process that has not touched CUDA yet.
double cuda_seconds(const Work& work);

/// Whether the GPU is estimated to be done before the CPU.
bool cuda_pays(const Work& work, int threads);

/// Multiply-adds a second of one CPU core: u8 sums 16-bit products in pairs, 16 to 32 lanes wide;
/// u16 and f32 have half as many lanes.
inline constexpr double kCpuRateU8 = 20e9;
inline constexpr double kCpuRateWide = 10e9;

/// Bytes a second that all cores together move between memory and caches: small masks are bound by
/// it.
inline constexpr double kHostBandwidth = 20e9;

/// Seconds until a CUDA context stands: driver start, module load, first allocation.
inline constexpr double kCudaContext = 0.3;

/// Bytes a second over PCIe from memory that is not pinned, in one direction.
inline constexpr double kTransferRate = 6e9;

/// Multiply-adds a second of a mid-range GPU in a tiled kernel: a tenth of what data sheets
/// promise, and still so much that the transfer decides.
inline constexpr double kCudaRate = 1e12;

}  // namespace convfilt
