/// A strategy on one kind of device, as its file exports it. The registry joins those of one name.
#pragma once

#include "kernels/strategy.hpp"

namespace convfilt {

struct Implementation {
  std::string_view name, summary;
  Family family;
  std::string (*refuses)(const Problem&, const Tuning&);
  std::unique_ptr<Plan> (*prepare)(const Problem&, const PlanOptions&);
  Geometry (*geometry)(const Problem&, const Tuning&) = nullptr;
  std::optional<Counts> (*block_counts)(const Problem&, const Tuning&, const BlockPlace&) = nullptr;
  Needs needs = {};
  std::span<const Setting> settings = {};
  std::span<const Tuning> also_compared = {};
  Family spatial_family = Family::direct;
  std::string_view (*kernel_for)(const Problem&, const CudaDevice&) = nullptr;
  double (*multiply_adds)(const Problem&) = nullptr;
};

}  // namespace convfilt
