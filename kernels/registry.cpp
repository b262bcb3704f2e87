#include "kernels/registry.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "kernels/coarse/mask.hpp"
#include "kernels/contract/separable.hpp"
#include "kernels/cpu/plans.hpp"
#include "kernels/implementation.hpp"
#include "kernels/transform/overlap_save.hpp"

// One line a strategy, in the textbook's order; `cpu`, which has no .cu file, stands in table(). A
// strategy runs in the emulator and on CUDA. With `.libraries` its CUDA plans are compiled only
// where the toolkit has cuFFT and cuBLAS. With `.loops` its own source runs on the CPU too, as
// plain loops; `.cpu` is a plan of its own there.
#define CONVFILT_STRATEGIES(STRATEGY)                      \
  STRATEGY(basic)                                          \
  STRATEGY(unrolled)                                       \
  STRATEGY(tiled_in)                                       \
  STRATEGY(tiled_out)                                      \
  STRATEGY(cached)                                         \
  STRATEGY(texture)                                        \
  STRATEGY(scatter, .loops = true)                         \
  STRATEGY(im2col, .libraries = true, .loops = true)       \
  STRATEGY(winograd, .loops = true)                        \
  STRATEGY(fft, .libraries = true, .loops = true)          \
  STRATEGY(overlap_save, .libraries = true, .loops = true) \
  STRATEGY(overlap_add, .libraries = true, .loops = true)  \
  STRATEGY(in_parts, .libraries = true, .loops = true)     \
  STRATEGY(coarse, .cpu = prepare_cpu_coarse)              \
  STRATEGY(two_pass)                                       \
  STRATEGY(separable, .cpu = prepare_cpu_separable)        \
  STRATEGY(separable_tensor)                               \
  STRATEGY(tensor)                                         \
  STRATEGY(direct)

namespace convfilt {

#define DECLARE(x, ...)                       \
  namespace emulator::x {                     \
  extern const Implementation implementation; \
  }                                           \
  namespace host::x {                         \
  extern const Implementation implementation; \
  }                                           \
  namespace cuda::x {                         \
  extern const Implementation implementation; \
  }
CONVFILT_STRATEGIES(DECLARE)

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

#ifdef CONVFILT_HAS_CUDA
constexpr bool kHasCuda = true;
#else
constexpr bool kHasCuda = false;
#endif
#ifdef CONVFILT_HAS_CUDA_LIBRARIES
constexpr bool kHasCudaLibraries = true;
#else
constexpr bool kHasCudaLibraries = false;
#endif

/// Where a strategy is compiled for, beside the emulator.
struct Row {
  bool libraries = false, loops = false;
  std::unique_ptr<Plan> (*cpu)(const Problem&, const PlanOptions&) = nullptr;
};

Strategy emulated(const Implementation& from) {
  return {.name = from.name,
          .summary = from.summary,
          .family = from.family,
          .spatial_family = from.spatial_family,
          .settings = from.settings,
          .refuses = from.refuses,
          .geometry = from.geometry,
          .prepare_emulator = from.prepare,
          .needs = from.needs};
}

// What this build lacks is not linked: a discarded branch names it, but does not use it.
#define JOIN(x, ...)                                                                 \
  [] {                                                                               \
    constexpr Row row{__VA_ARGS__};                                                  \
    Strategy strategy = emulated(emulator::x::implementation);                       \
    if constexpr (row.libraries ? kHasCudaLibraries : kHasCuda)                      \
      strategy.prepare_cuda = cuda::x::implementation.prepare;                       \
    strategy.prepare_cpu = row.cpu;                                                  \
    if constexpr (row.loops) strategy.prepare_cpu = host::x::implementation.prepare; \
    return strategy;                                                                 \
  }(),

const auto& table() {
  static const auto all = std::to_array<Strategy>(
      {CONVFILT_STRATEGIES(JOIN){.name = "cpu",
                                 .summary = "all cores, vectorised; needs no GPU",
                                 .family = Family::direct,
                                 .refuses = direct_refuses,
                                 .prepare_cpu = prepare_cpu_direct}});
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
         is_large(problem) && transform::overlap_save_refuses(problem, {}).empty();
}

/// Of a mask that is separable.
bool coarse_pays(const Problem& problem) {
  const int weights = problem.depth == Depth::u8 ? kCoarseWeightsU8 : kCoarseWeights;
  return problem.mask.width + problem.mask.height >= weights && is_large(problem) &&
         coarse::refuses(problem).empty();
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
