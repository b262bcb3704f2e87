/// Cuts pictures into bands of rows with their ghost cells.
#pragma once

#include <cstddef>

#include "src/filter/filter.hpp"

namespace convfilt {

/// Cuts the input of bands from rows that come from top to bottom.
class BandCutter {
 public:
  /// `picture` has all rows where the work's border wraps; else it may be null.
  explicit BandCutter(const Work& work, const Image* picture = nullptr);

  /// Begins the input of output rows first..first+rows-1, and gives the next rows of the picture,
  /// for the caller to read; there may be none. Bands follow each other without gaps, and each but
  /// a picture's only one has at least least_rows() rows.
  PictureView<std::byte> begin(int first, int rows);

  /// The band, once those rows are there.
  Image end();

  /// Rows below which a band could lack the rows that ghost cells repeat.
  int least_rows() const { return work_.window.height; }

 private:
  void fill_sides(std::byte* row) const;

  /// Writes a pixel of the border value, opaque where there is alpha.
  template <class T>
  auto ghost_of() const;

  const Work& work_;
  const Image* picture_;
  int next_row_ = 0;  ///< the first that was not read yet
  Image band_;        ///< the latest
  int top_ = 0;       ///< the picture's row in its first
  int fresh_ = 0;     ///< the first of its rows that the caller reads
};

/// Rows of the bands into which a picture is cut: a multiple of the writer's step, and some
/// `wanted_bytes` of input.
int band_rows(const Work& work, int writer_step, std::size_t wanted_bytes);

}  // namespace convfilt
