#include "src/lab/try/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace convfilt {

Oracle::Oracle(const Trial& trial, double absolute, double relative)
    : trial_(trial), absolute_(absolute), relative_(relative) {
  double sum = 0;
  for (const double weight : trial.mask.weights) {
    weights_.push_back(double(float(weight / trial.mask.divisor)));
    sum += std::abs(weights_.back());
  }
  // Sums of floats may be off by their roundings, in any order.
  rounding_ = sum * double(weights_.size()) * trial.largest * 1.2e-7 + 1e-30;
}

double Oracle::at(Cell cell, const Variant& variant) const {
  const Trial& t = trial_;
  const int columns = t.mask.width, rows = t.mask_height(), planes = t.mask_depth;
  const int left = t.is_valid ? 0 : t.mask.anchor_x, top = t.is_valid ? 0 : t.mask.anchor_y,
            front = t.is_valid ? 0 : planes / 2;
  double sum = 0;
  const auto& [first, last, mirrors, off] =
      std::tie(variant.first, variant.last, variant.mirrors, variant.offset);
  for (int k = first[2]; k < planes - last[2]; ++k)
    for (int j = first[1]; j < rows - last[1]; ++j)
      for (int i = first[0]; i < columns - last[0]; ++i) {
        int u = i, v = j;
        if (variant.transposed && columns == rows) std::swap(u, v);
        if (mirrors[0] != 0) u = columns - 1 - u;
        if (mirrors[1] != 0) v = rows - 1 - v;
        const int w = mirrors[2] != 0 ? planes - 1 - k : k;
        const Cell from{cell.x + i - left + off[0], cell.y + j - top + off[1],
                        cell.z + k - front + off[2], cell.channel};
        if (variant.last_inside && !is_inside(from, {})) continue;
        const double product =
            weights_[std::size_t((w * rows + v) * columns + u)] * sample(from, variant);
        sum = variant.last_alone || variant.last_inside ? product : sum + product;
        if (variant.sums_whole) sum = std::trunc(sum);
      }
  return variant.cuts_whole ? std::trunc(sum) : variant.rounds_whole ? std::round(sum) : sum;
}

bool Oracle::is_inside(const Cell& cell, const Variant& variant) const {
  const Trial& t = trial_;
  const auto &low = variant.low, &high = variant.high;
  return cell.x >= low[0] && cell.x < t.width - high[0] && cell.y >= low[1] &&
         cell.y < t.height - high[1] && cell.z >= low[2] && cell.z < t.depth - high[2];
}

double Oracle::sample(const Cell& cell, const Variant& variant) const {
  const Trial& t = trial_;
  auto [x, y, z, channel] = cell;
  if (!is_inside(cell, variant) && !variant.replicates) return 0;
  if (variant.replicates) {
    x = std::clamp(x, 0, t.width - 1);
    y = std::clamp(y, 0, t.height - 1);
    z = std::clamp(z, 0, t.depth - 1);
  }
  const std::ptrdiff_t row = variant.by_height ? t.height : t.width, side = variant.plane_side,
                       plane = side > 0 ? side * side : std::ptrdiff_t{t.width} * t.height,
                       pixel = z * plane + y * row + x,
                       at = t.is_planar ? channel * plane * t.depth + pixel
                                        : pixel * t.channels + channel;
  // A ghost cell that counts as a sample is what lies there in memory.
  return at >= 0 && at < std::ptrdiff_t(t.in.size()) ? double(t.in[std::size_t(at)])
                                                     : std::numeric_limits<double>::quiet_NaN();
}

std::ptrdiff_t Oracle::place_of(const Cell& cell, Variant::Order order) const {
  const Trial& t = trial_;
  const std::ptrdiff_t w = t.out_width(), h = t.out_height(), plane = w * h;
  const std::ptrdiff_t pixel =
      cell.z * plane + (order == Variant::Order::by_height  ? cell.x * h + cell.y
                        : order == Variant::Order::by_width ? cell.x * w + cell.y
                                                            : cell.y * w + cell.x);
  const bool is_planar = t.is_planar != (order == Variant::Order::other_channels);
  const std::ptrdiff_t at =
      is_planar ? cell.channel * plane * t.out_depth() + pixel : pixel * t.channels + cell.channel;
  return at < std::ptrdiff_t(t.outputs()) ? at : -1;
}

bool Oracle::all_of(const std::function<bool(const Cell&)>& visit) const {
  const Trial& t = trial_;
  for (int z = 0; z < t.out_depth(); ++z)
    for (int y = 0; y < t.out_height(); ++y)
      for (int x = 0; x < t.out_width(); ++x)
        for (int channel = 0; channel < t.channels; ++channel)
          if (!visit({x, y, z, channel})) return false;
  return true;
}

}  // namespace convfilt
