/// Modes and alpha, edges and settings, through src/.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "src/base/words.hpp"
#include "tests/support/filtered.hpp"
#include "tests/support/images.hpp"

using namespace convfilt;
using namespace convfilt::image_tests;
using namespace convfilt::testing;

namespace {

constexpr int kWidth = 23, kHeight = 17;

/// Masks with gains 1, 0 and 3, so that alpha is filtered under one and kept under the others.
std::vector<Mask> masks() {
  Mask off_centre = make_mask("off-centre", 3, 3, {1, 2, 1, 0, 4, 2, 1, 2, 3}, 16);
  off_centre.anchor_x = 0;
  off_centre.anchor_y = 2;
  return {off_centre, make_mask("relief", 3, 3, {-1, -1, 0, -1, 0, 1, 0, 1, 1}, 1, 100),
          make_mask("bright", 3, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1}, 1)};
}

ConvolverOptions in_mode(Mode mode, Border border = Border::replicate) {
  ConvolverOptions options = on_cpu(border);
  options.mode = mode;
  return options;
}

/// Checks that the samples of `image` from (x, y) on, where `small` lies, are those of `small`.
void check_inside(const Image& image, int x, int y, const Image& small) {
  int different = 0;
  for_samples(small, [&](int u, int v, int c) {
    different += sample(small, u, v, c) != sample(image, x + u, y + v, c);
  });
  CHECK(different == 0);
}

/// The picture in a frame of opaque black.
Image framed(const Image& in, int left, int top, int right, int bottom) {
  Image out(in.width() + left + right, in.height() + top + bottom, in.channels(), in.depth());
  for_samples(out, [&](int x, int y, int c) {
    const int u = x - left, v = y - top;
    const bool inside = u >= 0 && v >= 0 && u < in.width() && v < in.height();
    put(out, x, y, c, inside ? sample(in, u, v, c) : c == 3 ? full_range(in.depth()) : 0);
  });
  return out;
}

}  // namespace

TEST_CASE("valid is the inside of same, full is same in a black frame; alpha goes along") {
  for (int channels : {1, 3, 4}) {
    for (Depth depth : kDepths) {
      const Image in = random_image(kWidth, kHeight, channels, depth, 3);
      for (const Mask& mask : masks()) {
        CAPTURE(mask.name);
        CAPTURE(channels);
        const Image same = convolve(Convolver(in_mode(Mode::same)), in, mask);
        const Image valid = convolve(Convolver(in_mode(Mode::valid)), in, mask);
        CHECK(valid.width() == kWidth - 2);
        CHECK(valid.height() == kHeight - 2);
        check_inside(same, mask.anchor_x, mask.anchor_y, valid);

        const Image full = convolve(Convolver(in_mode(Mode::full, Border::constant)), in, mask);
        CHECK(full.width() == kWidth + 2);
        CHECK(full.height() == kHeight + 2);
        const int left = 2 - mask.anchor_x, top = 2 - mask.anchor_y;
        const Image frame = framed(in, left, top, 2 - left, 2 - top);
        const Image of_frame =
            convolve(Convolver(in_mode(Mode::same, Border::constant)), frame, mask);
        check_inside(of_frame, 0, 0, full);
      }
    }
  }
}

TEST_CASE("edges in every mode") {
  for (int channels : {3, 4}) {
    const Image in = random_image(kWidth, kHeight, channels, Depth::u8, 4);
    const std::vector<Mask> sobel = plain_masks(EdgeMethod::sobel);
    Convolver of_same(in_mode(Mode::same)), of_valid(in_mode(Mode::valid)),
        of_full(in_mode(Mode::full, Border::constant)),
        of_frame(in_mode(Mode::same, Border::constant));
    const Image valid = find_edges(in, sobel, of_valid);
    CHECK(valid.width() == kWidth - 2);
    check_inside(find_edges(in, sobel, of_same), 1, 1, valid);
    const Image full = find_edges(in, sobel, of_full);
    CHECK(full.height() == kHeight + 2);
    check_inside(find_edges(framed(in, 1, 1, 1, 1), sobel, of_frame), 0, 0, full);
  }
}

TEST_CASE("a picture smaller than the mask has no valid result") {
  const Image in = random_image(4, 9, 4, Depth::u8, 5);
  const Mask mask = make_mask("wide", 5, 1, {1, 1, 1, 1, 1}, 5);
  CHECK_THROWS_WITH_AS(convolve(Convolver(in_mode(Mode::valid)), in, mask),
                       doctest::Contains("lies nowhere inside a picture of 4x9"), UsageError);
}

TEST_CASE("settings from words") {
  Tuning tuning;
  set_from_word(tuning, Setting::halo, "two-step");
  CHECK(tuning[Setting::halo] == kTwoStep);
  set_from_word(tuning, Setting::block, "128");
  CHECK(tuning[Setting::block] == 128);
  CHECK(to_string(tuning) == "halo=two-step, block=128");
  set_from_word(tuning, Setting::halo, "sweeps");
  CHECK(to_string(tuning) == "block=128");
  CHECK_THROWS_WITH(set_from_word(tuning, Setting::halo, "two-steps"),
                    doctest::Contains("did you mean 'two-step'?"));
  for (const char* wrong : {"", "0", "8193", "12x", "+5", "-1", "1e3", "99999999999999999999"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH(set_from_word(tuning, Setting::block, wrong),
                      doctest::Contains("is not a whole number, 1 to 8192"));
  }
  CHECK(tuning[Setting::block] == 128);
}

TEST_CASE("a setting wants a strategy that has it") {
  const Machine machine = this_machine();
  Request request;
  CHECK_THROWS_WITH(check_setting(request, Setting::halo, machine),
                    doctest::Contains("name one with --strategy"));
  request.strategy = "cpu";
  CHECK_THROWS_WITH(check_setting(request, Setting::halo, machine),
                    doctest::Contains("strategy 'cpu' has no such setting; leave it out"));
  request.tuning[Setting::halo] = kRegions;
  CHECK_THROWS_AS(check_names(request, machine), UsageError);
}
