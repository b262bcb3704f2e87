#include "src/auto/family.hpp"

#include <algorithm>
#include <cstdint>

#include "kernels/coarse/mask.hpp"
#include "kernels/contract/arithmetic.hpp"
#include "kernels/contract/separable.hpp"
#include "kernels/transform/overlap_save.hpp"

namespace convfilt {
namespace {

/// Below this many outputs, transforming the mask costs as much as transforming the picture.
constexpr double kLargePicture = 256 * 256;

bool is_large(const Problem& problem) {
  return double(problem.out_width()) * problem.out_height() >= kLargePicture;
}

/// Whether a transform takes less time than a multiplication for each weight.
bool transform_pays(const Problem& problem) {
  const Mask& mask = problem.mask;
  const int weights = mask.width * mask.height;
  // Transforms of one row or column at a time gain little.
  if (mask.width == 1 || mask.height == 1) return false;
  if (!is_large(problem)) return false;
  // In 8 bits, sums tap by tap are exact. By them an H200's tensor cores take less time up to
  // 78x78; other GPUs and CPUs take more from 64x64 on.
  if (problem.depth == Depth::u8 && weights <= 63 * 63) return false;
  // An H200 takes less time by transforms from 23x23 on, CPUs from 38x38 on; the threshold lies
  // between.
  if (weights < 27 * 27) return false;
  return transform::overlap_save_refuses(problem, {}).empty();
}

/// Whether coarser grids take less time than two passes; for a mask of rank 1.
bool coarse_pays(const Problem& problem) {
  const int taps = problem.mask.width + problem.mask.height;
  if (!is_large(problem)) return false;
  // In 8 bits tensor cores take up to 127 taps a line at once.
  if (problem.depth == Depth::u8 && taps <= 2 * 127) return false;
  // CPUs gain from 100 taps a line on, an H200 from 101. There it takes the same time for grey
  // floats, and half the time for 16 bits.
  if (taps < 2 * 100) return false;
  return coarse::refuses(problem).empty();
}

/// Whether two passes keep the bound of the direct family for small masks in 8 bits: its result is
/// exact, or within 0.02 of a step before the last rounding.
bool separable_is_as_exact(const Mask& mask) {
  const double direct = prepare_mask<std::uint8_t>(mask).error;
  const double separable = prepare_separable<std::uint8_t>(mask).error;
  return separable == 0 || (direct > 0 && separable <= 0.02);
}

bool separable_pays(const Problem& problem) {
  const Mask& mask = problem.mask;
  const bool bytes = problem.depth == Depth::u8;
  const int side = std::max(mask.width, mask.height);
  const int weights = mask.width * mask.height, taps_of_term = mask.width + mask.height;
  // Two passes save nothing where there are fewer than two weights a tap.
  if (weights < 2 * taps_of_term) return false;
  // At 5x5 in 8 bits an H200 takes 1.4 times as long by two passes as by one, and a CPU takes the
  // same. At 7x7 CPUs and other GPUs take less by two.
  if (bytes && side <= 5) return false;
  const int taps = separable_taps(problem), terms = taps / taps_of_term;
  if (terms == 0) return false;
  // At 20x20 in 8 bits, an H200 takes 1.3 times as long by two terms as by `tensor`.
  if (terms > 1 && bytes && weights < 5 * taps) return false;
  // At 13x13, `direct` takes 1.1 times as long as two terms in 16 bits, and 1.4 times in floats.
  if (terms > 1 && !bytes && weights < 3.25 * taps) return false;
  // Three terms of longer lines are too much for the registers of separable-tensor.
  if (terms > 2 && bytes && side > 33) return false;
  if (!separable_refuses(problem).empty()) return false;
  // To 15x15 the direct family is exact, or nearly, in 8 bits; so must two passes be.
  return !bytes || side > 15 || separable_is_as_exact(mask);
}

}  // namespace

Family family_for(const Problem& problem) {
  const bool separable = separable_pays(problem);
  const int taps = separable ? separable_taps(problem) : 0;
  const bool several_terms = taps > problem.mask.width + problem.mask.height;
  if (problem.depth != Depth::f32 || problem.contrast > 0) {
    if (separable && !several_terms && coarse_pays(problem)) return Family::transform;
    // Above 260 taps in several terms a GPU takes less time by transforms, for floats from 404 on.
    // In 8 bits, tensor cores do not take more taps at once.
    if (separable && several_terms && taps > 260 && transform_pays(problem))
      return Family::transform;
    if (!separable && transform_pays(problem)) return Family::transform;
  }
  return separable ? Family::separable : Family::direct;
}

bool may_transform(Problem problem) {
  // Only a large picture is transformed, and the larger it is, the more masks are.
  problem.width = problem.height = 1 << 13;
  problem.contrast = 1;
  for (const int channels : {1, 3}) {
    for (const Depth depth : kDepths) {
      problem.channels = channels;
      problem.depth = depth;
      if (family_for(problem) == Family::transform) return true;
    }
  }
  return false;
}

}  // namespace convfilt
