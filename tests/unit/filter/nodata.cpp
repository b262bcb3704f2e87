/// Samples without data: against sums over the rest in double precision, sample by sample; and
/// against the filter itself on a picture that is filled as nodata.hpp says.
#include "src/filter/nodata.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "src/filter/chain.hpp"
#include "src/filter/edge.hpp"
#include "src/filter/mask.hpp"
#include "src/filter/sharpen.hpp"
#include "src/mask/make.hpp"
#include "src/mask/text.hpp"
#include "src/picture/sample_type.hpp"
#include "tests/support/filtered.hpp"
#include "tests/support/images.hpp"

using namespace convfilt;
using namespace convfilt::testing;
using image_tests::for_samples;
using image_tests::put;

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

template <class T>
T beside(T value) {
  if constexpr (std::is_integral_v<T>)
    return T(value == std::numeric_limits<T>::max() ? value - 1 : value + 1);
  else
    return value == 0 ? T(0x1p-100) : std::nextafter(value, HUGE_VALF);
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
          const double own_result = sample(plain, x, y, c);
          wrong += result != (own_result == nodata ? double(beside(T(nodata))) : own_result);
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

/// Whether the pixel lacks data in that channel, or in all where luma is taken.
bool lacks_at(const Image& image, int x, int y, int c, bool by_pixel, double nodata) {
  if (!by_pixel) return lacks(sample(image, x, y, c), nodata);
  for (c = 0; c < image.channels(); ++c)
    if (!lacks(sample(image, x, y, c), nodata)) return false;
  return true;
}

/// Each sample without data replaced by the nearest with data, or 0.
Image filled(const Image& in, int reach, bool wraps, bool by_pixel, double nodata) {
  Image result = Image::like(in);
  const Border border = wraps ? Border::wrap : Border::constant;
  for_samples(in, [&](int x, int y, int c) {
    put(result, x, y, c, sample(in, x, y, c));
    if (!lacks_at(in, x, y, c, by_pixel, nodata)) return;
    int best = std::numeric_limits<int>::max();
    double value = 0;
    for (int dy = -reach; dy <= reach; ++dy)
      for (int dx = -reach; dx <= reach; ++dx) {
        const int v = at_border(y + dy, in.height(), border),
                  u = at_border(x + dx, in.width(), border);
        if (dx * dx + dy * dy >= best || u < 0 || v < 0 || lacks_at(in, u, v, c, by_pixel, nodata))
          continue;
        best = dx * dx + dy * dy;
        value = sample(in, u, v, c);
      }
    put(result, x, y, c, value);
  });
  return result;
}

/// Puts samples without data into the result, and takes their value from all others.
void put_back(const Image& in, Image& out, const Work& work, bool by_pixel, double nodata) {
  for_samples(out, [&](int x, int y, int c) {
    const int u = x + work.offset_x, v = y + work.offset_y;
    const bool is_inside = u >= 0 && v >= 0 && u < in.width() && v < in.height();
    if (is_inside && lacks_at(in, u, v, by_pixel ? 0 : c, by_pixel, nodata))
      put(out, x, y, c, nodata);
    else if (sample(out, x, y, c) == nodata)
      put(out, x, y, c,
          with_depth(out.depth(), [&]<class T>(TypeTag<T>) { return double(beside(T(nodata))); }));
  });
}

/// The furthest that the work's window reaches to any side.
int reach_of(const Work& work) {
  const Window& window = work.window;
  const int left = window.lead_x + work.offset_x, above = window.lead_y + work.offset_y;
  return std::max({left, window.width - 1 - left, above, window.height - 1 - above});
}

Image expected(const Image& in, const Filter& plain, bool by_pixel, double nodata,
               Convolver& convolver) {
  const auto work = begin(plain, shape_of(in), convolver);
  const bool wraps = convolver.options().border == Border::wrap;
  Image out =
      filtered_whole(filled(in, reach_of(*work), wraps, by_pixel, nodata), plain, convolver);
  put_back(in, out, *work, by_pixel, nodata);
  return out;
}

/// As the program filters it, as a whole and in bands of 8 rows: same bytes.
void check_all_ways(const Image& in, const Filter& filter, Convolver& convolver,
                    const Image& wanted) {
  CHECK(same(filtered_whole(in, filter, convolver), wanted));
  const auto work = begin(filter, shape_of(in), convolver);
  CHECK(!work->two_levels);
  if (const Work* bands = work->is_whole() ? work->in_bands() : work.get()) {
    Image out = filtered_in_bands(in, *bands, 8);
    if (work->in_bands()) work->complete(out.view());
    CHECK(same(out, wanted));
  }
}

struct Kind {
  Depth depth;
  double nodata;
};
constexpr Kind kKinds[] = {{Depth::u8, 0},
                           {Depth::u8, 255},
                           {Depth::u8, 64},
                           {Depth::u16, 65535},
                           {Depth::f32, -9999},
                           {Depth::f32, 0},
                           {Depth::f32, -3.4028234663852886e38},
                           {Depth::f32, kNan}};
constexpr Border kThree[] = {Border::replicate, Border::reflect101, Border::wrap};

/// A picture with small gaps, a pixel without data, and a gap that no mask reaches across.
Image with_all_gaps(int channels, const Kind& kind) {
  Image image = with_gaps(41, 44, channels, kind.depth, kind.nodata, 0.15);
  for (int c = 0; c < channels; ++c) {
    for (int y = 3; y < 20; ++y)
      for (int x = 0; x < 17; ++x) put(image, x, y, c, kind.nodata);
    for (int y = 30; y < 33; ++y) put(image, 30, y, c, kind.nodata);
  }
  return image;
}

FilterPtr edges_with(EdgeMethod method, EdgeOptions options,
                     EdgeDirection direction = EdgeDirection::both) {
  options.kind = kind_of(method);
  options.direction = direction;
  return edge_filter(plain_masks(method, direction), options);
}

}  // namespace

TEST_CASE(
    "where there is more than one mask, samples without data count as the nearest with data") {
  EdgeOptions luma, colour, thin, black;
  colour.color = true;
  thin.thin = black.thin = true;
  black.threshold = 90;
  const MaskSet set = parse_masks("1 0 -1\n---\n1 2 1\n0 0 1\nanchor: 0,1\n", "two");
  SharpenOptions sharpen;
  sharpen.threshold = 3;
  sharpen.halo_limit = 10;
  sharpen.reach = 2;
  const struct {
    FilterPtr filter;
    bool of_luma;
  } filters[] = {
      {edges_with(EdgeMethod::sobel, luma), true},
      {edges_with(EdgeMethod::sobel, colour), false},
      {edges_with(EdgeMethod::scharr, thin), true},
      {edges_with(EdgeMethod::kirsch, black), true},
      {edges_with(EdgeMethod::log, thin), true},
      {edges_with(EdgeMethod::sobel, luma, EdgeDirection::hue), true},
      {edges_with(EdgeMethod::sobel, colour, EdgeDirection::angle), false},
      {combined_filter(set), false},
      {sharpen_filter(gaussian_mask(1), sharpen), false},
  };
  for (const auto& [filter, of_luma] : filters)
    for (const Border border : kThree)
      for (const int channels : {1, 3})
        for (const Kind& kind : kKinds) {
          CAPTURE(filter->text());
          CAPTURE(int(border));
          CAPTURE(channels);
          CAPTURE(kind.nodata);
          Convolver convolver(image_tests::on_cpu(border));
          const Image in = with_all_gaps(channels, kind);
          check_all_ways(in, *without_nodata(filter, {kind.nodata}), convolver,
                         expected(in, *filter, of_luma, kind.nodata, convolver));
        }
}

TEST_CASE("pixels beside the picture have data, and a border without data counts as 0") {
  const FilterPtr edges = edges_with(EdgeMethod::sobel, {});
  const Image in = with_all_gaps(1, {Depth::u8, 9});
  for (const Mode mode : {Mode::valid, Mode::full}) {
    ConvolverOptions options = image_tests::on_cpu(Border::constant);
    options.mode = mode;
    Convolver convolver(options);
    check_all_ways(in, *without_nodata(edges, {9}), convolver,
                   expected(in, *edges, true, 9, convolver));
  }
  ConvolverOptions options = image_tests::on_cpu(Border::constant);
  Convolver black(options);
  options.border_value = 9;
  Convolver convolver(options);
  check_all_ways(in, *without_nodata(edges, {9}), convolver, expected(in, *edges, true, 9, black));
}

TEST_CASE("edges are not followed through pixels without data") {
  for (const EdgeDirection direction : {EdgeDirection::both, EdgeDirection::angle})
    for (const Border border : kThree)
      for (const int channels : {1, 3})
        for (const Kind& kind : kKinds) {
          CAPTURE(int(direction));
          CAPTURE(int(border));
          CAPTURE(channels);
          CAPTURE(kind.nodata);
          Convolver convolver(image_tests::on_cpu(border));
          Image in = with_all_gaps(channels, kind);
          const double unit = full_range(kind.depth) / 255;
          for_samples(in, [&](int x, int y, int c) {
            const double value = sample(in, x, y, c);
            if (kind.depth != Depth::u8 && !lacks(value, kind.nodata))
              put(in, x, y, c, value * unit);
          });
          EdgeOptions options;
          options.thin = true;
          options.threshold = 150;
          options.low = 60;
          const FilterPtr canny = edges_with(EdgeMethod::sobel, options, direction);
          const auto marks_from = [&](double threshold, EdgeDirection shown) {
            EdgeOptions marks;
            marks.thin = true;
            marks.threshold = threshold;
            const FilterPtr filter = edges_with(EdgeMethod::sobel, marks, shown);
            const auto work = begin(*filter, shape_of(in), convolver);
            return filtered_whole(
                filled(in, reach_of(*work), border == Border::wrap, true, kind.nodata), *filter,
                convolver);
          };
          const Image low = marks_from(60, EdgeDirection::both),
                      high = marks_from(150, EdgeDirection::both);
          Image out = marks_from(60, direction);
          const auto has = [&](int x, int y) {
            return !lacks_at(in, x, y, 0, true, kind.nodata) && sample(low, x, y, 0) > 0;
          };
          std::vector<bool> is_edge(std::size_t(in.width() * in.height()));
          std::deque<std::pair<int, int>> found;
          const auto take = [&](int x, int y) {
            if (x < 0 || y < 0 || x >= in.width() || y >= in.height() || !has(x, y)) return;
            auto seen = is_edge[std::size_t(y * in.width() + x)];
            if (!seen) found.emplace_back(x, y);
            seen = true;
          };
          for_samples(high, [&](int x, int y, int c) {
            if (sample(high, x, y, c) > 0) take(x, y);
          });
          while (!found.empty()) {
            const auto [x, y] = found.front();
            found.pop_front();
            for (int k = 0; k < 9; ++k) take(x + k % 3 - 1, y + k / 3 - 1);
          }
          for_samples(out, [&](int x, int y, int c) {
            if (!is_edge[std::size_t(y * in.width() + x)]) put(out, x, y, c, 0);
          });
          put_back(in, out, *begin(*canny, shape_of(in), convolver), true, kind.nodata);
          check_all_ways(in, *without_nodata(canny, {kind.nodata}), convolver, out);
        }
}

TEST_CASE("each step of a chain leaves them out, in floats") {
  EdgeOptions thin, canny;
  thin.thin = canny.thin = true;
  canny.threshold = 40;
  canny.low = 10;
  const FilterPtr blur = mask_filter(box_mask(3)), edges = edges_with(EdgeMethod::sobel, {}),
                  last[] = {edges, edges_with(EdgeMethod::scharr, thin), mask_filter(box_mask(5)),
                            edges_with(EdgeMethod::sobel, canny)};
  for (const FilterPtr& step : last)
    for (const Border border : kThree)
      for (const int channels : {1, 3})
        for (const Kind& kind : kKinds) {
          CAPTURE(step->text());
          CAPTURE(int(border));
          CAPTURE(channels);
          CAPTURE(kind.nodata);
          Convolver convolver(image_tests::on_cpu(border));
          const Image in = with_all_gaps(channels, kind);
          const FilterPtr steps[] = {blur, edges, step};
          Image between(in.width(), in.height(), channels, Depth::f32);
          for_samples(in, [&](int x, int y, int c) { put(between, x, y, c, sample(in, x, y, c)); });
          for (const FilterPtr& each : steps) {
            const auto work = without_nodata(each, {kind.nodata})
                                  ->begin(shape_of(between), {convolver, 0, 1, kind.depth, nullptr,
                                                              "the test filters it so"});
            Image out(work->out.width, work->out.height, work->out.channels, Depth::f32);
            work->make_worker()->push(std::as_const(between).view(), out.view());
            between = std::move(out);
          }
          Image out(in.width(), in.height(), between.channels(), kind.depth);
          for_samples(out, [&](int x, int y, int c) {
            with_depth(kind.depth, [&]<class T>(TypeTag<T>) {
              put(out, x, y, c, double(to_sample<T>(sample(between, x, y, c))));
            });
          });
          const auto chained = without_nodata(chain({blur, edges, step}), {kind.nodata});
          put_back(in, out, *begin(*chained, shape_of(in), convolver), channels == 3, kind.nodata);
          check_all_ways(in, *chained, convolver, out);
        }
}

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
  const Image alpha(9, 9, 4, Depth::u8);
  for (const FilterPtr& filter : {mask_filter(box_mask(3)), edges_with(EdgeMethod::sobel, {})})
    CHECK_THROWS_WITH_AS(filtered(alpha, *without_nodata(filter, {0}), convolver),
                         doctest::Contains("--nodata: alpha tells"), UsageError);
}
