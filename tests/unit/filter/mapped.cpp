/// Linear light, luma, regions and responses below 0, against what they say they are, pixel by
/// pixel.
#include "src/filter/mapped.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/filter/chain.hpp"
#include "src/mask/file.hpp"
#include "src/mask/make.hpp"
#include "src/picture/sample_type.hpp"
#include "src/picture/transfer_curve.hpp"
#include "tests/support/files/picture.hpp"
#include "tests/support/filtered.hpp"
#include "tests/support/images.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

Convolver on_the_cpu() {
  ConvolverOptions options;
  options.request.device = "cpu";
  return Convolver(options);
}

/// A mask that keeps lightness or not.
class OfLightness final : public Filter {
 public:
  OfLightness(const Mask& mask, bool keeps_lightness)
      : inner_(mask_filter(mask)), keeps_lightness_(keeps_lightness) {}
  std::string text() const override { return inner_->text(); }
  std::vector<Mask> masks() const override { return inner_->masks(); }
  bool keeps_lightness() const override { return keeps_lightness_; }
  std::unique_ptr<Work> begin(const Shape& in, const Place& place) const override {
    return inner_->begin(in, place);
  }
  ResidentPlan device_plan(const Shape&, const Place&, int) const override { return {}; }

 private:
  FilterPtr inner_;
  bool keeps_lightness_;
};

/// A filter that counts how often its work is finished.
class Finished final : public Filter {
 public:
  std::string text() const override { return "test"; }
  std::vector<Mask> masks() const override { return {box_mask(3)}; }
  bool keeps_lightness() const override { return true; }
  std::unique_ptr<Work> begin(const Shape& in, const Place& place) const override {
    return std::make_unique<Counting>(place.convolver.problem_of(in, box_mask(3), 0), times);
  }
  ResidentPlan device_plan(const Shape&, const Place&, int) const override { return {}; }
  mutable int times = 0;

 private:
  struct Counting final : Work {
    Counting(const Problem& problem, int& counted) : Work(problem, ""), times(counted) {}
    std::unique_ptr<Worker> make_worker() const override { return nullptr; }
    void finish() const override { ++times; }
    int& times;
  };
};

Image mapped(const Image& in, const Mapping& mapping, const Mask& mask,
             bool keeps_lightness = true) {
  const FilterPtr filter = mapped(std::make_shared<OfLightness>(mask, keeps_lightness), mapping);
  Convolver convolver = on_the_cpu();
  Image out = filtered(in, *filter, convolver);
  CHECK(same(out, filtered_whole(in, *filter, convolver)));
  return out;
}

/// An ICC profile whose curves of blue, green and red are powers.
Bytes profile_of_gammas(double blue, double green, double red) {
  Bytes bytes;
  const auto put = [&](std::uint32_t value, int size) {
    for (int i = size - 1; i >= 0; --i) bytes.push_back((unsigned char)(value >> (8 * i)));
  };
  const auto word = [&](const char* letters) { bytes.insert(bytes.end(), letters, letters + 4); };
  constexpr int kHeader = 128, kTags = 3, kCurve = 16;
  put(kHeader + 4 + 12 * kTags + kCurve * kTags, 4);
  word("lcms");
  put(0x02100000, 4);
  for (const char* letters : {"mntr", "RGB ", "XYZ "}) word(letters);
  bytes.resize(36);
  word("acsp");
  bytes.resize(68);
  for (const std::uint32_t white : {0xf6d6u, 0x10000u, 0xd32du}) put(white, 4);
  bytes.resize(kHeader);
  put(kTags, 4);
  for (int tag = 0; tag < kTags; ++tag) {
    word(std::array{"bTRC", "gTRC", "rTRC"}[std::size_t(tag)]);
    put(std::uint32_t(kHeader + 4 + 12 * kTags + kCurve * tag), 4);
    put(14, 4);
  }
  for (const double gamma : {blue, green, red}) {
    word("curv");
    put(0, 4);
    put(1, 4);
    put(std::uint32_t(gamma * 256), 2);
    put(0, 2);
  }
  return bytes;
}

/// The response of a replicated picture, in double precision.
double response(const Image& in, const Mask& mask, int x, int y, int c, auto&& value) {
  double sum = 0;
  for (int j = 0; j < mask.height; ++j) {
    for (int i = 0; i < mask.width; ++i) {
      const int u = std::clamp(x + i - mask.anchor_x, 0, in.width() - 1);
      const int v = std::clamp(y + j - mask.anchor_y, 0, in.height() - 1);
      sum += mask.weight(i, j) * value(sample(in, u, v, c));
    }
  }
  return sum / mask.divisor + mask.offset;
}

double srgb_light(double encoded) {
  return encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
}
double srgb_encoded(double light) {
  light = std::clamp(light, 0.0, 1.0);
  return light <= 0.0031308 ? light * 12.92 : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

void for_samples(const Image& image, auto&& body) {
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < image.channels(); ++c) body(x, y, c);
}

}  // namespace

TEST_CASE("every sample comes back from linear light") {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    const int count = depth == Depth::u8 ? 256 : 65536;
    Image all(count, 1, 1, depth);
    for (int x = 0; x < count; ++x) set_sample(&all, x, 0, 0, x);
    std::string note;
    const TransferCurve curve({}, depth, 1, &note);
    Image linear(count, 1, 1, Depth::f32), back = Image::like(all);
    curve.to_linear(all.view().row(0), count, 1, row_of<float>(linear.view(), 0));
    curve.from_linear(row_of<float>(linear.view(), 0), count, 1, back.view().row(0));
    CHECK(same(back, all));
    double worst = 0;
    for (int x = 0; x < count; ++x)
      worst = std::max(worst, std::abs(sample(linear, x, 0, 0) - srgb_light(x / (count - 1.0))));
    CHECK(worst < 1e-7);
  }
}

TEST_CASE("light becomes the nearest sample") {
  std::string note;
  const TransferCurve curve({}, Depth::u8, 1, &note);
  Image light(20001, 1, 1, Depth::f32);
  for (int x = 0; x <= 20000; ++x) set_sample(&light, x, 0, 0, x / 19000.0 - 0.02);
  Image samples(20001, 1, 1, Depth::u8);
  curve.from_linear(row_of<float>(light.view(), 0), 20001, 1, samples.view().row(0));
  int wrong = 0;
  for (int x = 0; x <= 20000; ++x) {
    const double exact = 255 * srgb_encoded(sample(light, x, 0, 0));
    wrong += std::abs(sample(samples, x, 0, 0) - exact) > 0.5001;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a blur in linear light is the mean of light") {
  Mapping mapping;
  mapping.linear = true;
  const Mask mask = box_mask(3);
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    for (const int channels : {1, 3}) {
      const Image in = pattern(23, 17, channels, depth);
      const Image out = mapped(in, mapping, mask);
      const double full = full_range(depth);
      for_samples(out, [&](int x, int y, int c) {
        const double light =
            response(in, mask, x, y, c, [&](double s) { return srgb_light(s / full); });
        CHECK(std::abs(sample(out, x, y, c) - full * srgb_encoded(light)) <= 0.51);
      });
    }
  }
  // Black beside white is brighter than the mean of samples says.
  Image edge(2, 1, 1, Depth::u8);
  set_sample(&edge, 0, 0, 0, 0);
  set_sample(&edge, 1, 0, 0, 255);
  const Mask mean = make_mask("mean", 2, 1, {1, 1}, 2);
  CHECK(sample(mapped(edge, mapping, mean), 1, 0, 0) == 188);
}

TEST_CASE("a constant border in linear light has the light of its value") {
  ConvolverOptions options;
  options.request.device = "cpu";
  options.border = Border::constant;
  options.border_value = 255;
  Image black(1, 1, 1, Depth::u8);
  set_sample(&black, 0, 0, 0, 0);
  Mapping mapping;
  mapping.linear = true;
  Convolver convolver(options);
  const Mask mean = make_mask("mean", 2, 1, {1, 1}, 2);
  const Image out = filtered(black, *mapped(mask_filter(mean), mapping), convolver);
  CHECK(sample(out, 0, 0, 0) == 188);
}

TEST_CASE("an offset is a share of the range in linear light") {
  Image even(5, 4, 1, Depth::u8);
  for_samples(even, [&](int x, int y, int c) { set_sample(&even, x, y, c, 100); });
  Mapping mapping;
  mapping.linear = true;
  const Image out = mapped(even, mapping, make_mask("brighter", 1, 1, {1}, 1, 20));
  const double expected = 255 * srgb_encoded(srgb_light(100 / 255.0) + 20 / 255.0);
  for_samples(
      out, [&](int x, int y, int c) { CHECK(std::abs(sample(out, x, y, c) - expected) <= 0.51); });
}

TEST_CASE("ghost cells of a constant border have the light of the first colour's curve") {
  // By its profile blue is linear, and green and red have a gamma of 2.
  Metadata metadata;
  metadata.icc = profile_of_gammas(1, 2, 2);
  ConvolverOptions options;
  options.request.device = "cpu";
  options.border = Border::constant;
  options.border_value = 128;
  Image black(1, 1, 3, Depth::u8);
  for_samples(black, [&](int x, int y, int c) { set_sample(&black, x, y, c, 0); });
  Mapping mapping;
  mapping.linear = true;
  Convolver convolver(options);
  const FilterPtr mean = mapped(mask_filter(make_mask("mean", 2, 1, {1, 1}, 2)), mapping);
  const Image out = filtered(black, *mean, convolver, &metadata);
  CHECK(same(out, filtered_whole(black, *mean, convolver, &metadata)));
  const double light = 128 / 255.0 / 2;
  CHECK(std::abs(sample(out, 0, 0, 0) - 255 * light) <= 0.51);
  CHECK(std::abs(sample(out, 0, 0, 1) - 255 * std::sqrt(light)) <= 0.51);
  CHECK(std::abs(sample(out, 0, 0, 2) - 255 * std::sqrt(light)) <= 0.51);
}

TEST_CASE("alpha keeps its value in linear light") {
  Mapping mapping;
  mapping.linear = true;
  const Image in = pattern(20, 10, 4, Depth::u8);
  const Image out = mapped(in, mapping, make_mask("identity", 1, 1, {1}));
  for_samples(out, [&](int x, int y, int c) {
    CHECK(std::abs(sample(out, x, y, c) - sample(in, x, y, c)) <= 1);
  });
}

TEST_CASE("luma alone is filtered: colours change by what luma changes") {
  Mapping mapping;
  mapping.luma = true;
  const Mask mask = sharpen_mask(1, 1);
  for (const Depth depth : kDepths) {
    const Image in = pattern(31, 19, 3, depth);
    const Image out = mapped(in, mapping, mask);
    REQUIRE(out.channels() == 3);
    const double full = full_range(depth), tolerance = depth == Depth::f32 ? 1e-5 : 0.51;
    const auto luma = [&](int x, int y) {
      return 0.114 * sample(in, x, y, 0) + 0.587 * sample(in, x, y, 1) +
             0.299 * sample(in, x, y, 2);
    };
    for_samples(out, [&](int x, int y, int c) {
      double sum = 0;
      for (int j = 0; j < mask.height; ++j) {
        for (int i = 0; i < mask.width; ++i) {
          sum += mask.weight(i, j) * luma(std::clamp(x + i - mask.anchor_x, 0, in.width() - 1),
                                          std::clamp(y + j - mask.anchor_y, 0, in.height() - 1));
        }
      }
      double expected = sample(in, x, y, c) + sum / mask.divisor - luma(x, y);
      if (depth != Depth::f32) expected = std::clamp(expected, 0.0, full);
      CHECK(std::abs(sample(out, x, y, c) - expected) <= tolerance);
    });
  }
  CHECK(mapped(pattern(9, 9, 3, Depth::u8), mapping, load_mask("sobel_x"), false).channels() == 1);
  CHECK_THROWS_WITH_AS(mapped(pattern(9, 9, 4, Depth::u8), mapping, mask),
                       doctest::Contains("--luma: the picture has alpha"), UsageError);
}

TEST_CASE("responses below 0 are cut, turned or centred") {
  const Mask mask = load_mask("sobel_x");
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    const Image in = pattern(31, 19, 3, depth);
    const double full = full_range(depth);
    int negative = 0;
    for (const Negative what : {Negative::absolute, Negative::centred}) {
      Mapping mapping;
      mapping.negative = what;
      const Image out = mapped(in, mapping, mask);
      for_samples(out, [&](int x, int y, int c) {
        const double exact = response(in, mask, x, y, c, [](double s) { return s; });
        negative += exact < 0;
        const double wanted =
            what == Negative::absolute ? std::abs(exact) : (full + 1) / 2 + exact / 2;
        // Whole responses have exact halves, which are rounded to even.
        CHECK(sample(out, x, y, c) == std::clamp(std::nearbyint(wanted), 0.0, full));
      });
    }
    CHECK(negative > 100);
  }
}

TEST_CASE("outside its region a picture stays as it was") {
  const Image in = pattern(40, 30, 3, Depth::u8);
  Mapping mapping;
  mapping.regions = {{7, 5, 20, 11}};
  const Image out = mapped(in, mapping, box_mask(5));
  Convolver convolver = on_the_cpu();
  const Image all = convolve(convolver, in, box_mask(5));
  for_samples(out, [&](int x, int y, int c) {
    const bool inside = x >= 7 && x < 27 && y >= 5 && y < 16;
    CHECK(sample(out, x, y, c) == sample(inside ? all : in, x, y, c));
  });
  mapping.regions = {{1, 1, 2, 2}, {21, 5, 20, 11}};
  CHECK_THROWS_WITH_AS(
      mapped(in, mapping, box_mask(5)),
      doctest::Contains("--region: 21,5,20,11 ends at 41,16, and the picture at 40,30"),
      UsageError);
}

TEST_CASE("several regions and ellipses: each pixel of one is filtered once, the others stay") {
  std::mt19937 random(5);
  const auto between = [&](int low, int high) { return low + int(random() % (high - low + 1)); };
  const auto is_in = [](const Region& r, int x, int y) {
    if (x < r.x || x >= r.x + r.width || y < r.y || y >= r.y + r.height) return false;
    const int across = 2 * (x - r.x) + 1 - r.width, down = 2 * (y - r.y) + 1 - r.height;
    return !r.is_ellipse ||
           across * across * r.height * r.height + down * down * r.width * r.width <=
               r.width * r.width * r.height * r.height;
  };
  Convolver convolver = on_the_cpu();
  for (int round = 0; round < 60; ++round) {
    const Image in = pattern(between(1, 50), between(1, 40), 3, Depth::u8);
    Mapping mapping, other;
    for (int count = between(1, 5); count > 0; --count) {
      const int x = between(0, in.width() - 1), y = between(0, in.height() - 1);
      mapping.regions.push_back(
          {x, y, between(1, in.width() - x), between(1, in.height() - y), between(0, 2) > 0});
    }
    const Image out = mapped(in, mapping, box_mask(5));
    const Image all = convolve(convolver, in, box_mask(5));
    int wrong = 0;
    for_samples(out, [&](int x, int y, int c) {
      const bool inside = std::ranges::any_of(
          mapping.regions, [&](const Region& region) { return is_in(region, x, y); });
      wrong += sample(out, x, y, c) != sample(inside ? all : in, x, y, c);
    });
    CHECK(wrong == 0);
    // The same set has the same text.
    other.regions.assign(mapping.regions.rbegin(), mapping.regions.rend());
    other.regions.push_back(mapping.regions.front());
    const auto text = [](const Mapping& of) {
      return mapped(mask_filter(box_mask(5)), of)->text();
    };
    CHECK(text(mapping) == text(other));
  }
  // The circle of 25 in 25 has the points of 3-4-5 triangles on its rim.
  const Region circle{0, 0, 25, 25, true};
  CHECK(circle.in_row(12).first == 0);
  CHECK(circle.in_row(12).end == 25);
  const Region five{0, 0, 10, 10, true};
  CHECK(five.in_row(0).first == 3);
  CHECK(five.in_row(0).end == 7);
  const Region large{1 << 20, 3, 1 << 28, 1 << 28, true};
  CHECK(large.in_row(3 + (1 << 27)).first == 1 << 20);
  CHECK(large.in_row(3 + (1 << 27)).end == (1 << 20) + (1 << 28));
}

namespace {

/// What help says of the mapping options, in double precision: samples are brought to light
/// (--linear; floats are light), to luma (--luma), filtered with a replicated border, and brought
/// back.
class Reference {
 public:
  Reference(const Image& in, const Mapping& mapping, const Mask& mask, bool keeps_lightness)
      : in_(in), mapping_(mapping), mask_(mask), keeps_lightness_(keeps_lightness) {}

  double full() const { return in_.depth() == Depth::f32 ? 1 : full_range(in_.depth()); }
  bool is_grey() const { return in_.channels() == 1; }
  int channels() const {
    return mapping_.luma && !is_grey() && !keeps_lightness_ ? 1 : in_.channels();
  }

  /// The result's sample before it is rounded and clamped.
  double operator()(int x, int y, int c) const {
    for (const Region& region : mapping_.regions)
      if (x < region.x || x >= region.x + region.width || y < region.y ||
          y >= region.y + region.height)
        return sample(in_, x, y, c);
    const bool of_luma = mapping_.luma && !is_grey();
    double result = responded(x, y, of_luma ? -1 : c);
    if (of_luma && keeps_lightness_) result += value(x, y, c) - value(x, y, -1);
    return is_curved() ? full() * srgb_encoded(result) : result;
  }

 private:
  bool is_curved() const { return mapping_.linear && in_.depth() != Depth::f32; }

  /// A sample as the filter gets it; c = -1 is luma.
  double value(int x, int y, int c) const {
    x = std::clamp(x, 0, in_.width() - 1);
    y = std::clamp(y, 0, in_.height() - 1);
    if (c < 0) {
      // The luminance of light (ITU-R BT.709, which sRGB has the primaries of), or JFIF's Y.
      const auto of = [&](double blue, double green, double red) {
        return blue * value(x, y, 0) + green * value(x, y, 1) + red * value(x, y, 2);
      };
      return mapping_.linear ? of(0.0722, 0.7152, 0.2126) : of(0.114, 0.587, 0.299);
    }
    const double s = sample(in_, x, y, c);
    return is_curved() ? srgb_light(s / full()) : s;
  }

  double responded(int x, int y, int c) const {
    double sum = 0;
    for (int j = 0; j < mask_.height; ++j)
      for (int i = 0; i < mask_.width; ++i)
        sum += mask_.weight(i, j) * value(x + i - mask_.anchor_x, y + j - mask_.anchor_y, c);
    const double response = sum / mask_.divisor;
    // The middle of 0 to 255 is 128, of 0 to 65535 it is 32768, and of light or floats one half.
    const double middle = is_curved() || in_.depth() == Depth::f32 ? 0.5 : (full() + 1) / 2;
    switch (mapping_.negative) {
      case Negative::clamp: return response;
      case Negative::absolute: return std::abs(response);
      case Negative::centred: return middle + response / 2;
    }
    return 0;
  }

  const Image& in_;
  const Mapping& mapping_;
  const Mask& mask_;
  bool keeps_lightness_;
};

}  // namespace

TEST_CASE("all mapping options together do what help says, for each depth and number of channels") {
  int compared = 0, refused = 0;
  for (const Depth depth : kDepths) {
    for (const int channels : {1, 3, 4}) {
      const Image in = pattern(13, 11, channels, depth);
      for (int bits = 0; bits < 8; ++bits) {
        for (const Negative negative : {Negative::clamp, Negative::absolute, Negative::centred}) {
          for (const bool keeps_lightness : {false, true}) {
            Mapping mapping;
            mapping.linear = bits & 1;
            mapping.luma = bits & 2;
            if (bits & 4) mapping.regions = {{2, 3, 7, 5}};
            mapping.negative = negative;
            const Mask mask = keeps_lightness ? sharpen_mask(1, 1) : load_mask("sobel_x");
            CAPTURE(name_of(depth));
            CAPTURE(channels);
            CAPTURE(bits);
            CAPTURE(int(negative));
            CAPTURE(keeps_lightness);
            const bool needs_no_alpha = mapping.luma || negative != Negative::clamp;
            const bool grey_beside_colours =
                mapping.luma && (bits & 4) && channels == 3 && !keeps_lightness;
            if ((channels == 4 && needs_no_alpha) || grey_beside_colours) {
              CHECK_THROWS_AS(mapped(in, mapping, mask, keeps_lightness), UsageError);
              ++refused;
              continue;
            }
            // Premultiplied colours are another test's.
            if (channels == 4) continue;
            const Image out = mapped(in, mapping, mask, keeps_lightness);
            const Reference expected(in, mapping, mask, keeps_lightness);
            REQUIRE(out.channels() == expected.channels());
            const bool whole = depth != Depth::f32;
            // Floats of 24 bits lie between light and samples of 16 bits.
            const double tolerance = !whole ? 2e-5 : depth == Depth::u16 && bits & 3 ? 0.55 : 0.51;
            double worst = 0;
            for_samples(out, [&](int x, int y, int c) {
              double wanted = expected(x, y, c);
              if (whole) wanted = std::clamp(wanted, 0.0, expected.full());
              worst = std::max(worst, std::abs(sample(out, x, y, c) - wanted));
            });
            CHECK(worst <= tolerance);
            ++compared;
          }
        }
      }
    }
  }
  CHECK(compared > 250);
  CHECK(refused > 100);
}

TEST_CASE("an even picture has responses in the middle of its range") {
  for (const Depth depth : kDepths) {
    for (const int channels : {1, 3}) {
      for (const bool luma : {false, true}) {
        Image even(8, 6, channels, depth);
        for_samples(even, [&](int x, int y, int c) {
          set_sample(&even, x, y, c, depth == Depth::f32 ? 0.25 : 77);
        });
        Mapping mapping;
        mapping.luma = luma;
        mapping.negative = Negative::centred;
        const Image out = mapped(even, mapping, load_mask("sobel_x"), false);
        const double middle = depth == Depth::u8 ? 128 : depth == Depth::u16 ? 32768 : 0.5;
        for_samples(out, [&](int x, int y, int c) { CHECK(sample(out, x, y, c) == middle); });
      }
    }
  }
}

TEST_CASE("a filter around a filter finishes the one inside it") {
  const std::vector<Region> regions{{1, 1, 5, 4}};
  for (const Mapping& mapping :
       {Mapping{.linear = true, .regions = {}}, Mapping{.luma = true, .regions = {}},
        Mapping{.negative = Negative::absolute, .regions = {}}, Mapping{.regions = regions},
        Mapping{.linear = true, .luma = true, .regions = regions}}) {
    const auto inner = std::make_shared<Finished>();
    Convolver convolver = on_the_cpu();
    const auto work = begin(*mapped(inner, mapping), {9, 8, 3, Depth::u8}, convolver);
    CHECK(inner->times == 0);
    work->finish();
    CHECK(inner->times == 1);
    begin(*mapped(chain({inner, inner}), mapping), {9, 8, 3, Depth::u8}, convolver)->finish();
    CHECK(inner->times == 3);
  }
}

TEST_CASE("a result of another depth is that of the picture in floats, to its last response") {
  Mask mask = load_mask("sobel_x");
  for (const Depth from : {Depth::u8, Depth::u16, Depth::f32})
    for (const Depth to : {Depth::u8, Depth::u16, Depth::f32})
      for (const int channels : {1, 3}) {
        CAPTURE(int(from));
        CAPTURE(int(to));
        CAPTURE(channels);
        mask.offset = full_range(from) / 50;
        const Image in = image_tests::random_image(23, 19, channels, from, 3);
        const Image out = mapped(in, {.depth = to}, mask);
        REQUIRE(out.depth() == to);
        const double range = full_range(from), result_range = full_range(to);
        double farthest = 0;
        bool is_below = false;
        image_tests::for_samples(out, [&](int x, int y, int c) {
          double want = image_tests::naive(
              in, mask, x, y, [&](int u, int v) { return image_tests::sample(in, u, v, c); });
          want = (want + mask.offset) / range * result_range;
          is_below |= want < 0;
          if (to != Depth::f32) want = std::clamp(want, 0.0, result_range);
          farthest = std::max(farthest, std::abs(image_tests::sample(out, x, y, c) - want));
        });
        CHECK(is_below);
        CHECK(farthest <= (to == Depth::f32 ? 0 : 0.5) + result_range * 2e-6);
      }
  const Image in = image_tests::random_image(23, 19, 4, Depth::u8, 3);
  const Image out = mapped(in, {.depth = Depth::u16}, box_mask(1));
  image_tests::for_samples(out, [&](int x, int y, int c) {
    if (c == 3 || image_tests::sample(in, x, y, 3) > 0)
      CHECK(image_tests::sample(out, x, y, c) == 257 * image_tests::sample(in, x, y, c));
  });
}
