/// When does a GPU pay? One formula, all its constants, nothing measured at run time: the same
/// command makes the same choice twice.
///
///   cpu  = (samples * cost of a sample + multiply_adds * cost of one) / threads
///   cuda = context + upload + download + multiply_adds / rate of the GPU
#pragma once

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"

namespace convfilt {

/// What a job asks of a machine, whichever it is.
struct Work {
  Depth depth = Depth::u8;  ///< that is computed in
  double samples = 0;
  double multiply_adds = 0;
  double bytes = 0;  ///< of the pictures going in; as many come out
};

/// The work of filtering `runs` pictures of this problem's shape. The separable family does a row
/// and a column pass, width + height multiply-adds a sample; the direct one width * height; the
/// transform one, which computes in floats at any depth, kTransformMultiplyAdds where that is less.
Work work_of(const Problem& problem, Family family, int runs = 1);

/// Estimated seconds on `threads` cores (at least 1), pixels in host memory before and after.
double cpu_seconds(const Work& work, int threads);

/// Estimated seconds on a GPU, from a process that has not touched CUDA yet.
double cuda_seconds(const Work& work);

/// Estimated seconds in the emulator on `threads` cores.
double emulator_seconds(const Work& work, int threads);

/// Whether the GPU is estimated to be done before the CPU.
bool cuda_pays(const Work& work, int threads);

/// Seconds of one CPU core for a sample, whatever the mask (rows prepared, sums ended, memory), and
/// for a multiply-add. Fitted to tests/bench/peers/bench_cpu.cpp on a Sapphire Rapids core at 2.6
/// GHz with AVX-512, direct 3x3 to 15x15 and separable 17 to 321 taps a line; AVX2 takes up to
/// twice as long.
inline constexpr double kCpuSampleU8 = 0.3e-9, kCpuMultiplyAddU8 = 0.012e-9;
inline constexpr double kCpuSampleWide = 0.8e-9, kCpuMultiplyAddWide = 0.03e-9;

/// What overlap-save takes on such a core by OpenCV's transforms, 49 to 56 ns a sample under masks
/// of 31x31 to 101x101, in multiply-adds of floats.
inline constexpr double kTransformMultiplyAdds = 1700;

/// Seconds of one core for a multiply-add in the emulator, whose every read is counted and checked:
/// 3 (basic) to 20 (texture) nanoseconds at 15x15.
inline constexpr double kEmulatorMultiplyAdd = 8e-9;

/// Seconds until a CUDA context stands: driver start, module load, first allocation.
inline constexpr double kCudaContext = 0.3;

/// Bytes a second over PCIe from memory that is not pinned, in one direction.
inline constexpr double kTransferRate = 6e9;

/// Multiply-adds a second of a mid-range GPU in a tiled kernel: a tenth of what data sheets
/// promise, and still so much that the transfer decides.
inline constexpr double kCudaRate = 1e12;

}  // namespace convfilt
