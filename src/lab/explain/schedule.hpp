/// The schedule of in-parts, or of overlap-add in divisions, in words: which block of the picture
/// meets which part of the mask in which interval of which division.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"
#include "kernels/transform/block_schedule.hpp"

namespace convfilt {

/// A heading, and lines of a name and what there is to say.
struct ScheduleText {
  std::string heading;
  std::vector<std::pair<std::string, std::string>> lines;
};

/// All intervals of all divisions, along both axes of the picture.
struct BothIntervals {
  transform::Intervals x, y;
  bool divided;  ///< whether each division has a private buffer
};
BothIntervals intervals_of(const Strategy& strategy, const Problem& problem, const Tuning& tuning);

/// One for each axis along which intervals meet. Long lists end with how many more there are.
std::vector<ScheduleText> schedule_texts(const Strategy& strategy, const Problem& problem,
                                         const Tuning& tuning);

}  // namespace convfilt
