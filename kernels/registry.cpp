#include "registry.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "cpu/cpu_plans.hpp"
#include "implementation.hpp"
#include "separable.hpp"

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
  HOST_STRATEGY(coarse)                                                                    \
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

// Weights for each tap of a sum of terms from which on a GPU takes less time for it; a CPU does
// sooner. Measured on an H200: two terms at 20x20 in 8 bits, where `tensor` takes 1.3 times as
// long, at 13x13 in others, where `direct` takes 1.1 (u16) and 1.4 times (f32) as long. Three terms
// of longer lines are too much for the registers of separable-tensor.
constexpr double kSumPaysU8 = 5, kSumPays = 3.25;
constexpr int kMostSideOfThreeU8 = 33;

using Prepare = std::unique_ptr<Plan> (*)(const Problem&, const PlanOptions&);

Strategy join(const Implementation& emulated, Prepare cuda, Prepare cpu) {
  return {emulated.name,     emulated.summary,
          emulated.family,   emulated.spatial_family,
          emulated.settings, emulated.refuses,
          emulated.geometry, cpu,
          emulated.prepare,  cuda};
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
          nullptr},
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

Family family_for(const Problem& problem) {
  const Mask& mask = problem.mask;
  // Two passes cost width + height taps, and a plane written and read between them.
  const int weights = mask.width * mask.height, taps_of_term = mask.width + mask.height;
  if (weights < 2 * taps_of_term) return Family::direct;
  const int taps = separable_taps(problem);
  bool pays = taps == taps_of_term || weights >= kSumPays * taps;
  if (problem.depth == Depth::u8 && taps > taps_of_term) {
    const int most = taps == 2 * taps_of_term ? kMaxMaskSide : kMostSideOfThreeU8;
    pays = weights >= kSumPaysU8 * taps && std::max(mask.width, mask.height) <= most;
  }
  if (!pays || !separable_refuses(problem).empty()) return Family::direct;
  if (problem.depth == Depth::u8 && mask.width <= kExactSide && mask.height <= kExactSide) {
    // Here the direct family promises the exactly rounded result, or kPromisedError; so must this.
    const double direct = prepare_mask<std::uint8_t>(mask).error;
    const double separable = prepare_separable<std::uint8_t>(mask).error;
    if (separable > 0 && (direct == 0 || separable > kPromisedError)) return Family::direct;
  }
  return Family::separable;
}

}  // namespace convfilt
