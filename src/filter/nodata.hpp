/// Samples that stand for no data.
#pragma once

#include <optional>
#include <string>

#include "src/filter/filter.hpp"

namespace convfilt {

/// Which samples have no data.
struct Nodata {
  std::optional<double> value;  ///< NaN stands for every NaN; none: what the picture's file names

  bool operator==(const Nodata& other) const;
};

/// A number, "nan" or "auto". Throws UsageError.
Nodata nodata_in(const std::string& word);

/// Filters all other samples, and leaves these as they are. Where a mask reaches them, the rest of
/// it is scaled so that it sums to what the whole does; if that is 0, they count as the sample that
/// is replaced. Where it does not, results are the filter's own. Throws UsageError
/// unless the filter is one mask; its begin() does if the picture has alpha, and where the file
/// names no value.
FilterPtr without_nodata(FilterPtr filter, const Nodata& nodata);

}  // namespace convfilt
