#include "arena.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "errors.hpp"
#include "estimate.hpp"
#include "promise.hpp"

namespace convfilt {
namespace {

/// Result sides of pieces, in pixels. Multiples of 32, the teaching kernels' tiles.
constexpr int kSides[] = {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096};

/// Seconds that a comparison with the bytes of `cpu` may take.
constexpr double kReferencePatience = 20;

/// Whose bytes on the CPU others must have: all of the direct family, and of the separable one.
constexpr std::string_view kReference = "cpu", kSeparableReference = "separable";

double share_that_differs(const Image& a, const Image& b) {
  const std::size_t size = size_of(a.depth());
  const int samples = a.width() * a.channels();
  std::size_t differing = 0;
  for (int y = 0; y < a.height(); ++y) {
    const std::byte *one = a.view().row(y), *other = b.view().row(y);
    if (std::memcmp(one, other, std::size_t(samples) * size) == 0) continue;
    for (int x = 0; x < samples; ++x)
      differing += std::memcmp(one + x * size, other + x * size, size) != 0;
  }
  return double(differing) / (double(samples) * a.height());
}

}  // namespace

Image Arena::blank_result() const {
  return Image(problem_.out_width(), problem_.out_height(), problem_.channels, problem_.depth);
}

double Arena::outputs() const {
  return double(problem_.out_width()) * problem_.out_height() * problem_.channels;
}

std::size_t Arena::bytes() const {
  const double samples = double(problem_.width) * problem_.height * problem_.channels + outputs();
  return std::size_t(samples) * size_of(problem_.depth) / 2;
}

const Image* Arena::reference(std::string_view name, Family family) {
  const auto [known, is_new] = references_.try_emplace(name);
  Image& reference = known->second;
  if (is_new) {
    const double seconds =
        cpu_seconds(work_of(problem_, family), useful_threads(threads_, machine_));
    for (const Strategy* strategy : machine_.strategies) {
      if (strategy->name != name || seconds > kReferencePatience ||
          !strategy->refusal(problem_).empty())
        continue;
      reference = blank_result();
      PlanOptions how;
      how.threads = threads_;
      strategy->prepare(problem_, DeviceKind::cpu, how)->run(in(), reference.view());
    }
  }
  return reference.empty() ? nullptr : &reference;
}

Accuracy Arena::judge(const Image& result, Family family) {
  if (!has_truth_) {
    check_ = places_to_check(problem_);
    truth_ = true_results(problem_, in(), check_.places, threads_);
    unit_ = unit_of(problem_, in());
    has_truth_ = true;
  }
  const Distance distance = distance_from(truth_, problem_, result.view(), check_.places, unit_);
  Accuracy accuracy;
  accuracy.largest = distance.largest;
  accuracy.samples = distance.samples;
  accuracy.of = std::size_t(outputs());
  accuracy.rows = check_.rows;
  accuracy.promised = promised_error(problem_, in(), family);
  if (const Image* other = reference(kReference, Family::direct))
    accuracy.differing = share_that_differs(result, *other);
  if (family != Family::separable) return accuracy;
  if (const Image* other = reference(kSeparableReference, Family::separable))
    accuracy.differing_from_family = share_that_differs(result, *other);
  return accuracy;
}

std::vector<PieceSize> Arenas::sizes() const {
  const bool valid = problem_.mode == Mode::valid;
  std::vector<PieceSize> sizes;
  const auto add = [&](int width, int height) {
    Problem piece;  // without the mask's weights, which may be many
    piece.width = width;
    piece.height = height;
    piece.mode = problem_.mode;
    piece.mask.width = problem_.mask.width;
    piece.mask.height = problem_.mask.height;
    sizes.push_back(
        {width, height, double(piece.out_width()) * piece.out_height() * problem_.channels});
  };
  for (const int side : kSides) {
    const int width = std::min(problem_.width, side + (valid ? problem_.mask.width - 1 : 0));
    const int height = std::min(problem_.height, side + (valid ? problem_.mask.height - 1 : 0));
    if (width == problem_.width && height == problem_.height) break;
    add(width, height);
  }
  add(problem_.width, problem_.height);
  return sizes;
}

Arena& Arenas::of(const PieceSize& size) {
  for (const auto& arena : arenas_)
    if (arena->problem().width == size.width && arena->problem().height == size.height)
      return *arena;
  const cv::Rect middle((problem_.width - size.width) / 2, (problem_.height - size.height) / 2,
                        size.width, size.height);
  Problem piece = problem_;
  piece.width = size.width;
  piece.height = size.height;
  arenas_.push_back(
      std::make_unique<Arena>(std::move(piece), Image(picture_.mat()(middle)), threads_, machine_));
  return *arenas_.back();
}

}  // namespace convfilt
