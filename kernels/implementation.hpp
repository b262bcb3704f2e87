/// A strategy on one kind of device, as its file exports it; the registry joins those of one name.
#pragma once

#include "arithmetic.hpp"
#include "ceil_div.hpp"
#include "strategy.hpp"

namespace convfilt {

struct Implementation {
  std::string_view name, summary;
  Family family;
  std::string (*refuses)(const Problem&, const Tuning&);
  std::unique_ptr<Plan> (*prepare)(const Problem&, const PlanOptions&);
  Geometry (*geometry)(const Problem&, const Tuning&) = nullptr;
  Needs needs = {};
  std::span<const Setting> settings = {};
  Family spatial_family = Family::direct;
};

struct Sides {
  int width, height;
};

/// Of the parts that a mask is cut into (PreparedMask::parts): the first, and the largest.
inline Sides first_part(const Mask& mask) {
  const auto share = [](int side) { return side / ceil_div(side, kMaxPartSide); };
  return {share(mask.width), share(mask.height)};
}
inline Sides largest_part(const Mask& mask) {
  const auto share = [](int side) { return ceil_div(side, ceil_div(side, kMaxPartSide)); };
  return {share(mask.width), share(mask.height)};
}

/// Implementation::refuses of the direct and the reordered family.
inline std::string direct_refuses(const Problem& problem, const Tuning&) {
  return arithmetic_refuses(problem);
}

/// Why a strategy of tensor cores refuses a depth, naming one that does not; empty for 8 bits.
inline std::string bytes_refuse(const Problem& problem, std::string_view instead) {
  if (problem.depth == Depth::u8) return "";
  return "tensor cores multiply bytes, and the picture is " + std::string(name_of(problem.depth)) +
         "; use --strategy=" + std::string(instead) + ", or a picture of 8 bits";
}

/// Blocks of columns x rows threads that each read all taps of one output.
inline Geometry one_output_a_thread(const Problem& problem, int columns, int rows) {
  const Sides mask = first_part(problem.mask);
  Geometry g;
  g.block_columns = g.out_columns = columns;
  g.block_rows = g.out_rows = rows;
  g.computing_threads = columns * rows;
  g.loads = double(g.computing_threads) * mask.width * mask.height;
  g.loads_per_output = "w * h";
  return g;
}

}  // namespace convfilt
