/// Alpha, borders and plans, through the registry of this build.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <string>

#include "src/base/errors.hpp"
#include "src/filter/convolver.hpp"
#include "tests/support/filtered.hpp"
#include "tests/support/images.hpp"

using namespace convfilt;
using namespace convfilt::image_tests;
using namespace convfilt::testing;

namespace {

/// Makes alpha opaque everywhere.
Image opaque_copy(Image image) {
  for_samples(image, [&](int x, int y, int c) {
    if (c == 3) put(image, x, y, c, full_range(image.depth()));
  });
  return image;
}

Image colours_of(const Image& image) {
  Image colours(image.width(), image.height(), 3, image.depth());
  for_samples(colours, [&](int x, int y, int c) { put(colours, x, y, c, sample(image, x, y, c)); });
  return colours;
}

Mask binomial() {
  return make_mask("binomial", 3, 3, {1, 2, 1, 2, 4, 2, 1, 2, 1}, 16);
}

Mask relief() {
  return make_mask("relief", 3, 3, {-1, -1, 0, -1, 0, 1, 0, 1, 1}, 1, 100);
}

}  // namespace

TEST_CASE("samples are rounded half to even and saturated") {
  CHECK(to_sample<std::uint8_t>(0.5) == 0);
  CHECK(to_sample<std::uint8_t>(1.5) == 2);
  CHECK(to_sample<std::uint8_t>(254.5) == 254);
  CHECK(to_sample<std::uint8_t>(1e300) == 255);
  CHECK(to_sample<std::uint16_t>(-3) == 0);
  CHECK(to_sample<std::uint16_t>(65534.5) == 65534);
  CHECK(to_sample<float>(-0.25) == -0.25f);
}

TEST_CASE("red with a soft edge stays pure red") {
  for (Depth depth : kDepths) {
    for (Border border : kBorders) {
      const double full = full_range(depth);
      Image in(33, 9, 4, depth);  // transparent black on the left, opaque red on the right
      for_samples(in, [&](int x, int y, int c) {
        const double ramp = std::clamp((x - 10) / 12.0, 0.0, 1.0);
        const double alpha = depth == Depth::f32 ? ramp : std::floor(ramp * full);
        const double red = alpha > 0 ? full : 0;
        put(in, x, y, c, c == 3 ? alpha : c == 2 ? red : 0);
      });
      Convolver convolver(on_cpu(border));
      const Image out = convolve(convolver, in, binomial());
      for_samples(out, [&](int x, int y, int c) {
        if (border == Border::constant && (x == 0 || y == 0 || x == 32 || y == 8)) return;
        const bool seen = sample(out, x, y, 3) > 0;
        if (border == Border::wrap && (x == 0 || x == 32)) return;
        if (seen && c < 3)
          CHECK(sample(out, x, y, c) == doctest::Approx(c == 2 ? full : 0).epsilon(1e-6));
      });
      CHECK(sample(out, 32 - 3, 4, 3) == full);
      CHECK(sample(out, 3, 4, 3) == 0);
      CHECK(convolver.report().runs == 4);
    }
  }
}

TEST_CASE("alpha of a mask of gain 1: the premultiplied definition in double precision") {
  for (Depth depth : kDepths) {
    const Image in = random_image(17, 13, 4, depth, 1);
    Mask mask = binomial();
    mask.offset = depth == Depth::f32 ? 0.125 : 3;
    const Image out = convolve(Convolver(on_cpu()), in, mask);
    const double tolerance = depth == Depth::f32 ? 1e-5 : 1;
    for_samples(out, [&](int x, int y, int c) {
      const double alpha = naive(in, mask, x, y, [&](int u, int v) { return sample(in, u, v, 3); });
      const double colour = naive(
          in, mask, x, y, [&](int u, int v) { return sample(in, u, v, c) * sample(in, u, v, 3); });
      const double truth = saturated(c == 3 ? alpha : colour / alpha + mask.offset, depth);
      CHECK(std::abs(sample(out, x, y, c) - truth) <= tolerance);
    });
  }
}

TEST_CASE("the identity leaves colour and alpha as they are, where there is any") {
  for (Depth depth : kDepths) {
    Image in = random_image(9, 7, 4, depth, 2);
    put(in, 4, 4, 3, 0);
    const Image out = convolve(Convolver(on_cpu()), in, make_mask("identity", 1, 1, {1}));
    for_samples(out, [&](int x, int y, int c) {
      const double want = sample(in, x, y, 3) > 0 ? sample(in, x, y, c) : 0;
      CHECK(std::abs(sample(out, x, y, c) - want) <= (depth == Depth::f32 ? 1e-6 : 0));
    });
  }
}

TEST_CASE("alpha is kept where the mask's gain is not 1, and the offset is a colour") {
  const Image in = random_image(17, 13, 4, Depth::u8, 3);
  const Mask mask = relief();
  const Image out = convolve(Convolver(on_cpu()), in, mask);
  for_samples(out, [&](int x, int y, int c) {
    const double alpha = sample(in, x, y, 3);
    if (c == 3) {
      CHECK(sample(out, x, y, 3) == alpha);
      return;
    }
    const double colour = naive(
        in, mask, x, y, [&](int u, int v) { return sample(in, u, v, c) * sample(in, u, v, 3); });
    const double truth = alpha > 0 ? saturated(colour / alpha + mask.offset, Depth::u8) : 0;
    CHECK(std::abs(sample(out, x, y, c) - truth) <= 1);
  });
}

TEST_CASE("opaque everywhere: the bytes of the picture without alpha") {
  for (Depth depth : kDepths) {
    for (Border border : kBorders) {
      const Image in = opaque_copy(random_image(17, 13, 4, depth, 4));
      for (const Mask& mask : {binomial(), relief()}) {
        const double outside = depth == Depth::f32 ? 0.5 : 77;
        Convolver convolver(on_cpu(border, outside));
        const Image out = convolve(convolver, in, mask);
        const Image plain = convolve(convolver, colours_of(in), mask);
        for_samples(out, [&](int x, int y, int c) {
          CHECK(sample(out, x, y, c) == (c == 3 ? full_range(depth) : sample(plain, x, y, c)));
        });
      }
    }
  }
}

TEST_CASE("rows that see opaque rows alone: the bytes of the picture without alpha") {
  for (Depth depth : kDepths) {
    Image in = opaque_copy(random_image(17, 23, 4, depth, 4));
    for (const int y : {0, 9}) put(in, 5, y, 3, full_range(depth) / 4);
    const Image out = convolve(Convolver(on_cpu(Border::reflect101, 0)), in, binomial());
    const Image plain =
        convolve(Convolver(on_cpu(Border::reflect101, 0)), colours_of(in), binomial());
    int kept = 0;
    for (int y = 0; y < 23; ++y) {
      // Row 0 has its own pixel and, mirrored, no other's; row 1 lies beside it.
      const bool sees_alpha = y <= 1 || (y >= 8 && y <= 10);
      if (sees_alpha) continue;
      ++kept;
      for (int x = 0; x < 17; ++x)
        for (int c = 0; c < 4; ++c)
          CHECK(sample(out, x, y, c) == (c == 3 ? full_range(depth) : sample(plain, x, y, c)));
    }
    CHECK(kept == 18);
    CHECK(sample(out, 5, 9, 3) < full_range(depth));
  }
}

TEST_CASE("a constant border is opaque, of the border's colour") {
  Image in(5, 5, 4, Depth::u8);
  for_samples(in, [&](int x, int y, int c) { put(in, x, y, c, 0); });  // transparent
  const Image out = convolve(Convolver(on_cpu(Border::constant, 77)), in, binomial());
  CHECK(sample(out, 0, 2, 0) == 77);
  CHECK(sample(out, 0, 2, 3) == 64);  // a quarter of the weights lies outside: 63.75
  CHECK(sample(out, 2, 2, 3) == 0);
}

TEST_CASE("masks that differ in their offset alone are two plans") {
  Convolver convolver(on_cpu());
  const Image in = random_image(8, 8, 1, Depth::u8, 6);
  Mask brighter = binomial();
  brighter.offset = 40;
  const Image plain = convolve(convolver, in, binomial());
  const Image bright = convolve(convolver, in, brighter);
  for_samples(plain, [&](int x, int y, int c) {
    CHECK(sample(bright, x, y, c) == std::min(sample(plain, x, y, c) + 40, 255.0));
  });
}

TEST_CASE("the border value must be a sample of the picture") {
  const Image bytes(3, 3, 1, Depth::u8), reals(3, 3, 1, Depth::f32);
  for (double value : {-1.0, 256.0, 0.5})
    CHECK_THROWS_AS(convolve(Convolver(on_cpu(Border::constant, value)), bytes, binomial()),
                    UsageError);
  CHECK_NOTHROW(convolve(Convolver(on_cpu(Border::constant, -1)), reals, binomial()));
  CHECK_NOTHROW(convolve(Convolver(on_cpu(Border::replicate, -1)), bytes, binomial()));
}

TEST_CASE("a plan is prepared once for all channels and pictures of one shape") {
  static int prepared;
  prepared = 0;
  struct Copy : Plan {
    Timing run(PictureView<const std::byte> in, PictureView<std::byte> out) override {
      for (int y = 0; y < in.height; ++y) std::copy_n(in.row(y), in.pitch, out.row(y));
      return {1, 2, 3, 1};
    }
  };
  static const Strategy copying{
      .name = "copying",
      .summary = "",
      .family = Family::direct,
      .refuses = [](const Problem&, const Tuning&) { return std::string(); },
      .prepare_cpu = [](const Problem&, const PlanOptions&) -> std::unique_ptr<Plan> {
        ++prepared;
        return std::make_unique<Copy>();
      },
      .spatial_family = Family::direct};
  static const Strategy* const all[] = {&copying};
  Machine machine;
  machine.strategies = all;
  ConvolverOptions options = on_cpu();
  options.request.strategy = "copying";

  Convolver convolver(options, machine);
  const Image in = random_image(8, 8, 4, Depth::u8, 6);
  convolve(convolver, in, binomial());
  convolve(convolver, in, binomial());
  CHECK(prepared == 1);
  CHECK(convolver.report().runs == 8);
  CHECK(convolver.report().timing.kernel_ms == 16);

  // Colours and alpha differ outside the picture, hence two problems.
  options.border = Border::constant;
  Convolver framed(options, machine);
  convolve(framed, in, binomial());
  convolve(framed, in, binomial());
  CHECK(prepared == 3);

  prepared = 0;
  Convolver edges(options, machine);
  find_edges(in, plain_masks(EdgeMethod::sobel), edges);
  CHECK(prepared == 2);
  CHECK(edges.report().runs == 6);
}

TEST_CASE("large masks are transformed, but not over samples that would spread") {
  const int side = 31;
  std::vector<double> weights(side * side, 1);
  for (int k = 0; k < 4; ++k) weights[k * side + k] = 40;  // so that the rank is above 3
  const Mask mask = make_mask("noisy box", side, side, weights, 1000);
  Image in = random_image(300, 260, 1, Depth::f32, 6);
  Convolver convolver(on_cpu());
  const Image whole = convolve(convolver, in, mask);
  CHECK(convolver.report().choice.strategy->name == "fft");
  for (const float far : {std::nanf(""), -HUGE_VALF, 2e30f, 9.0f}) {
    put(in, 100, 50, 0, far);
    const Image out = convolve(convolver, in, mask);
    CHECK(convolver.report().choice.strategy->name == "cpu");
    CHECK(convolver.report().choice.why.find("would spread") != std::string::npos);
    for_samples(out, [&](int x, int y, int c) {
      const bool reached = std::abs(x - 100) <= side / 2 && std::abs(y - 50) <= side / 2;
      const double now = sample(out, x, y, c), before = sample(whole, x, y, c);
      if (!reached) CHECK(now == doctest::Approx(before).epsilon(1e-5));
    });
  }
  put(in, 100, 50, 0, 4);
  convolve(convolver, in, mask);
  CHECK(convolver.report().choice.strategy->name == "fft");
}

TEST_CASE("pictures of different sizes cost a convolver as much as equal ones") {
  // The time of this thread alone, since others may have the machine.
  const auto seconds_now = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) / 1e9;
  };
  const auto seconds_for = [&](int pictures) {
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      Convolver convolver{ConvolverOptions{}};
      const double start = seconds_now();
      for (int picture = 0; picture < pictures; ++picture)
        convolver.note(
            convolver.problem_of({100 + picture % 777, 100 + picture / 777, 3}, binomial(), 0));
      best = std::min(best, seconds_now() - start);
      CHECK(convolver.report().problems.size() <= 16);
    }
    return best;
  };
  // Four times as many take four times as long, and not 16 times.
  const double few = seconds_for(2'000), many = seconds_for(8'000);
  CAPTURE(few);
  CAPTURE(many);
  CHECK(many < 8 * few);
}

TEST_CASE("the report names each problem of a picture once") {
  ConvolverOptions options;
  options.request.device = "cpu";
  Convolver convolver(options);
  for (int i = 0; i < 3; ++i) convolve(convolver, Image(20, 10, 3, Depth::u8), binomial());
  CHECK(convolver.report().problems.size() == 1);
  convolve(convolver, Image(21, 10, 3, Depth::u8), binomial());
  CHECK(convolver.report().problems.size() == 2);
}

TEST_CASE("a gain of 1 is one that rounding has not left") {
  const auto with_gain = [](double gain) { return make_mask("one", 1, 1, {gain}); };
  for (const double off : {0.0, 1e-16, 1e-9, 9e-7}) {
    CHECK(has_unit_gain(with_gain(1 + off)));
    CHECK(has_unit_gain(with_gain(1 - off)));
  }
  for (const double off : {1.1e-6, 1e-3, 1.0, 2.0}) {
    CHECK_FALSE(has_unit_gain(with_gain(1 + off)));
    CHECK_FALSE(has_unit_gain(with_gain(1 - off)));
  }
}
