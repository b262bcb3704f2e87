/// Which strategy of a family auto takes on a GPU.
#pragma once

#include <string>

#include "src/auto/choice.hpp"

namespace convfilt {

struct Preferred {
  const Strategy* strategy = nullptr;
  std::string cost;  ///< why this one, for a GPU; else empty
};

/// Of the family on CUDA, for a device of that compute capability: what takes least time. Where
/// cuFFT is missing, what needs none, if that takes the problem. No strategy: none does.
Preferred cheapest(Family family, int major, const Problem& problem, const Machine& machine);

}  // namespace convfilt
