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
#include "src/filter/bands.hpp"
#include "src/filter/mask.hpp"
#include "src/mask/number.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

constexpr int kAlpha = 3;  // the channel

/// Makes each number the one that `pick` takes of itself and those up to 2 * reach pixels behind
/// it, in a few passes over the row.
template <class Pick>
void pick_in_windows(std::vector<float>& numbers, int channels, int reach, const Pick& pick) {
  const auto pass = [&](int step) {
    const std::size_t distance = std::size_t(step) * std::size_t(channels);
    for (std::size_t i = 0; i + distance < numbers.size(); ++i)
      numbers[i] = pick(numbers[i], numbers[i + distance]);
  };
  int span = 1;  // pixels that a number stands for
  for (; 2 * span <= 2 * reach + 1; span *= 2) pass(span);
  pass(2 * reach + 1 - span);
}

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
    pick_in_windows(least, in.channels, reach, [](float a, float b) { return std::min(a, b); });
    pick_in_windows(most, in.channels, reach, [](float a, float b) { return std::max(a, b); });
  }
};

class SharpenWork final : public Work {
 public:
  SharpenWork(const Shape& in, std::unique_ptr<Work> blur, const SharpenOptions& options,
              double threshold, int threads)
      : Work(*blur),
        blur_(std::move(blur)),
        options_(options),
        threshold_(threshold),
        threads_(is_whole() ? threads : 1) {
    this->in = in;
    out.depth = in.depth;
  }

  Needs needs(int rows) const override {
    Needs needs = blur_->needs(rows);
    const int rows_in = is_whole() ? in.height : rows + window.height;
    needs.buffers += bytes_of({in.width, rows_in, in.channels, Depth::f32}) +
                     bytes_of({out.width, rows, in.channels, Depth::f32});
    return needs;
  }

  void finish() const override { blur_->finish(); }

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<SharpenWorker>(*this);
  }

 private:
  class SharpenWorker final : public Worker {
   public:
    explicit SharpenWorker(const SharpenWork& work)
        : work_(work), blur_(work.blur_->make_worker()) {}

    void push(BandView<const std::byte> in, BandView<std::byte> out) override {
      if (blurred_.width() != out.width || blurred_.height() != out.height) {
        blurred_ = {};
        blurred_ = Image(out.width, out.height, out.channels, Depth::f32);
      }
      with_depth(work_.in.depth, [&]<class T>(TypeTag<T>) {
        const auto enter = [&](const std::byte* row, std::byte* floats) {
          to_floats(reinterpret_cast<const T*>(row), in.width, reinterpret_cast<float*>(floats));
        };
        blur_->push(
            converted(work_, in, out, work_.threads_, in.channels, Depth::f32, floats_, enter),
            {blurred_.view(), out.top});
        for_rows(out, work_.threads_, [&](int y) {
          const int at = out.top + y + work_.offset_y;
          static thread_local Limits limits;
          const bool limited = work_.options_.halo_limit.has_value();
          if (limited) limits.take<T>(in, at, work_.in.height, work_.options_.reach);
          sharpen(row_of<T>(in, at - in.top), row_of<float>(std::as_const(blurred_).view(), y),
                  limited ? &limits : nullptr, out.width, row_of<T>(out, y));
        });
      });
    }

   private:
    /// The blur takes floats whose alpha is from 0 to 1.
    template <class T>
    void to_floats(const T* from, int width, float* to) const {
      const std::ptrdiff_t samples = std::ptrdiff_t(width) * work_.in.channels;
      std::copy_n(from, samples, to);
      if (work_.in.channels <= kAlpha) return;
      const float full = float(full_range(work_.in.depth));
      for (std::ptrdiff_t i = kAlpha; i < samples; i += kAlpha + 1) to[i] /= full;
    }

    /// A row of the result; `limits` is null where nothing limits it.
    template <class T>
    void sharpen(const T* from, const float* blurred, const Limits* limits, int width,
                 T* to) const {
      const int channels = work_.in.channels;
      const double amount = work_.options_.amount, threshold = work_.threshold_;
      const double share = work_.options_.halo_limit.value_or(0) / 100;
      const std::ptrdiff_t left = std::ptrdiff_t(work_.offset_x) * channels;
      from += left;
      for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(width) * channels; ++i) {
        const double difference = double(from[i]) - double(blurred[i]);
        const double beyond = std::max(std::abs(difference) - threshold, 0.0);
        double value = double(from[i]) + std::copysign(amount * beyond, difference);
        if (limits) {
          const double least = limits->least[std::size_t(left + i)];
          const double most = limits->most[std::size_t(left + i)];
          const double more = share * (most - least);
          value = std::min(std::max(value, least - more), most + more);
        }
        to[i] = to_sample<T>(value);
      }
      if (channels <= kAlpha) return;
      for (int x = 0; x < width; ++x, from += channels, to += channels) {
        const bool is_transparent = !(from[kAlpha] > 0);
        std::copy_n(from + (is_transparent ? 0 : kAlpha), is_transparent ? channels : 1,
                    to + (is_transparent ? 0 : kAlpha));
      }
    }

    const SharpenWork& work_;
    std::unique_ptr<Worker> blur_;
    Image floats_{}, blurred_{};  // kept for the next band
  };

  std::unique_ptr<Work> blur_;
  SharpenOptions options_;
  double threshold_;  ///< in the samples' units
  int threads_;
};

class SharpenFilter final : public Filter {
 public:
  SharpenFilter(Mask blur, const SharpenOptions& options)
      : blur_(std::move(blur)), options_(options) {}

  std::string text() const override {
    std::string text =
        "sharpen " + print_number(options_.amount) + " beyond " + print_number(options_.threshold);
    if (options_.halo_limit)
      text += ", halo limit " + print_number(*options_.halo_limit) + " within " +
              std::to_string(options_.reach);
    return text + ", by " + text_of(blur_);
  }
  std::vector<Mask> masks() const override { return {blur_}; }
  bool keeps_lightness() const override { return true; }

  std::unique_ptr<Work> begin(const Shape& in, const Place& place) const override {
    const ConvolverOptions& options = place.convolver.options();
    if (options.mode == Mode::full)
      throw UsageError(
          "a threshold and a halo limit sharpen the picture's own pixels; leave out --mode=full");
    const double range = full_range(place.picture_depth) * place.unit;
    return std::make_unique<SharpenWork>(
        in, mask_filter(blur_)->begin({in.width, in.height, in.channels, Depth::f32}, place),
        options_, options_.threshold / 255 * range, options.request.threads);
  }

  std::string resident_refuses() const override {
    return "--threshold and --halo-limit are computed on the CPU";
  }
  ResidentPlan resident(const Shape&, Convolver&) const override {
    throw UsageError(resident_refuses());
  }

 private:
  Mask blur_;
  SharpenOptions options_;
};

}  // namespace

FilterPtr sharpen_filter(Mask blur, const SharpenOptions& options) {
  return std::make_shared<SharpenFilter>(std::move(blur), options);
}

}  // namespace convfilt
