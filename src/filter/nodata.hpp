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

/// Filters all other samples, and leaves these as they are; a result that would equal them gets
/// the next value above, or the one below the largest. What they count as where masks reach them:
///
/// A filter of one mask scales the rest of the mask so that it sums to what the whole does; if that
/// is 0, they count as the sample that is replaced.
///
/// Elsewhere they count as the nearest sample with data, no further in a row or column than the
/// filter reaches, or as 0 where there is none; of several the upper counts, then the left. Where
/// luma is taken, a pixel lacks data if all its channels do. Edges are not followed through them. A
/// border of their value counts as 0.
///
/// A filter of several steps does so in each.
///
/// A picture whose file names no value, or that cannot hold it, is filtered as by the filter.
/// begin() throws UsageError if the picture has alpha.
FilterPtr without_nodata(FilterPtr filter, const Nodata& nodata);

/// Whether the filter, or one of its steps, takes luma of pictures in colours.
bool has_luma(const Filter& filter);

}  // namespace convfilt
