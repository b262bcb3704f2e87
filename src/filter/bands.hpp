/// Filtering in bands of rows, so that a picture is decoded, filtered and encoded at the same time
/// and never lies in memory as a whole.
///
/// A band of the output needs some more rows of the input, and each row some more columns. Whoever
/// cuts bands makes up the ghost cells beyond the picture's sides (BandCutter), so that a filter
/// sees samples alone: it computes what Mode::valid leaves of them, which are the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"
#include "src/picture/image.hpp"

namespace convfilt {

/// A picture without its samples.
struct Shape {
  int width = 0, height = 0, channels = 1;
  Depth depth = Depth::u8;

  bool operator==(const Shape&) const = default;
};

Shape shape_of(const Image& image);

/// Bytes of all its samples.
std::int64_t bytes_of(const Shape& shape);

/// The samples that an output needs: output (x, y) those of columns x - lead_x to x - lead_x +
/// width
/// - 1, and of rows likewise.
struct Window {
  int width = 1, height = 1;
  int lead_x = 0, lead_y = 0;
};

Window window_of(const Problem& problem);

class BandFilter {
 public:
  /// Takes shapes, window and border of the whole picture's problem; its depth and channels are
  /// those of input and output.
  explicit BandFilter(const Problem& whole);
  virtual ~BandFilter() = default;

  Shape in, out;
  Window window;
  Border border;
  double border_value;

  /// Filters one band at a time, on one thread.
  class Worker {
   public:
    virtual ~Worker() = default;

    /// `in` has window.width - 1 columns and window.height - 1 rows more than `out`.
    virtual void filter(PictureView<const std::byte> in, PictureView<std::byte> out) = 0;
  };

  /// Several threads may ask for workers at once.
  virtual std::unique_ptr<Worker> make_worker() const = 0;

  /// Bytes that a worker takes beside its input and output, so far as they grow with the width.
  virtual std::int64_t bytes_of_worker() const { return 0; }
};

/// Plans for bands of one picture, one for each number of rows. They run on one thread.
/// Copies share nothing.
class BandPlans {
 public:
  BandPlans(const Strategy& strategy, const Problem& whole, const PlanOptions& how)
      : strategy_(&strategy), whole_(whole), how_(how) {}
  BandPlans(const BandPlans& other) : BandPlans(*other.strategy_, other.whole_, other.how_) {}
  BandPlans& operator=(const BandPlans&) = delete;

  /// The plan for that many rows of output.
  Plan& for_rows(int rows);

 private:
  const Strategy* strategy_;
  Problem whole_;
  PlanOptions how_;
  struct Sized {
    int rows;
    std::unique_ptr<Plan> plan;
  };
  std::vector<Sized> plans_;  ///< the latest last
};

/// Why a picture with this border cannot be cut into bands, in half a sentence; empty when it can.
std::string bands_refuse(Border border, const Window& window);

/// Cuts the input of bands from rows that come from top to bottom.
class BandCutter {
 public:
  /// `read` gives the next rows of the picture, as many as the view has.
  BandCutter(const BandFilter& filter, std::function<void(PictureView<std::byte>)> read);

  /// The input of output rows first..first+rows-1. Bands follow each other without gaps, and each
  /// but a picture's only one has at least least_rows() rows.
  Image next(int first, int rows);

  /// Rows below which a band could lack the rows that ghost cells repeat.
  int least_rows() const { return window_.height; }

 private:
  void fill_sides(std::byte* row) const;

  /// Writes a pixel of the border value, opaque where there is alpha.
  template <class T>
  auto ghost_of() const;

  Shape in_, out_;
  Window window_;
  Border border_;
  double border_value_;
  std::function<void(PictureView<std::byte>)> read_;
  int next_row_ = 0;      ///< the first that was not read yet
  Image latest_;          ///< the band before
  int latest_first_ = 0;  ///< the picture's row in its first
};

/// Rows of the bands into which a picture is cut: a multiple of the writer's step, and some
/// `wanted_bytes` of input.
int band_rows(const BandFilter& filter, int writer_step, std::size_t wanted_bytes);

}  // namespace convfilt
