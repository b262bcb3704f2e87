/// What `check` found, in words.
#pragma once

#include <string>

#include "src/lab/check/search.hpp"

namespace convfilt {

/// "reflect101, flipped, 1 step at (3, 0)".
std::string agreement_line(const Conventions& all, const Agreement& agreement);

/// That line and a table.
std::string agreement_text(const std::string& name, const Conventions& all,
                           const Agreement& agreement);

/// An object with the same, and with its `status`.
std::string agreement_json(const std::string& status, const Conventions& all,
                           const Agreement& agreement);

/// "1 step"; of floats "1.2e-07".
std::string amount_text(const Conventions& all, double amount);

/// Whether more than one in a hundred samples are further off than roundings explain.
inline bool is_unknown(const Deviation& deviation) {
  return deviation.far * 100 > deviation.samples;
}

}  // namespace convfilt
