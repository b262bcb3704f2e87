/// A strategy on one kind of device, as its file exports it; the registry joins those of one name.
#pragma once

#include "strategy.hpp"

namespace convfilt {

struct Implementation {
  std::string_view name, summary;
  Family family;
  std::string (*refuses)(const Problem&);
  std::unique_ptr<Plan> (*prepare)(const Problem&, const PlanOptions&);
};

}  // namespace convfilt
