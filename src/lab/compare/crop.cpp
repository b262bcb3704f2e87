#include "src/lab/compare/measure.hpp"

#include <algorithm>
#include <cstring>

namespace convfilt {
namespace {

/// Result sides of crops, in pixels. Multiples of 32, the teaching kernels' tiles.
constexpr int kSides[] = {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096};

/// The strategies whose bytes on the CPU are right for the direct family and for the separable
/// family.
constexpr std::string_view kReference = "cpu", kSeparableReference = "separable";

/// The share of samples that differ between `rows` rows of `a` from row `at` on and of `b` from
/// `other_at` on.
double share_that_differs(const Image& a, int at, const Image& b, int other_at, int rows) {
  const std::size_t size = size_of(a.depth());
  const int samples = a.width() * a.channels();
  std::size_t differing = 0;
  for (int y = 0; y < rows; ++y) {
    const std::byte *one = a.view().row(at + y), *other = b.view().row(other_at + y);
    if (std::memcmp(one, other, std::size_t(samples) * size) == 0) continue;
    for (int x = 0; x < samples; ++x)
      differing += std::memcmp(one + x * size, other + x * size, size) != 0;
  }
  return double(differing) / (double(samples) * rows);
}

}  // namespace

Crop::Crop(const Setup& setup, const Problem& problem)
    : setup_(setup),
      problem_(problem),
      picture_(setup.picture.part((setup.problem.width - problem.width) / 2,
                                  (setup.problem.height - problem.height) / 2, problem.width,
                                  problem.height)) {}

Image Crop::blank_result() const {
  return Image(problem_.out_width(), problem_.out_height(), problem_.channels, problem_.depth);
}

std::size_t Crop::bytes() const {
  const double samples = double(problem_.width) * problem_.height * problem_.channels + outputs();
  return std::size_t(samples) * size_of(problem_.depth) / 2;
}

Crop::Reference Crop::make_reference(const Strategy& strategy, Family family) {
  Reference reference;
  const int height = problem_.out_height();
  const double patience = setup_.options.reference_patience;
  const double seconds =
      cpu_seconds(workload_of(problem_, family), setup_.threads(), cpu_rates(setup_.machine));
  reference.rows = seconds <= patience ? height : int(height * patience / seconds);
  Problem band = problem_;
  int top = 0;
  if (reference.rows < height) {
    // Rows whose masks lie inside the picture from top to bottom meet its border only left and
    // right.
    band.height = reference.rows + problem_.mask.height - 1;
    if (reference.rows < 1 || band.height > problem_.height) return {};
    top = (problem_.height - band.height) / 2;
    reference.offset = band.lead_y();
    reference.first = top + reference.offset;
  }
  if (!strategy.refusal(band).empty()) return {};
  reference.image = Image(band.out_width(), band.out_height(), band.channels, band.depth);
  strategy.prepare(band, DeviceKind::cpu, {.threads = setup_.options.request.threads})
      ->run(picture_.part(0, top, band.width, band.height).view(), reference.image.view());
  return reference;
}

const Crop::Reference& Crop::reference(std::string_view name, Family family) {
  const auto [known, is_new] = references_.try_emplace(name);
  const Strategy* const strategy = setup_.machine.find(name);
  if (is_new && strategy) known->second = make_reference(*strategy, family);
  return known->second;
}

Accuracy Crop::judge(const Image& result, Family family) {
  if (truth_.empty()) {
    check_ = places_to_check(problem_);
    truth_ = true_results(problem_, in(), check_.places, setup_.options.request.threads);
    unit_ = unit_of(problem_, in());
  }
  const Distance distance = distance_from(truth_, problem_, result.view(), check_.places, unit_);
  Accuracy accuracy;
  accuracy.largest = distance.largest;
  accuracy.samples = distance.samples;
  accuracy.of = std::size_t(outputs());
  accuracy.rows = check_.rows;
  accuracy.bound = error_bound(problem_, in(), family);
  const auto differing_from = [&](const Reference& other) -> std::optional<double> {
    if (other.image.empty()) return {};
    return share_that_differs(result, other.first, other.image, other.offset, other.rows);
  };
  const Reference& cpu = reference(kReference, Family::direct);
  accuracy.differing = differing_from(cpu);
  if (cpu.rows < problem_.out_height()) accuracy.rows_compared = cpu.rows;
  if (family == Family::separable)
    accuracy.differing_from_family =
        differing_from(reference(kSeparableReference, Family::separable));
  return accuracy;
}

Bench::Bench(const Setup& setup) : Setup(setup) {
  Problem crop = problem;
  const bool valid = problem.mode == Mode::valid;
  for (const int side : kSides) {
    crop.width = std::min(problem.width, side + (valid ? problem.mask.width - 1 : 0));
    crop.height = std::min(problem.height, side + (valid ? problem.mask.height - 1 : 0));
    if (crop.width == problem.width && crop.height == problem.height) break;
    sizes_.push_back(crop);
  }
  sizes_.push_back(problem);
}

Crop& Bench::crop(const Problem& size) {
  auto& crop = crops_[{size.width, size.height}];
  if (!crop) crop = std::make_unique<Crop>(*this, size);
  return *crop;
}

}  // namespace convfilt
