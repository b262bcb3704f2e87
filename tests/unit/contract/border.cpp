/// The index functions against the oracle's walk, and the walk against the pictures in problem.hpp.
#include "kernels/contract/border.hpp"

#include <doctest/doctest.h>

#include <string>

#include "kernels/contract/dispatch.hpp"
#include "tests/support/oracle.hpp"

namespace convfilt::test {
namespace {

/// The samples that a border puts around the image abcd, as problem.hpp shows them.
std::string around_abcd(Border border) {
  std::string shown;
  for (int i = -3; i < 7; ++i) {
    const int index = walk_border(border, i, 4);
    shown += index < 0 ? 'v' : char('a' + index);
    if (i == -1 || i == 3) shown += '|';
  }
  return shown;
}

}  // namespace

TEST_CASE("the oracle's borders look as documented") {
  CHECK(around_abcd(Border::replicate) == "aaa|abcd|ddd");
  CHECK(around_abcd(Border::constant) == "vvv|abcd|vvv");
  CHECK(around_abcd(Border::reflect) == "cba|abcd|dcb");
  CHECK(around_abcd(Border::reflect101) == "dcb|abcd|cba");
  CHECK(around_abcd(Border::wrap) == "bcd|abcd|abc");
}

TEST_CASE("border_index is the oracle's walk, many images out too") {
  for (Border border : kBorders) {
    for (int n : {1, 2, 3, 4, 5, 17, 64}) {
      for (int i = -1100; i <= n + 1100; ++i) {
        const int is = border_index(border, i, n), should_be = walk_border(border, i, n);
        if (is != should_be) {
          FAIL_CHECK(name_of(border)
                     << " of " << n << " at " << i << ": " << is << ", should be " << should_be);
        }
      }
    }
  }
}

TEST_CASE("border_sample is border_index of the pixel, in its channel") {
  for (Border border : kBorders) {
    for (int channels = 1; channels <= 5; ++channels) {
      for (int pixels : {1, 2, 3, 7}) {
        for (int pixel = -40; pixel <= pixels + 40; ++pixel) {
          const int stand_in = walk_border(border, pixel, pixels);
          for (int channel = 0; channel < channels; ++channel) {
            const int x = pixel * channels + channel;
            const int is = border_sample(border, x, pixels * channels, channels);
            const int should_be = stand_in < 0 ? -1 : stand_in * channels + channel;
            if (is != should_be) {
              FAIL_CHECK(name_of(border) << " of " << pixels << " pixels of " << channels << " at "
                                         << x << ": " << is << ", should be " << should_be);
            }
          }
        }
      }
    }
  }
}

}  // namespace convfilt::test
