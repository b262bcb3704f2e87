#include "src/filter/sharpen.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/filter/mask.hpp"
#include "src/filter/outer.hpp"
#include "src/mask/number.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

constexpr int kAlpha = 3;  // the channel

/// The least and the most of the samples around each of a row's pixels.
struct Limits {
  std::vector<float> least, most;

  /// For row y of the picture, of which `in` has the rows around.
  template <class T>
  void take(BandView<const std::byte> in, int y, int picture_height, int reach) {
    // Pixels beside the picture change neither.
    const std::size_t margin = std::size_t(reach) * std::size_t(in.channels);
    const std::size_t samples = std::size_t(in.width) * std::size_t(in.channels);
    least.assign(samples + 2 * margin, std::numeric_limits<float>::infinity());
    most.assign(samples + 2 * margin, -std::numeric_limits<float>::infinity());
    for (int v = std::max(0, y - reach); v <= std::min(picture_height - 1, y + reach); ++v) {
      const T* row = row_of<T>(in, v - in.top);
      for (std::size_t i = 0; i < samples; ++i) {
        least[margin + i] = std::min(least[margin + i], float(row[i]));
        most[margin + i] = std::max(most[margin + i], float(row[i]));
      }
    }
    // Each covers as many columns as the one that it takes in, so their number doubles; the last
    // time the two overlap.
    const int columns = 2 * reach + 1;
    for (int covered = 1; covered < columns;) {
      const int more = std::min(covered, columns - covered);
      const std::size_t distance = std::size_t(more) * std::size_t(in.channels);
      for (std::size_t i = 0; i + distance < least.size(); ++i) {
        least[i] = std::min(least[i], least[i + distance]);
        most[i] = std::max(most[i], most[i + distance]);
      }
      covered += more;
    }
  }
};

std::unique_ptr<Work> begin_sharpen(const Filter& blur, const Shape& in, const Place& place,
                                    const SharpenOptions& options) {
  if (place.convolver.options().mode == Mode::full)
    throw UsageError(
        "a threshold and a halo limit sharpen the picture's own pixels; leave out --mode=full");
  auto work = blur.begin({in.width, in.height, in.channels, Depth::f32}, place);
  const double threshold = options.threshold / 255 * full_range(place.picture_depth) * place.unit;
  const bool has_alpha = in.channels > kAlpha;
  const auto enter = [=](const auto* row, int width, float* floats) {
    enter_as_floats(in, row, width, floats);
  };
  const auto leave = [=, offset_x = work->offset_x]<class T>(const OuterRow<T>& row) {
    static thread_local std::vector<double> values;
    static thread_local Limits limits;
    const double amount = options.amount, share = options.halo_limit.value_or(0) / 100;
    const std::ptrdiff_t left = std::ptrdiff_t(offset_x) * in.channels;
    const T* from = row.from + left;
    values.resize(std::size_t(row.width) * std::size_t(in.channels));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double difference = double(from[i]) - double(row.response[i]);
      const double beyond = std::max(std::abs(difference) - threshold, 0.0);
      values[i] = double(from[i]) + std::copysign(amount * beyond, difference);
    }
    if (options.halo_limit) {
      limits.take<T>(row.in, row.y, in.height, options.reach);
      const float *least = limits.least.data() + left, *most = limits.most.data() + left;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double more = share * (double(most[i]) - double(least[i]));
        values[i] = std::min(std::max(values[i], least[i] - more), most[i] + more);
      }
    }
    T* to = row.to;
    const double* value = values.data();
    for (std::size_t i = 0, count = values.size(); i < count; ++i) to[i] = to_sample<T>(value[i]);
    for (int x = 0; has_alpha && x < row.width; ++x, from += in.channels, to += in.channels) {
      const int kept = from[kAlpha] > 0 ? kAlpha : 0;  // the first channel that stays
      std::copy(from + kept, from + in.channels, to + kept);
    }
  };
  return std::make_unique<OuterWork<decltype(enter), decltype(leave)>>(
      in, in.channels, place, std::move(work), enter, leave);
}

}  // namespace

FilterPtr sharpen_filter(Mask blur, const SharpenOptions& options) {
  std::string text =
      "sharpen " + print_number(options.amount) + " beyond " + print_number(options.threshold);
  if (options.halo_limit)
    text += ", halo limit " + print_number(*options.halo_limit) + " within " +
            std::to_string(options.reach);
  return std::make_shared<OuterFilter>(text + ", by a blur", mask_filter(std::move(blur)),
                                       [options](auto& inner, auto& in, auto& place) {
                                         return begin_sharpen(inner, in, place, options);
                                       });
}

}  // namespace convfilt
