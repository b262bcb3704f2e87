/// The outputs that a student's kernel should have, or would have if it did something wrong; and
/// the mistake in its outputs, as far as they show it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "src/lab/try/program.hpp"

namespace convfilt {

/// An output, or a sample.
struct Cell {
  int x = 0, y = 0, z = 0, channel = 0;
};

/// Numbers for columns, rows and planes.
using Axes = std::array<int, 3>;

/// Something that a kernel may do wrong.
struct Variant {
  Axes offset{};            ///< the mask lies that far off
  Axes mirrors{};           ///< the mask, where 1
  bool transposed = false;  ///< the mask
  bool replicates = false;  ///< ghost cells are the nearest samples
  /// So many at both ends count as ghost cells; below 0, ghost cells that count as samples.
  Axes low{}, high{};
  Axes first{}, last{};    ///< so many of the mask are left out
  bool by_height = false;  ///< rows of the picture are taken for as long as columns
  int plane_side = 0;      ///< planes are taken for squares of so many samples a side
  /// Only the last product counts, or the last of a sample inside.
  bool last_alone = false, last_inside = false;
  bool sums_whole = false;  ///< the sum is an int
  bool cuts_whole = false;  ///< the output is
  bool rounds_whole = false;
  /// Outputs are those of other coordinates: rows and columns exchanged in a tile, or the blocks'.
  enum class Exchange { none, in_tile, of_blocks } exchange = Exchange::none;
  /// Outputs lie in memory as if rows were columns, or as if channels were planes.
  enum class Order { own, by_height, by_width, other_channels } order = Order::own;
};

class Oracle {
 public:
  /// Outputs may differ by `absolute` + `relative` times what they should be, and by roundings.
  explicit Oracle(const Trial& trial, double absolute = 0, double relative = 0);

  double at(Cell cell, const Variant& variant = {}) const;

  /// How far an output may be off that should be so large.
  double allowed(double expected) const { return std::max(rounding_, tolerance(expected)); }
  double tolerance(double expected) const { return absolute_ + relative_ * std::abs(expected); }
  double rounding() const { return rounding_; }

  const Trial& trial() const { return trial_; }

  /// Where an output lies in memory, in the kernel's order or in another; -1: nowhere.
  std::ptrdiff_t place_of(const Cell& cell, Variant::Order order = Variant::Order::own) const;

  /// Calls `visit` for each output in turn until that gives false; whether none did.
  bool all_of(const std::function<bool(const Cell&)>& visit) const;

 private:
  double sample(const Cell& cell, const Variant& variant) const;
  bool is_inside(const Cell& cell, const Variant& variant) const;

  const Trial& trial_;
  double absolute_, relative_, rounding_ = 0;
  std::vector<double> weights_;
};

/// The cause, if one is seen; no text where all outputs are right. `is_cause` is set where the
/// cause is certain: all outputs are what it makes of them.
LessonSentence about_pixels(const Oracle& oracle, const TrialRun& run, const LaunchSize& launch);

/// "(3, 4)", or "(3, 4, 5)" where there is a z.
std::string at_place(int x, int y, int z, bool has_z);
inline std::string pixel(const Trial& trial, const Cell& cell) {
  return at_place(cell.x, cell.y, cell.z, trial.depth > 1);
}

/// Whether that output was written.
bool is_written(const TrialRun& run, std::size_t place);

}  // namespace convfilt
