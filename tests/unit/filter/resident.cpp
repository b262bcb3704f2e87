/// Filtering where pictures lie on a device: the bytes are those that a convolver gives.
#include "src/filter/device.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/filter/chain.hpp"
#include "src/filter/edge.hpp"
#include "src/filter/mapped.hpp"
#include "src/filter/sharpen.hpp"
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

/// The picture with blue and red exchanged, since resident pictures are in red, green and blue.
Image exchanged(const Image& in) {
  Image out = Image::like(in);
  const int channels = in.channels();
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width() * channels; ++x) {
      const int channel = x % channels;
      out.view().row(y)[x - channel + channels - 1 - channel] = in.view().row(y)[x];
    }
  return out;
}

/// A picture of a few levels, so that many neighbours are equal, and answers equal a threshold.
Image levels(int channels) {
  Image image = pattern(61, 37, channels, Depth::u8);
  for (int y = 0; y < image.height(); ++y)
    for (std::size_t x = 0; x < image.row_bytes(); ++x) {
      std::byte& sample = image.view().row(y)[x];
      sample = std::byte(int(sample) / 64 * 64);
    }
  return image;
}

/// Masks of several sizes and anchors, with divisors and offsets.
std::vector<Mask> several_masks() {
  std::vector<Mask> masks{make_mask("a", 3, 3, {1, 2, 1, 0, 0, 0, -1, -2, -1}, 2),
                          make_mask("b", 5, 1, {-1, 0, 3, 0, -1}, 4, 7),
                          make_mask("c", 2, 4, {1, -1, 2, -2, 2, -2, 1, -1}, 0.7, -20)};
  masks[2].anchor_x = 0;
  masks[2].anchor_y = 3;
  return masks;
}

using Check = std::function<void(ConvolverOptions, const Filter&, const Image&)>;

/// Every way to join and to thin answers, of luma and of channels.
void for_each_answer(const Check& check) {
  std::vector<std::pair<EdgeKind, std::vector<Mask>>> all;
  for (const EdgeDirection direction : {EdgeDirection::both, EdgeDirection::x, EdgeDirection::y})
    all.push_back({EdgeKind::gradient, plain_masks(EdgeMethod::sobel, direction)});
  for (const EdgeMethod method : {EdgeMethod::farid, EdgeMethod::kirsch, EdgeMethod::robinson,
                                  EdgeMethod::laplacian, EdgeMethod::dog})
    all.push_back({kind_of(method),
                   edge_masks({method, EdgeDirection::both, method == EdgeMethod::dog ? 1.0 : 0})});
  for (const auto& [kind, masks] : all) {
    CAPTURE(masks[0].name);
    for (const bool color : {false, true})
      for (const bool thin : {false, true})
        for (const std::optional<double> threshold : {std::optional<double>(), {64}})
          for (const int channels : {1, 3}) {
            CAPTURE(color);
            CAPTURE(thin);
            EdgeOptions edge{kind};
            edge.direction = masks[0].name.ends_with(" y") ? EdgeDirection::y : EdgeDirection::both;
            edge.color = color;
            edge.thin = thin;
            edge.threshold = threshold;
            ConvolverOptions options;
            options.border = channels == 3 ? Border::reflect101 : Border::constant;
            options.mode = color ? Mode::full : Mode::same;
            check(options, *edge_filter(masks, edge),
                  threshold ? levels(channels) : pattern(61, 37, channels, Depth::u8));
            if (thin) check(options, *edge_filter(masks, edge), levels(channels));
          }
  }
  for (const Combine combine : kCombines)
    for (const int channels : {1, 3})
      check({}, *combined_filter({several_masks(), combine}), pattern(40, 30, channels, Depth::u8));
}

/// Every method of edges, on pictures of both kinds, under borders and modes.
void for_each_edge(const Check& check) {
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
          check(options, *channel_edges(masks), pattern(61, 37, channels, Depth::u8));
      }
    }
  }
  std::vector<Mask> scaled = plain_masks(EdgeMethod::sobel);
  scaled[0].divisor = 2;
  scaled[1].divisor = 0.3;
  check({}, *channel_edges(scaled), pattern(40, 30, 3, Depth::u8));
}

/// Steps of every kind, first, between and last; their pictures of floats go below 0 and above 255.
void for_each_chain(const Check& check) {
  const auto edges = [](EdgeMethod method, bool color, bool thin, std::optional<double> threshold) {
    EdgeOptions edge{kind_of(method)};
    edge.color = color;
    edge.thin = thin;
    edge.threshold = threshold;
    return edge_filter(
        edge_masks({method, EdgeDirection::both, method == EdgeMethod::log ? 1.0 : 0}), edge);
  };
  const FilterPtr blur = mask_filter(gaussian_mask(2)), sharpen = mask_filter(sharpen_mask(1, 0.6)),
                  bright = mask_filter(make_mask("bright", 1, 1, {1.7}, 1, -60));
  const std::vector<FilterPtr> chains[] = {
      {blur, edges(EdgeMethod::sobel, false, false, {})},
      {blur, sharpen, bright},
      {sharpen, edges(EdgeMethod::scharr, true, true, 40.5), blur, bright},
      {edges(EdgeMethod::kirsch, false, true, {}), sharpen, edges(EdgeMethod::log, true, true, 3)},
      {bright, edges(EdgeMethod::robinson, true, false, 90),
       edges(EdgeMethod::sobel, false, true, 9)},
      {combined_filter({several_masks(), Combine::sum}), sharpen,
       combined_filter({several_masks(), Combine::first_strongest})},
  };
  for (const std::vector<FilterPtr>& steps : chains) {
    const FilterPtr filter = chain(steps);
    CAPTURE(filter->text());
    for (const auto& [border, mode] : {std::pair{Border::constant, Mode::same},
                                       {Border::reflect, Mode::valid},
                                       {Border::wrap, Mode::full}}) {
      ConvolverOptions options;
      options.border = border;
      options.border_value = border == Border::constant ? 200 : 0;
      options.mode = mode;
      for (const int channels : {1, 3})
        check(options, *filter, pattern(51, 41, channels, Depth::u8));
    }
  }
}

/// Edges, answers and chains of pictures that have more rows than a launch has.
void for_each_tall(const Check& check) {
  EdgeOptions thin;
  thin.thin = true;
  const std::vector<Mask> sobel = plain_masks(EdgeMethod::sobel);
  check({}, *channel_edges(sobel), pattern(3, 70000, 1, Depth::u8));
  check({}, *edge_filter(sobel, thin), pattern(3, 70000, 3, Depth::u8));
  check({}, *chain({mask_filter(make_mask("bright", 1, 1, {1.7}, 1, -60)), edge_filter(sobel, {})}),
        pattern(3, 70000, 3, Depth::u8));
}

Image on_cpu(ConvolverOptions options, const Filter& filter, const Image& in) {
  options.request.device = "cpu";
  Convolver convolver(options);
  return filtered_whole(in, filter, convolver);
}

struct Seen {
  int cases = 0, black = 0, grey = 0, white = 0;  ///< of samples in rows 5
};

/// Compares with the CPU's bytes those of resident plans in the emulator.
Seen emulated(void (*for_each)(const Check&)) {
  Seen seen;
  for_each([&](ConvolverOptions options, const Filter& filter, const Image& in) {
    const Image expected = on_cpu(options, filter, in);
    options.request.device = "emulator";
    Convolver convolver(options);
    CHECK(begin(filter, shape_of(in), convolver)->out == shape_of(expected));
    const ResidentPlan made = filter.resident(shape_of(in), convolver);
    CHECK(made.choice.device == DeviceKind::emulator);
    const Image from = exchanged(in);
    Image resident = Image::like(expected), copied = Image::like(expected);
    made.plan->run_resident(from.view(), resident.view(), nullptr);
    CHECK(same(exchanged(resident), expected));
    made.plan->run(from.view(), copied.view());
    CHECK(same(exchanged(copied), expected));
    // A picture in host memory is one run of such a plan.
    CHECK(same(filtered_whole(in, filter, convolver), expected));
    CHECK(convolver.report().runs == 1);
    CHECK(convolver.report().counts.blocks > 0);
    for (std::size_t x = 0; x < expected.row_bytes(); ++x) {
      const int sample = int(expected.view().row(5)[x]);
      ++(sample == 0 ? seen.black : sample == 255 ? seen.white : seen.grey);
    }
    ++seen.cases;
  });
  return seen;
}

/// Compares with the CPU's bytes those of pictures on a GPU, in what this run takes of the cases.
void on_a_gpu(void (*for_each)(const Check&)) {
  if (const std::string missing = test::cuda_missing(); !missing.empty()) {
    MESSAGE("skipped: " << missing);
    return;
  }
  std::vector<std::size_t> chosen;
  for_each([&](const auto&...) { chosen.push_back(chosen.size()); });
  test::thin_out(chosen);
  std::size_t number = 0;
  for_each([&](ConvolverOptions options, const Filter& filter, const Image& colours) {
    if (!std::binary_search(chosen.begin(), chosen.end(), number++)) return;
    const Image expected = on_cpu(options, filter, colours), in = exchanged(colours);
    options.request.device = "cuda:0";
    DeviceQueue queue(0);
    ResidentFilter resident(options, FilterPtr(FilterPtr(), &filter), queue);
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
    resident.run(view(from, in), Depth::u8, view(to, expected));
    queue.synchronize();
    Image got = Image::like(expected);
    copies.copy(got.view().row(0), to, bytes_of_image(expected));
    copies.wait();
    CHECK(same(exchanged(got), expected));
    Convolver convolver(options);
    CHECK(same(filtered_whole(colours, filter, convolver), expected));
    CHECK(convolver.report().runs == 1);
  });
}

}  // namespace

TEST_CASE("edges of a resident picture have the bytes that the CPU gives: in the emulator") {
  if (test::emulator_missing()) return;
  const Seen seen = emulated(for_each_edge);
  CHECK(seen.white > 0);  // lengths above 255 are among them
  CHECK(seen.cases == (3 * 3 + 4) * 5 * 3 * 2 + 1);
}

TEST_CASE("answers of luma, thin ones and joined ones have the CPU's bytes: in the emulator") {
  if (test::emulator_missing()) return;
  const Seen seen = emulated(for_each_answer);
  CHECK(seen.black > 1000);
  CHECK(seen.grey > 1000);
  CHECK(seen.white > 1000);
  CHECK(seen.cases == 8 * 2 * (2 + 4) * 2 + 4 * 2);
}

TEST_CASE("chains of a resident picture have the bytes that the CPU gives: in the emulator") {
  if (test::emulator_missing()) return;
  const Seen seen = emulated(for_each_chain);
  CHECK(seen.black > 500);
  CHECK(seen.grey > 500);
  CHECK(seen.white > 500);
  CHECK(seen.cases == 6 * 3 * 2);
}

TEST_CASE("edges and chains of tall resident pictures have the CPU's bytes: in the emulator") {
  if (test::emulator_missing()) return;
  CHECK(emulated(for_each_tall).cases == 3);
}

TEST_CASE("a convolver's plan for edges or chains is for the latest filter and shape") {
  if (test::emulator_missing()) return;
  ConvolverOptions options;
  options.request.device = "emulator";
  Convolver convolver(options);
  EdgeOptions thin;
  thin.thin = true;
  const FilterPtr filters[] = {chain({mask_filter(box_mask(3)), mask_filter(gaussian_mask(1))}),
                               chain({mask_filter(box_mask(3)), mask_filter(gaussian_mask(2))}),
                               channel_edges(plain_masks(EdgeMethod::sobel)),
                               channel_edges(plain_masks(EdgeMethod::scharr)),
                               edge_filter(plain_masks(EdgeMethod::scharr), thin)};
  for (const int channels : {1, 3, 3})
    for (const FilterPtr& filter : filters)
      for (const int width : {30, 31, 31}) {
        const Image in = pattern(width, 20, channels, Depth::u8);
        CHECK(same(filtered_whole(in, *filter, convolver), on_cpu(options, *filter, in)));
      }
  CHECK(convolver.report().runs == 45);
}

TEST_CASE("edges of a resident picture have the CPU's bytes: on a GPU") {
  on_a_gpu(for_each_edge);
}

TEST_CASE("answers of luma, thin ones and joined ones have the CPU's bytes: on a GPU") {
  on_a_gpu(for_each_answer);
}

TEST_CASE("chains of a resident picture have the CPU's bytes: on a GPU") {
  on_a_gpu(for_each_chain);
}

TEST_CASE("edges and chains of tall resident pictures have the CPU's bytes: on a GPU") {
  on_a_gpu(for_each_tall);
}

TEST_CASE("resident edges by a mask that is transformed are within a step of the CPU's") {
  if (test::emulator_missing()) return;
  ConvolverOptions options;
  const Image in = pattern(200, 170, 3, Depth::u8);
  std::vector<Mask> masks = {log_mask(8)};
  masks[0].divisor *= 0.02;  // so wide a mask answers faintly
  const Image expected = on_cpu(options, *channel_edges(masks), in);
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

TEST_CASE("edges and chains on the CPU are refused, and so are steps that only the CPU has") {
  ConvolverOptions options;
  options.request.device = "cpu";
  Convolver cpu(options);
  CHECK_THROWS_AS(channel_edges({box_mask(3)})->resident({9, 9, 1, Depth::u8}, cpu), UsageError);
  const FilterPtr blur = mask_filter(box_mask(3));
  CHECK_THROWS_AS(chain({blur, blur})->resident({9, 9, 1, Depth::u8}, cpu), UsageError);
  CHECK(chain({blur, channel_edges({box_mask(3)})})->resident_refuses() == "");
  EdgeOptions canny;
  canny.threshold = canny.low = 9;
  const FilterPtr followed = edge_filter(plain_masks(EdgeMethod::sobel), canny);
  CHECK(chain({blur, followed, blur})->resident_refuses() == followed->resident_refuses());
  CHECK(chain({sharpen_filter(box_mask(3), {}), blur})->resident_refuses() != "");
  CHECK_THROWS_AS(chain({blur, followed})->resident({9, 9, 1, Depth::u8}, cpu), UsageError);
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
