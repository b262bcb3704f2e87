#include "registry.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "cpu/cpu_plans.hpp"
#include "fast/coarse_axis.hpp"
#include "implementation.hpp"
#include "separable.hpp"
#include "transform/overlap_save.hpp"

// One line a strategy, in the textbook's order; `cpu`, which has no .cu file, stands in table().
// CUDA_STRATEGY(x): x.cu, on CUDA and in the emulator; BOTH_STRATEGY(x, plan): x.cu, and a plan of
// its own for the CPU; HOST_STRATEGY(x): x.cu, on CUDA, in the emulator, and on the CPU;
// LIBRARY_STRATEGY(x): likewise, but on CUDA only where the toolkit has cuFFT and cuBLAS.
#define CONVFILT_STRATEGIES(CUDA_STRATEGY, BOTH_STRATEGY, HOST_STRATEGY, LIBRARY_STRATEGY) \
  CUDA_STRATEGY(basic)                                                                     \
  CUDA_STRATEGY(unrolled)                                                                  \
  CUDA_STRATEGY(tiled_in)                                                                  \
  CUDA_STRATEGY(tiled_out)                                                                 \
  CUDA_STRATEGY(cached)                                                                    \
  CUDA_STRATEGY(texture)                                                                   \
  HOST_STRATEGY(scatter)                                                                   \
  LIBRARY_STRATEGY(im2col)                                                                 \
  HOST_STRATEGY(winograd)                                                                  \
  LIBRARY_STRATEGY(fft)                                                                    \
  LIBRARY_STRATEGY(overlap_save)                                                           \
  LIBRARY_STRATEGY(overlap_add)                                                            \
  LIBRARY_STRATEGY(in_parts)                                                               \
  BOTH_STRATEGY(coarse, prepare_cpu_coarse)                                                \
  CUDA_STRATEGY(two_pass)                                                                  \
  BOTH_STRATEGY(separable, prepare_cpu_separable)                                          \
  CUDA_STRATEGY(separable_tensor)                                                          \
  CUDA_STRATEGY(tensor)                                                                    \
  CUDA_STRATEGY(direct)

namespace convfilt {

#define DECLARE(x, ...) extern const Implementation x;
#define PASS_OVER(...)
namespace emulator {
CONVFILT_STRATEGIES(DECLARE, DECLARE, DECLARE, DECLARE)
}
namespace host {
CONVFILT_STRATEGIES(PASS_OVER, PASS_OVER, DECLARE, DECLARE)
}
#ifdef CONVFILT_HAS_CUDA
namespace cuda {
CONVFILT_STRATEGIES(DECLARE, DECLARE, DECLARE, DECLARE)
}
#define PREPARE_CUDA(x) cuda::x.prepare
#else
#define PREPARE_CUDA(x) nullptr
#endif
#ifdef CONVFILT_HAS_CUDA_LIBRARIES
#define PREPARE_CUDA_LIBRARY(x) cuda::x.prepare
#else
#define PREPARE_CUDA_LIBRARY(x) nullptr
#endif

namespace {

// Up to this side a normalised mask gives 8-bit results within kPromisedError, before the last
// rounding.
constexpr int kExactSide = 15;
constexpr double kPromisedError = 0.02;

// Weights for each tap of one row times one column from which on two passes take less time; in 8
// bits where a side is longer than that. At 5x5 an H200's take 1.4 times as long as one through all
// weights, a CPU's the same; at 7x7 a CPU's and other GPUs' take less.
constexpr int kTermPays = 2, kDirectSideU8 = 5;

// Weights for each tap of a sum of terms from which on a GPU takes less time for it; a CPU does
// sooner. Measured on an H200: two terms at 20x20 in 8 bits, where `tensor` takes 1.3 times as
// long, at 13x13 in others, where `direct` takes 1.1 (u16) and 1.4 times (f32) as long. Three terms
// of longer lines are too much for the registers of separable-tensor.
constexpr double kSumPaysU8 = 5, kSumPays = 3.25;
constexpr int kMostSideOfThreeU8 = 33;
// With more taps together transforms take less time: a GPU's, 404 of floats; in 8 bits what tensor
// cores do not take at once.
constexpr int kMostSumTaps = 260;

// From so many weights on two transforms take less time than a multiplication for each: on an H200
// from 23x23 on, on CPUs from more than 37x37; this lies between. In 8 bits, where tap by tap is
// exact and an H200's tensor cores take less time to 78x78, beyond 63x63: other devices' and a CPU
// take more from there on.
constexpr int kTransformWeights = 27 * 27, kTransformWeightsU8 = 63 * 63 + 1;

// Of a row and a column together: so many weights of a smooth mask take longer in two passes than
// on coarser grids: on an H200 from 2 x 101 on (grey floats take the same there, 16 bits twice as
// long), on CPUs from 2 x 100; in 8 bits beyond what tensor cores take at once.
constexpr int kCoarseWeights = 200, kCoarseWeightsU8 = 2 * 127 + 1;

// Below, a transform of the mask costs as much as the picture's.
constexpr double kTransformPixels = 256 * 256;

using Prepare = std::unique_ptr<Plan> (*)(const Problem&, const PlanOptions&);

Strategy join(const Implementation& emulated, Prepare cuda, Prepare cpu) {
  return {emulated.name,     emulated.summary,
          emulated.family,   emulated.spatial_family,
          emulated.settings, emulated.refuses,
          emulated.geometry, cpu,
          emulated.prepare,  cuda,
          emulated.needs};
}

const auto& table() {
#define CUDA_LINE(x) join(emulator::x, PREPARE_CUDA(x), nullptr),
#define BOTH_LINE(x, cpu) join(emulator::x, PREPARE_CUDA(x), cpu),
#define HOST_LINE(x) join(emulator::x, PREPARE_CUDA(x), host::x.prepare),
#define LIBRARY_LINE(x) join(emulator::x, PREPARE_CUDA_LIBRARY(x), host::x.prepare),
  static const auto all = std::to_array<Strategy>({
      CONVFILT_STRATEGIES(CUDA_LINE, BOTH_LINE, HOST_LINE, LIBRARY_LINE){
          "cpu",
          "all cores, vectorised; needs no GPU",
          Family::direct,
          Family::direct,
          {},
          direct_refuses,
          nullptr,
          prepare_cpu_direct,
          nullptr,
          nullptr,
          {}},
  });
  return all;
}

}  // namespace

std::span<const Strategy* const> strategies() {
  static const auto pointers = [] {
    std::array<const Strategy*, std::tuple_size_v<std::decay_t<decltype(table())>>> list;
    for (std::size_t k = 0; k < list.size(); ++k) list[k] = &table()[k];
    return list;
  }();
  return pointers;
}

const Strategy* find_strategy(std::string_view name) {
  for (const Strategy* strategy : strategies()) {
    if (strategy->name == name) return strategy;
  }
  return nullptr;
}

namespace {

bool is_large(const Problem& problem) {
  return double(problem.out_width()) * problem.out_height() >= kTransformPixels;
}

bool transform_pays(const Problem& problem) {
  const Mask& mask = problem.mask;
  const int weights = problem.depth == Depth::u8 ? kTransformWeightsU8 : kTransformWeights;
  // Transforms of one row or column at a time gain little.
  return mask.width > 1 && mask.height > 1 && mask.width * mask.height >= weights &&
         is_large(problem) && overlap_save_refuses(problem, {}).empty();
}

/// Of a mask that is separable.
bool coarse_pays(const Problem& problem) {
  const int weights = problem.depth == Depth::u8 ? kCoarseWeightsU8 : kCoarseWeights;
  return problem.mask.width + problem.mask.height >= weights && is_large(problem) &&
         coarse_refuses(problem).empty();
}

bool separable_pays(const Problem& problem) {
  const Mask& mask = problem.mask;
  const bool bytes = problem.depth == Depth::u8;
  const int weights = mask.width * mask.height, taps_of_term = mask.width + mask.height;
  if (weights < kTermPays * taps_of_term) return false;
  if (bytes && std::max(mask.width, mask.height) <= kDirectSideU8) return false;
  const int taps = separable_taps(problem);
  bool pays = taps == taps_of_term || weights >= kSumPays * taps;
  if (bytes && taps > taps_of_term) {
    const int most = taps == 2 * taps_of_term ? kMaxMaskSide : kMostSideOfThreeU8;
    pays = weights >= kSumPaysU8 * taps && std::max(mask.width, mask.height) <= most;
  }
  if (!pays || !separable_refuses(problem).empty()) return false;
  if (bytes && mask.width <= kExactSide && mask.height <= kExactSide) {
    // Here the direct family promises the exactly rounded result, or kPromisedError; so must this.
    const double direct = prepare_mask<std::uint8_t>(mask).error;
    const double separable = prepare_separable<std::uint8_t>(mask).error;
    return separable == 0 || (direct > 0 && separable <= kPromisedError);
  }
  return true;
}

}  // namespace

Family family_for(const Problem& problem, bool finite) {
  const bool separable = separable_pays(problem);
  const int taps = separable ? separable_taps(problem) : 0;
  const bool sum = taps > problem.mask.width + problem.mask.height;
  if (finite && (separable && !sum ? coarse_pays(problem)
                                   : (!sum || taps > kMostSumTaps) && transform_pays(problem))) {
    return Family::transform;
  }
  return separable ? Family::separable : Family::direct;
}

}  // namespace convfilt
