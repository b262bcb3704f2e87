// Fits a line of weights to a grid, and bounds what the fit and the roundings lose.

#include "kernels/coarse/mask.hpp"

#include <algorithm>

namespace convfilt::coarse {
namespace {

using Line = std::vector<double>;

/// The convolution of kOrder boxes of `step` ones; its sum is step^3. It is padded to whole cells.
Line spline(int step) {
  Line line = {1};
  for (int k = 0; k < kOrder; ++k) {
    Line longer(line.size() + step - 1);
    for (std::size_t i = 0; i < line.size(); ++i) {
      for (int t = 0; t < step; ++t) longer[i + t] += line[i];
    }
    line = std::move(longer);
  }
  line.resize(kOrder * step);
  return line;
}

/// The sum of a[x] * b[x + shift] over all x.
double product(const Line& a, const Line& b, int shift) {
  double sum = 0;
  const int end = std::min(int(a.size()), int(b.size()) - shift);
  for (int x = std::max(0, -shift); x < end; ++x) sum += a[x] * b[x + shift];
  return sum;
}

/// Solves A v = b for a banded positive definite matrix A[i][j] = diagonals[|i - j|], by Cholesky's
/// decomposition.
class BandedSolver {
 public:
  BandedSolver(const Line& diagonals, int size)
      : width_(int(diagonals.size())), rows_(size, Line(width_)) {
    for (int i = 0; i < size; ++i) {
      for (int e = std::min(i, width_ - 1); e >= 0; --e) {  // column i - e
        double sum = diagonals[e];
        for (int k = e + 1; k < width_ && k <= i; ++k) sum -= rows_[i][k] * rows_[i - e][k - e];
        rows_[i][e] = e == 0 ? std::sqrt(sum) : sum / rows_[i - e][0];
      }
    }
  }

  Line solve(Line v) const {
    const int size = int(v.size());
    for (int i = 0; i < size; ++i) {
      for (int e = 1; e < width_ && e <= i; ++e) v[i] -= rows_[i][e] * v[i - e];
      v[i] /= rows_[i][0];
    }
    for (int i = size - 1; i >= 0; --i) {
      for (int e = 1; e < width_ && i + e < size; ++e) v[i] -= rows_[i + e][e] * v[i + e];
      v[i] /= rows_[i][0];
    }
    return v;
  }

 private:
  int width_;
  std::vector<Line> rows_;
};

std::vector<float> floats(const Line& line) {
  return {line.begin(), line.end()};
}

/// The sum of |differences| between the line's weights and those that the coarse line gives to
/// samples, for an output that lies `place` samples into a cell.
double difference(const Axis& axis, int place) {
  const int d = axis.step, nodes = int(axis.coarse.size()) + kOrder - 1;
  Line of_nodes(nodes);
  for (int k = 0; k < kOrder; ++k) {
    // The first of the three nodes begins first, so the output lies furthest along its spline.
    const double back = axis.back[place + (kOrder - 1 - k) * d];
    for (std::size_t m = 0; m < axis.coarse.size(); ++m) of_nodes[k + m] += back * axis.coarse[m];
  }
  Line weights((nodes + kOrder - 1) * d);  // for the samples from axis.first on
  for (int node = 0; node < nodes; ++node) {
    double* const to = &weights[node * d];
    for (int t = 0; t < kOrder * d; ++t) to[t] += of_nodes[node] * axis.down[t];
  }
  for (std::size_t i = 0; i < axis.line.size(); ++i)
    weights[place - axis.first + int(i)] -= axis.line[i];
  return magnitude(weights);
}

/// A bound on the roundings of a sum of products with these weights, in half ulps of the largest
/// sample. Each product is rounded, and so is each partial sum, which is at most the sum of
/// |weights| so far. A chain ends after every `length` products, the first time after
/// length - shift of them, and at the end of every cell of `cell` products. The chains are then
/// added up.
double roundings(const std::vector<float>& weights, int length, int cell, int shift = 0) {
  double total = 0, chain = 0, count = magnitude(weights);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if ((int(i) % cell + shift) % length == 0) {
      total += chain;
      count += total;
      chain = 0;
    }
    chain += std::abs(weights[i]);
    count += chain;
  }
  return count + total + chain;
}

double line_roundings(const std::vector<float>& weights) {
  double most = 0;  // a thread's sums each start one sample later
  for (int shift = 0; shift < kLineChain; ++shift)
    most = std::max(most, roundings(weights, kLineChain, int(weights.size()), shift));
  return most;
}

}  // namespace

Axis fit_axis(const std::vector<double>& line, int step, int gap) {
  // `coarse` has `size` weights, one for each node whose spline reaches samples that the outputs of
  // a cell need. The line starts `gap` samples into the cell.
  const int d = step, sides = int(line.size());
  const int reach = kOrder * d;
  const int last = (gap + sides - 1 + reach - 1) / d;
  const int before = kOrder - 1;  // nodes whose spline begins before the line
  const int size = before + last + 1;
  const Line box3 = spline(d);
  Line down = box3, back = box3;
  const double whole = total_of(box3);
  for (double& v : down) v /= whole;
  for (double& v : back) v *= d / whole;

  // Least squares need <B_m, line> and <B_m, B_n>, where B_m are the weights that coarse[m] alone
  // would give to samples.
  Line right(size), across(2 * reach);
  for (int shift = -reach; shift < reach; ++shift)
    across[shift + reach] = product(back, down, shift);
  for (int m = 0; m < size; ++m) {
    for (int i = 0; i < sides; ++i) {
      const int shift = gap + i - (m - before) * d;
      if (shift >= -reach && shift < reach) right[m] += line[i] * across[shift + reach];
    }
  }
  Line diagonals(2 * kOrder - 1);
  for (int e = 0; e < int(diagonals.size()); ++e) {
    for (int j = -kOrder; j <= kOrder; ++j)
      diagonals[e] += product(back, back, j * d) * product(down, down, (e - j) * d);
  }
  const BandedSolver solver(diagonals, size);
  Line coarse = solver.solve(right);
  // The nearest solution may have another sum than the line. A multiple of the solution for a right
  // side of ones corrects that with the least change.
  const Line along = solver.solve(Line(size, 1.0));
  const double missing = (total_of(line) - total_of(coarse)) / total_of(along);
  for (int m = 0; m < size; ++m) coarse[m] += missing * along[m];

  Axis axis;
  axis.line = floats(line);
  axis.step = d;
  axis.first = -gap - 2 * before * d;
  const double largest = *std::max_element(down.begin(), down.end());
  axis.down_unit = float(std::exp2(std::ceil(std::log2(largest / 65535))));
  for (double v : down)
    axis.down.push_back(float(std::nearbyint(v / axis.down_unit)) * axis.down_unit);
  const double kept = total_of(axis.down);  // nearly 1
  for (double& weight : coarse) weight /= kept;
  axis.coarse = floats(coarse);
  axis.back = floats(back);
  for (int place = 0; place < d; ++place)
    axis.error = std::max(axis.error, difference(axis, place));
  axis.line_roundings = line_roundings(axis.line) + 1;            // + 1 for the weights' own
  axis.down_roundings = roundings(axis.down, kDownChain, d) + 1;  // + 1: two blocks share a node
  axis.coarse_roundings = line_roundings(axis.coarse);
  return axis;
}

}  // namespace convfilt::coarse
