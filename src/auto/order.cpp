#include "src/auto/order.hpp"

namespace convfilt {
namespace {

double outputs_of(const Problem& problem) {
  return double(problem.out_width()) * problem.out_height();
}

/// Whether a GPU takes less time by one transform of the whole picture than by blocks.
bool whole_pays(const Problem& problem) {
  const double outputs = outputs_of(problem);
  const double weights = double(problem.mask.width) * problem.mask.height;
  // So small a picture has too few blocks to fill a GPU.
  if (outputs <= 0.5e6) return true;
  // Under a large mask blocks are larger, and so fewer.
  if (outputs <= 1e6 && weights >= 91 * 91) return true;
  // Under still larger masks most of each block is halo.
  return weights > 225 * 225;
}

/// Whether a GPU takes less time by coarse grids than by a transform.
bool coarse_pays_on_gpu(const Problem& problem) {
  const double samples = outputs_of(problem) * problem.channels;
  const double weights = double(problem.mask.width) * problem.mask.height;
  // Fewer samples do not fill a GPU.
  if (samples >= 2.2e6) return true;
  // Bytes gain earlier, since a transform moves them as floats.
  if (samples >= 1.5e6 && problem.depth == Depth::u8) return true;
  // At 257x257 an H200 takes 1.4 times as long by a transform of 1920x1080 samples.
  return samples >= 1.5e6 && weights > 225 * 225;
}

std::vector<std::string_view> order_of_transforms(DeviceKind kind, const Problem& problem) {
  bool whole = false, coarse = true;
  if (kind == DeviceKind::cuda) {
    whole = whole_pays(problem);
    coarse = coarse_pays_on_gpu(problem);
  }
  // At 50 million outputs one transform of all takes a CPU up to 1.4 times as long as blocks; at 77
  // thousand to 12.6 million as little as half.
  if (kind == DeviceKind::cpu && outputs_of(problem) <= 1 << 24) whole = true;
  const std::string_view first = whole ? "fft" : "overlap-save";
  const std::string_view second = whole ? "overlap-save" : "fft";
  if (coarse) return {"coarse", first, second};
  return {first, second, "coarse"};
}

}  // namespace

std::vector<std::string_view> order_of(Family family, DeviceKind kind, const Problem& problem) {
  if (family == Family::transform) return order_of_transforms(kind, problem);
  if (family == Family::separable) return {"separable"};
  // The CPU has one direct strategy; the emulator is for lessons, so it takes the textbook's best
  // tile.
  if (kind == DeviceKind::cpu) return {"cpu"};
  return {"tiled-out", "cached", "basic"};
}

const Strategy* first_in_order(Family family, DeviceKind kind, const Problem& problem,
                               const Machine& machine) {
  for (const std::string_view name : order_of(family, kind, problem)) {
    const Strategy* strategy = machine.find(name);
    if (strategy && strategy->runs_on(kind) && strategy->refusal(problem).empty()) return strategy;
  }
  return nullptr;
}

}  // namespace convfilt
