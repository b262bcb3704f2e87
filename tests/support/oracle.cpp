#include "tests/support/oracle.hpp"

#include <algorithm>
#include <cmath>

namespace convfilt::test {
namespace {

bool is_integer(double value) {
  return std::floor(value) == value;
}

/// For every position first..first+count-1 the index that stands in for it.
std::vector<int> walk_all(Border border, int first, int count, int n) {
  std::vector<int> indices(count);
  for (int k = 0; k < count; ++k) indices[k] = walk_border(border, first + k, n);
  return indices;
}

/// Calls sum_up(sample) for every weight of every output, in order, and then end(). `sample` is the
/// value under the weight, ghost cells included.
template <class Sum, class End>
void for_each_output(const Problem& p, const Picture& in, Sum&& sum_up, End&& end) {
  double ghost = p.border_value;
  if (p.depth != Depth::f32) {
    ghost = std::nearbyint(std::min(std::max(ghost, 0.0), full_range(p.depth)));
  } else {
    ghost = float(ghost);
  }
  const Mask& mask = p.mask;
  // Where output 0 lies in the picture, and how many there are, by the modes' definitions.
  const bool same = p.mode == Mode::same, full = p.mode == Mode::full;
  const int left = same ? 0 : full ? mask.anchor_x - (mask.width - 1) : mask.anchor_x;
  const int top = same ? 0 : full ? mask.anchor_y - (mask.height - 1) : mask.anchor_y;
  const int grow = same ? 0 : full ? 1 : -1;
  const int out_width = p.width + grow * (mask.width - 1);
  const int out_height = p.height + grow * (mask.height - 1);
  const auto columns =
      walk_all(p.border, left - mask.anchor_x, out_width + mask.width - 1, p.width);
  const auto rows = walk_all(p.border, top - mask.anchor_y, out_height + mask.height - 1, p.height);
  std::vector<double> samples;
  samples.reserve(in.samples());
  for (int y = 0; y < p.height; ++y) {
    for (int x = 0; x < p.width; ++x) {
      for (int c = 0; c < p.channels; ++c) samples.push_back(in.get(x, y, c));
    }
  }
  for (int y = 0; y < out_height; ++y) {
    for (int x = 0; x < out_width; ++x) {
      for (int c = 0; c < p.channels; ++c) {
        for (int j = 0; j < mask.height; ++j) {
          for (int i = 0; i < mask.width; ++i) {
            const int column = columns[x + i], row = rows[y + j];
            const bool outside = column < 0 || row < 0;
            sum_up(
                mask.weights[std::size_t(j) * mask.width + i],
                outside ? ghost : samples[(std::size_t(row) * p.width + column) * p.channels + c]);
          }
        }
        end();
      }
    }
  }
}

}  // namespace

int walk_border(Border border, int i, int n) {
  if (i >= 0 && i < n) return i;
  if (border == Border::constant) return -1;
  int at = i < 0 ? 0 : n - 1;
  int step = i < 0 ? -1 : 1;
  for (int steps = i < 0 ? -i : i - (n - 1); steps > 0; --steps) {
    const bool leaves = at + step < 0 || at + step >= n;
    switch (border) {
      case Border::wrap: at = !leaves ? at + step : step < 0 ? n - 1 : 0; break;
      case Border::reflect:  // the edge sample comes twice
        if (leaves) {
          step = -step;
        } else {
          at += step;
        }
        break;
      case Border::reflect101:
        if (leaves) step = -step;
        if (n > 1) at += step;
        break;
      case Border::replicate:
      case Border::constant: break;
    }
  }
  return at;
}

std::vector<double> convolve(const Problem& p, const Picture& in) {
  std::vector<double> result;
  result.reserve(in.samples());
  double sum = 0;
  for_each_output(
      p, in, [&](double weight, double sample) { sum += weight != 0 ? weight * sample : 0; },
      [&] {
        result.push_back(p.mask.offset + sum / p.mask.divisor);
        sum = 0;
      });
  return result;
}

Wide divide_half_to_even(Wide numerator, Wide denominator) {
  Wide quotient = numerator / denominator;
  if (quotient * denominator > numerator) --quotient;  // towards minus infinity
  const Wide twice_rest = 2 * (numerator - quotient * denominator);
  const bool up = twice_rest > denominator || (twice_rest == denominator && quotient % 2 != 0);
  return up ? quotient + 1 : quotient;
}

std::optional<std::vector<std::uint8_t>> convolve_exactly(const Problem& p, const Picture& in) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: larger doubles may have lost their units
  const Mask& mask = p.mask;
  const double scaled_offset = mask.offset * mask.divisor;
  const auto usable = [&](double v) { return is_integer(v) && std::abs(v) < kExact; };
  if (p.depth != Depth::u8 || !std::all_of(mask.weights.begin(), mask.weights.end(), usable) ||
      !usable(mask.divisor) || !usable(scaled_offset)) {
    return std::nullopt;
  }
  std::vector<std::uint8_t> result;
  result.reserve(in.samples());
  Wide sum = 0;
  for_each_output(
      p, in, [&](double weight, double sample) { sum += Wide(std::int64_t(weight)) * int(sample); },
      [&] {
        const Wide rounded = divide_half_to_even(sum + Wide(std::int64_t(scaled_offset)),
                                                 Wide(std::int64_t(mask.divisor)));
        result.push_back(std::uint8_t(rounded < 0 ? 0 : rounded > 255 ? 255 : int(rounded)));
        sum = 0;
      });
  return result;
}

}  // namespace convfilt::test
