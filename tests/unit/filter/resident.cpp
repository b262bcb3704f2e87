/// Filtering where pictures lie on a device: the bytes are those that a convolver gives.
#include "src/filter/resident.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/filter/edge.hpp"
#include "src/filter/mapped.hpp"
#include "src/mask/make.hpp"
#include "tests/support/device/callers_stream.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/files/picture.hpp"
#include "tests/support/filtered.hpp"

using namespace convfilt;
using namespace convfilt::testing;

TEST_CASE("pictures of more shapes than plans are kept get the bytes that a convolver gives") {
  if (const std::string missing = test::cuda_missing(); !missing.empty()) {
    MESSAGE("skipped: " << missing);
    return;
  }
  ConvolverOptions options;
  for (const Mask& mask : {gaussian_mask(2), box_mask(3), gaussian_mask(30)}) {
    CAPTURE(mask.name);
    options.request.device = "cpu";
    Convolver convolver(options);
    options.request.device = "cuda:0";
    DeviceQueue queue(0);
    ResidentFilter filter(options, mask_filter(mask), queue);
    Convolver chooser(options);
    test::CallersStream copies(DeviceKind::cuda);
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 12; ++i) {
        const Image in = pattern(40 + 31 * i, 30 + 7 * i, i % 3 ? 3 : 1, Depth::u8);
        const Image expected = convolve(convolver, in, mask);
        const std::size_t bytes = in.row_bytes() * std::size_t(in.height());
        std::byte* const from = copies.allocate(bytes);
        std::byte* const to = copies.allocate(bytes);
        copies.copy(from, in.view().row(0), bytes);
        copies.wait();
        const auto view = [&](std::byte* memory) {
          return PictureView<std::byte>{memory, in.width(), in.height(), in.channels(),
                                        std::ptrdiff_t(in.row_bytes())};
        };
        CHECK(filter.result_of(shape_of(in)) == shape_of(in));
        const Strategy& strategy = filter.run(view(from), Depth::u8, view(to));
        CHECK(strategy.name ==
              chooser.choice_for(chooser.problem_of(shape_of(in), mask, options.border_value), 1)
                  .strategy->name);
        queue.synchronize();
        Image got = Image::like(in);
        copies.copy(got.view().row(0), to, bytes);
        copies.wait();
        CHECK(same(got, expected));
      }
    }
  }
}

namespace {

/// Every method of edges, on pictures of both kinds, under borders and modes: `check` gets the
/// options, the masks and a picture.
void for_each_edge(
    const std::function<void(ConvolverOptions, const std::vector<Mask>&, const Image&)>& check) {
  std::vector<std::vector<Mask>> all;
  for (const EdgeMethod method : {EdgeMethod::sobel, EdgeMethod::scharr, EdgeMethod::prewitt})
    for (const EdgeDirection direction : {EdgeDirection::both, EdgeDirection::x, EdgeDirection::y})
      all.push_back(plain_masks(method, direction));
  for (const EdgeMethod method : {EdgeMethod::laplacian, EdgeMethod::log})
    all.push_back(plain_masks(method));
  all.push_back(edge_masks({EdgeMethod::roberts}));
  all.push_back(edge_masks({EdgeMethod::dog}));
  for (const std::vector<Mask>& masks : all) {
    CAPTURE(masks[0].name);
    for (const Border border :
         {Border::constant, Border::replicate, Border::reflect, Border::reflect101, Border::wrap}) {
      for (const Mode mode : {Mode::same, Mode::valid, Mode::full}) {
        ConvolverOptions options;
        options.border = border;
        options.border_value = border == Border::constant ? 200 : 0;
        options.mode = mode;
        for (const int channels : {1, 3})
          check(options, masks, pattern(61, 37, channels, Depth::u8));
      }
    }
  }
  std::vector<Mask> scaled = plain_masks(EdgeMethod::sobel);
  scaled[0].divisor = 2;
  scaled[1].divisor = 0.3;
  check({}, scaled, pattern(40, 30, 3, Depth::u8));
  // More rows than a launch has.
  check({}, plain_masks(EdgeMethod::sobel), pattern(3, 70000, 1, Depth::u8));
}

Image on_cpu(ConvolverOptions options, const std::vector<Mask>& masks, const Image& in) {
  options.request.device = "cpu";
  Convolver convolver(options);
  return find_edges(in, masks, convolver);
}

}  // namespace

TEST_CASE("edges of a resident picture have the bytes that the CPU gives: in the emulator") {
  if (test::emulator_missing()) return;
  int saturated = 0, cases = 0;
  for_each_edge([&](ConvolverOptions options, const std::vector<Mask>& masks, const Image& in) {
    const Image expected = on_cpu(options, masks, in);
    options.request.device = "emulator";
    Convolver convolver(options);
    const FilterPtr edges = channel_edges(masks);
    CHECK(begin(*edges, shape_of(in), convolver)->out == shape_of(expected));
    const ResidentPlan made = edges->resident(shape_of(in), convolver);
    CHECK(made.choice.device == DeviceKind::emulator);
    Image resident = Image::like(expected), copied = Image::like(expected);
    made.plan->run_resident(in.view(), resident.view(), nullptr);
    CHECK(same(resident, expected));
    made.plan->run(in.view(), copied.view());
    CHECK(same(copied, expected));
    for (int x = 0; x < expected.width(); ++x)
      saturated += expected.view().row(5)[x] == std::byte(255);
    ++cases;
  });
  // Lengths above 255 are among them.
  CHECK(saturated > 0);
  CHECK(cases == (3 * 3 + 4) * 5 * 3 * 2 + 1 + 1);
}

TEST_CASE("edges of a resident picture have the bytes that the CPU gives: on a GPU") {
  if (const std::string missing = test::cuda_missing(); !missing.empty()) {
    MESSAGE("skipped: " << missing);
    return;
  }
  for_each_edge([&](ConvolverOptions options, const std::vector<Mask>& masks, const Image& in) {
    const Image expected = on_cpu(options, masks, in);
    options.request.device = "cuda:0";
    DeviceQueue queue(0);
    ResidentFilter filter(options, channel_edges(masks), queue);
    test::CallersStream copies(DeviceKind::cuda);
    const auto bytes_of_image = [](const Image& image) {
      return image.row_bytes() * std::size_t(image.height());
    };
    std::byte* const from = copies.allocate(bytes_of_image(in));
    std::byte* const to = copies.allocate(bytes_of_image(expected));
    copies.copy(from, in.view().row(0), bytes_of_image(in));
    copies.wait();
    const auto view = [](std::byte* memory, const Image& image) {
      return PictureView<std::byte>{memory, image.width(), image.height(), image.channels(),
                                    std::ptrdiff_t(image.row_bytes())};
    };
    filter.run(view(from, in), Depth::u8, view(to, expected));
    queue.synchronize();
    Image got = Image::like(expected);
    copies.copy(got.view().row(0), to, bytes_of_image(expected));
    copies.wait();
    CHECK(same(got, expected));
  });
}

TEST_CASE("resident edges by a mask that is transformed are within a step of the CPU's") {
  if (test::emulator_missing()) return;
  ConvolverOptions options;
  const Image in = pattern(200, 170, 3, Depth::u8);
  std::vector<Mask> masks = {log_mask(8)};
  masks[0].divisor *= 0.02;  // so wide a mask answers faintly
  const Image expected = on_cpu(options, masks, in);
  options.request.device = "emulator";
  Convolver convolver(options);
  const ResidentPlan made = channel_edges(masks)->resident(shape_of(in), convolver);
  Image got = Image::like(expected);
  made.plan->run_resident(in.view(), got.view(), nullptr);
  int furthest = 0, brightest = 0;
  for (int y = 0; y < got.height(); ++y) {
    for (std::size_t x = 0; x < got.row_bytes(); ++x) {
      const int here = int(std::as_const(got).view().row(y)[x]);
      furthest = std::max(furthest, std::abs(here - int(expected.view().row(y)[x])));
      brightest = std::max(brightest, here);
    }
  }
  CHECK(furthest <= 1);
  CHECK(brightest > 10);
}

TEST_CASE("resident edges on the CPU are refused, and so are mapped ones") {
  ConvolverOptions options;
  options.request.device = "cpu";
  Convolver cpu(options);
  CHECK_THROWS_AS(channel_edges({box_mask(3)})->resident({9, 9, 1, Depth::u8}, cpu), UsageError);
  Mapping mapping;
  mapping.luma = true;
  const FilterPtr luma = mapped(channel_edges({box_mask(3)}), mapping);
  CHECK(luma->resident_refuses() != "");
  CHECK_THROWS_AS(luma->resident({9, 9, 1, Depth::u8}, cpu), UsageError);
}

TEST_CASE("a mode without a result is refused") {
  if (!test::cuda_missing().empty()) {
    CHECK_THROWS_AS(DeviceQueue(0), DeviceError);
    return;
  }
  ConvolverOptions options;
  options.mode = Mode::valid;
  options.request.device = "cuda:0";
  DeviceQueue queue(0);
  ResidentFilter filter(options, mask_filter(box_mask(5)), queue);
  CHECK(filter.result_of({10, 9, 3, Depth::u8}) == Shape{6, 5, 3, Depth::u8});
  CHECK_THROWS_AS(filter.result_of({4, 9, 3, Depth::u8}), UsageError);
}
