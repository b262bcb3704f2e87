/// Filtering where pictures lie on a device: the bytes are those that a convolver gives.
#include "src/filter/resident.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "src/base/errors.hpp"
#include "src/mask/make.hpp"
#include "tests/support/device/callers_stream.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/picture_files.hpp"

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
    ResidentFilter filter(options, mask, queue);
    Convolver chooser(options);
    test::CallersStream copies(DeviceKind::cuda);
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 12; ++i) {
        const Image in = pattern(40 + 31 * i, 30 + 7 * i, i % 3 ? 3 : 1, Depth::u8);
        const Image expected = convolver.convolve(in, mask);
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
              chooser.choice_for(shape_of(in), mask, options.border_value, 1).strategy->name);
        queue.synchronize();
        Image got = Image::like(in);
        copies.copy(got.view().row(0), to, bytes);
        copies.wait();
        CHECK(same(got, expected));
      }
    }
  }
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
  ResidentFilter filter(options, box_mask(5), queue);
  CHECK(filter.result_of({10, 9, 3, Depth::u8}) == Shape{6, 5, 3, Depth::u8});
  CHECK_THROWS_AS(filter.result_of({4, 9, 3, Depth::u8}), UsageError);
}
