/// Measures strategies beside each other on one problem: times, what bounds them, what the emulator
/// counts, and whether the results are right. Prints nothing.
#pragma once

#include <functional>
#include <string>

#include "src/auto/choice.hpp"
#include "src/lab/compare/comparison.hpp"
#include "src/lab/compare/crop.hpp"
#include "src/picture/image.hpp"

namespace convfilt {

/// It is told of each step before the step is done.
using Progress = std::function<void(const std::string& what)>;

/// Picture and problem must agree. Throws UsageError and DeviceError where nothing can be measured
/// at all; what fails in one row is told in that row.
Comparison compare(const Problem& problem, const Image& picture, const CompareOptions& options,
                   const Machine& machine, DeviceLimits& limits, const Progress& progress);

/// The crop on which all these are counted in the emulator, since counts on crops of different
/// size cannot be compared: their edges weigh differently. By estimate patience allows it to each.
Problem emulated_crop(const Bench& bench, const std::vector<Contender>& contenders);

/// Runs the contender there, on `crop` or else on as large a crop of the picture as patience
/// allows. A refusal or a failure is told in the row.
Row measure_row(Bench& bench, const Contender& contender, const Location& location,
                const Problem* crop = nullptr);

}  // namespace convfilt
