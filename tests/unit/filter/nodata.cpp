/// Samples without data, against sums over the rest in double precision, sample by sample.
#include "src/filter/nodata.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "src/filter/edge.hpp"
#include "src/filter/mask.hpp"
#include "src/mask/make.hpp"
#include "src/mask/text.hpp"
#include "src/picture/sample_type.hpp"
#include "tests/support/filtered.hpp"
#include "tests/support/images.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A picture of noise, of which a share has no data.
Image with_gaps(int width, int height, int channels, Depth depth, double nodata, double share) {
  Image image(width, height, channels, depth);
  std::mt19937 random(unsigned(width * 31 + height * 7 + channels));
  std::uniform_real_distribution<double> any(0, 1);
  with_depth(depth, [&]<class T>(TypeTag<T>) {
    for (int y = 0; y < height; ++y)
      for (int i = 0; i < width * channels; ++i) {
        // One half of the picture is whole.
        const bool gap = y >= height / 2 && any(random) < share;
        T value = T(1 + any(random) * 200);
        if (double(value) == nodata) value = T(value + 1);
        reinterpret_cast<T*>(image.view().row(y))[i] = gap ? T(nodata) : value;
      }
  });
  return image;
}

bool lacks(double sample, double nodata) {
  return std::isnan(nodata) ? std::isnan(sample) : sample == nodata;
}

int at_border(int i, int size, Border border) {
  if (border == Border::wrap) return (i % size + size) % size;
  if (border == Border::replicate) return std::clamp(i, 0, size - 1);
  while (border == Border::reflect101 && (i < 0 || i >= size)) i = i < 0 ? -i : 2 * (size - 1) - i;
  while (border == Border::reflect && (i < 0 || i >= size)) i = i < 0 ? -i - 1 : 2 * size - 1 - i;
  return i >= 0 && i < size ? i : -1;
}

/// Compares each sample of the result with the sum over samples that have data.
template <class T>
void check_samples(const Image& in, const Image& out, const Image& plain, const Mask& mask,
                   Border border, double border_value, double nodata) {
  const int channels = in.channels();
  const auto sample = [&](const Image& image, int x, int y, int c) {
    return double(reinterpret_cast<const T*>(image.view().row(y))[x * channels + c]);
  };
  double all = 0, size = 0;
  for (const double weight : mask.weights) {
    all += weight / mask.divisor;
    size += std::abs(weight / mask.divisor);
  }
  int wrong = 0;
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x)
      for (int c = 0; c < channels; ++c) {
        const double own = sample(in, x, y, c), result = sample(out, x, y, c);
        double sum = 0, share = 0, largest = std::abs(border_value);
        bool has_gap = false;
        for (int j = 0; j < mask.height; ++j)
          for (int i = 0; i < mask.width; ++i) {
            const double weight = mask.weights[std::size_t(j * mask.width + i)] / mask.divisor;
            const int v = at_border(y + j - mask.anchor_y, in.height(), border),
                      u = at_border(x + i - mask.anchor_x, in.width(), border);
            const double value = u < 0 || v < 0 ? border_value : sample(in, u, v, c);
            if (lacks(value, nodata)) {
              has_gap |= weight != 0;
              continue;
            }
            sum += weight * value;
            share += weight;
            largest = std::max(largest, std::abs(value));
          }
        if (lacks(own, nodata)) {
          wrong += !lacks(result, nodata);
          continue;
        }
        if (!has_gap) {
          wrong += result != sample(plain, x, y, c);
          continue;
        }
        const bool is_zero = std::abs(all) < 1e-9 * size;
        if (!is_zero && std::abs(share) < 0.01 * size) continue;
        const double exact = (is_zero ? sum - own * share : sum * all / share) + mask.offset;
        const double bound = 1e-5 * size * largest * (is_zero ? 1 : std::abs(all / share));
        const double rounded = double(to_sample<T>(exact));
        // Where a tie is near, it may be rounded to either side.
        wrong += std::abs(result - (std::is_floating_point_v<T> ? exact : rounded)) >
                 (std::is_floating_point_v<T> ? bound : 1);
      }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("samples without data neither count nor change") {
  Mask difference = parse_mask("0 -1 0\n-1 4 -1\n0 -1 0\noffset: 100\n", "difference");
  Mask uneven = parse_mask("1 2 3 4\n5 6 7 8\nscale: 72\nanchor: 1,0\n", "uneven");
  for (const Mask& mask : {box_mask(3), box_mask(7), difference, uneven})
    for (const Border border :
         {Border::replicate, Border::constant, Border::wrap, Border::reflect, Border::reflect101})
      for (const int channels : {1, 3}) {
        const auto check = [&]<class T>(T, Depth depth, double nodata, double border_value) {
          CAPTURE(mask.name);
          CAPTURE(int(border));
          CAPTURE(channels);
          CAPTURE(nodata);
          ConvolverOptions options;
          options.request.device = "cpu";
          options.border = border;
          options.border_value = border == Border::constant ? border_value : 0;
          Convolver convolver(options);
          const Image in = with_gaps(37, 40, channels, depth, nodata, 0.2);
          const FilterPtr plain = mask_filter(mask);
          const FilterPtr filter = without_nodata(plain, {nodata});
          const Image out = filtered(in, *filter, convolver);
          check_samples<T>(in, out, filtered(in, *plain, convolver), mask, border,
                           options.border_value, nodata);
          CHECK(same(out, filtered_whole(in, *filter, convolver)));
          const auto work = begin(*filter, shape_of(in), convolver);
          CHECK(work->knows_nodata);
          CHECK(same(out, filtered_in_bands(in, *work, 8)));
        };
        check(std::uint8_t{}, Depth::u8, 0, 7);
        check(std::uint8_t{}, Depth::u8, 255, 255);
        check(std::uint16_t{}, Depth::u16, 65535, 9);
        check(float{}, Depth::f32, -9999, 3);
        check(float{}, Depth::f32, kNan, 3);
      }
}

TEST_CASE("a picture without gaps stays what the filter makes, whatever the value") {
  ConvolverOptions options;
  options.request.device = "cpu";
  Convolver convolver(options);
  const Image in = with_gaps(50, 30, 3, Depth::u8, 0, 0);
  const FilterPtr plain = mask_filter(gaussian_mask(2));
  for (const double nodata : {0.0, -1.0, 0.5, 256.0, 1e30, kNan})
    CHECK(same(filtered(in, *plain, convolver),
               filtered(in, *without_nodata(plain, {nodata}), convolver)));
}

TEST_CASE("the value is that of the file's numbers, or the one that it names") {
  ConvolverOptions options;
  options.request.device = "cpu";
  Convolver convolver(options);
  Metadata metadata;
  metadata.stored.scale = 1 / 32767.0;  // 16 bits with a sign
  Image in(3, 1, 1, Depth::f32);
  const int numbers[] = {1000, -9999, 4000};
  auto* const samples = reinterpret_cast<float*>(in.view().row(0));
  for (int i = 0; i < 3; ++i) samples[i] = float(numbers[i] * metadata.stored.scale);
  const FilterPtr box = mask_filter(box_mask(3));
  const Image out = filtered(in, *without_nodata(box, {-9999}), convolver, &metadata);
  const auto* const results = reinterpret_cast<const float*>(out.view().row(0));
  for (int i = 0; i < 3; ++i) CHECK(results[i] == doctest::Approx(samples[i]));
  CHECK(results[1] == samples[1]);
  // A file that names none, and a value that no sample has.
  const Image plain = filtered(in, *box, convolver, &metadata);
  CHECK(same(filtered(in, *without_nodata(box, {}), convolver, &metadata), plain));
  CHECK(begin(*without_nodata(box, {}), shape_of(in), convolver, &metadata)->note != "");
}

TEST_CASE("what has no place without data is refused") {
  CHECK(nodata_in("-9999") == Nodata{-9999});
  CHECK(nodata_in("nan") == Nodata{kNan});
  CHECK(nodata_in("auto") == Nodata{});
  for (const char* word : {"", "x", "1,2", "12a", "0x10"})
    CHECK_THROWS_AS(nodata_in(word), UsageError);
  ConvolverOptions options;
  options.request.device = "cpu";
  Convolver convolver(options);
  const Image grey = with_gaps(9, 9, 1, Depth::u8, 0, 0.2), alpha(9, 9, 4, Depth::u8);
  const FilterPtr box = mask_filter(box_mask(3));
  CHECK_THROWS_WITH_AS(filtered(alpha, *without_nodata(box, {0}), convolver),
                       doctest::Contains("--nodata: alpha tells"), UsageError);
  CHECK_THROWS_WITH_AS(
      filtered(grey, *without_nodata(channel_edges(plain_masks(EdgeMethod::sobel)), {0}),
               convolver),
      doctest::Contains("only filters of one mask"), UsageError);
}
