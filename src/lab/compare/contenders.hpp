/// The contenders of `compare`: strategies with their settings, and masks, as a person names them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/auto/choice.hpp"
#include "src/picture/image.hpp"

namespace convfilt {

/// A strategy as it is to be run; without one, whatever `auto` takes.
struct Contender {
  const Strategy* strategy = nullptr;
  Tuning tuning{};

  bool operator==(const Contender&) const = default;
};

/// "tiled-out:halo=regions", as parse_contenders() reads it.
std::string name_of(const Contender& contender);

/// Reads a list such as "basic,tiled-out:halo=regions:tile=16,auto"; a contender that is named
/// twice appears once. Throws UsageError, with the nearest name or the range.
std::vector<Contender> parse_contenders(std::string_view list, const Machine& machine);

/// Every strategy there is without settings, and with those that it wants compared beside them.
std::vector<Contender> all_contenders(const Machine& machine);

/// For "9x9" or "101x15" a Gaussian of that many columns and rows; for other words, load_mask().
Mask mask_named(const std::string& word);

/// The picture that is filtered where none is given: every value of an integer depth is as likely,
/// and a float lies in 0..1. The same samples everywhere. `channels` is 1 or 3.
Image noise_picture(int width, int height, int channels, Depth depth);

}  // namespace convfilt
