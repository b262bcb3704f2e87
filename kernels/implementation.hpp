/// A strategy on one kind of device, as its file exports it; the registry joins those of one name.
#pragma once

#include "arithmetic.hpp"
#include "strategy.hpp"

namespace convfilt {

struct Implementation {
  std::string_view name, summary;
  Family family;
  std::string (*refuses)(const Problem&, const Tuning&);
  std::unique_ptr<Plan> (*prepare)(const Problem&, const PlanOptions&);
  Geometry (*geometry)(const Problem&, const Tuning&) = nullptr;
  std::span<const Setting> settings = {};
  Family spatial_family = Family::direct;
};

struct Sides {
  int width, height;
};

/// Of the parts that a mask is cut into (PreparedMask::parts): the first, and the largest.
inline Sides first_part(const Mask& mask) {
  const auto share = [](int side) { return side / ((side + kMaxPartSide - 1) / kMaxPartSide); };
  return {share(mask.width), share(mask.height)};
}
inline Sides largest_part(const Mask& mask) {
  const auto share = [](int side) {
    const int parts = (side + kMaxPartSide - 1) / kMaxPartSide;
    return (side + parts - 1) / parts;
  };
  return {share(mask.width), share(mask.height)};
}

/// Implementation::refuses of the direct and the reordered family.
inline std::string direct_refuses(const Problem& problem, const Tuning&) {
  return arithmetic_refuses(problem);
}

}  // namespace convfilt
