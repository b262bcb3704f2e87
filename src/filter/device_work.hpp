/// Filters whose plan on a device does all that a picture needs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "src/filter/filter.hpp"

namespace convfilt {

/// Throws UsageError unless the choice is for a device, and for the same one as `first`.
void require_device(const Choice& choice, const Choice& first);

/// Whether one device filters by all masks of the work, and the filter's plan there makes the same
/// of the picture.
bool suits_device_plan(const Work& work, const Filter& filter, const Place& place);

/// Whole pictures by the plan that `make` makes, which the convolver keeps for the filter of that
/// text; where the device lacks memory, by `other`.
std::unique_ptr<Work> device_work(std::unique_ptr<Work> other, std::string text,
                                  Convolver& convolver, std::function<ResidentPlan()> make);

/// The work, by the filter's plan on a device where that suits.
template <class F>
std::unique_ptr<Work> by_device_plan(std::unique_ptr<Work> work, const F& filter,
                                     const Place& place) {
  if (!suits_device_plan(*work, filter, place)) return work;
  const Shape in = work->in;
  return device_work(std::move(work), filter.text(), place.convolver,
                     [filter, in, place] { return filter.device_plan(in, place, 0); });
}

}  // namespace convfilt
