/// Samples that stand for no data.
#pragma once

#include <optional>
#include <string>

#include "src/filter/filter.hpp"

namespace convfilt {

/// Which samples have no data.
struct Nodata {
  /// As the file stores it. NaN stands for every NaN; none: what the picture's file names.
  std::optional<double> value;

  bool operator==(const Nodata& other) const;
};

/// A number, "nan" or "auto". Throws UsageError.
Nodata nodata_in(const std::string& word);

/// The sample, of this depth, that stands for no data, as the picture's file says; nothing where it
/// names none, or one that no sample can have.
std::optional<double> sample_without_data(const Metadata& metadata, Depth depth);

/// Filters all other samples, and leaves these as they are. Where a mask reaches them, the rest of
/// it is scaled so that it sums to what the whole does; if that is 0, they count as the sample that
/// is replaced. Where it does not, results are the filter's own. A picture whose
/// file names no value, or that cannot hold it, is filtered as by the filter. Throws UsageError
/// unless the filter is one mask; its begin() does if the picture has alpha.
FilterPtr without_nodata(FilterPtr filter, const Nodata& nodata);

}  // namespace convfilt
