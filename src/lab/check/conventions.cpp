#include <algorithm>
#include <limits>

#include "kernels/contract/border.hpp"
#include "src/base/errors.hpp"
#include "src/base/suggest.hpp"
#include "src/lab/check/check.hpp"
#include "src/mask/number.hpp"
#include "src/picture/codec.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

constexpr std::size_t kMostWeights = 128 * 128;

struct Turn {
  const char* name;
  bool transposed, mirror_x, mirror_y;
};
constexpr Turn kTurns[] = {{"as written", false, false, false},
                           {"flipped", false, true, true},
                           {"transposed", true, false, false},
                           {"transposed and flipped", true, true, true},
                           {"mirrored left to right", false, true, false},
                           {"mirrored top to bottom", false, false, true},
                           {"turned left", true, true, false},
                           {"turned right", true, false, true}};

Mask turned(const Mask& mask, const Turn& turn) {
  Mask to = mask;
  const auto column = [&](int u) { return turn.mirror_x ? mask.width - 1 - u : u; };
  const auto row = [&](int v) { return turn.mirror_y ? mask.height - 1 - v : v; };
  to.anchor_x = column(mask.anchor_x);
  to.anchor_y = row(mask.anchor_y);
  if (turn.transposed) {
    std::swap(to.width, to.height);
    std::swap(to.anchor_x, to.anchor_y);
  }
  for (int j = 0; j < to.height; ++j)
    for (int i = 0; i < to.width; ++i)
      to.weights[std::size_t(j) * to.width + i] =
          mask.weight(column(turn.transposed ? j : i), row(turn.transposed ? i : j));
  return to;
}

std::vector<Scaling> scalings_of(const Mask& mask) {
  std::vector<Scaling> all;
  const double sum = total_of(mask.weights), size = magnitude(mask.weights);
  const std::pair<const char*, double> divisors[] = {
      {"as written", mask.divisor},
      {"divided by their sum", std::abs(sum) > 1e-9 * size ? sum : 0},
      {"divided by their number", double(mask.weights.size())},
      {"divided by the sum of their sizes", size},
      {"not divided", 1}};
  for (const auto& [name, divisor] : divisors)
    if (divisor != 0 && std::ranges::none_of(all, [d = divisor](const Scaling& other) {
          return std::abs(other.divisor - d) <= 1e-12 * std::abs(d);
        }))
      all.push_back({name, divisor, mask.offset});
  if (mask.offset != 0)
    for (std::size_t k = 0, count = all.size(); k < count; ++k)
      all.push_back({all[k].name + ", offset left out", all[k].divisor, 0});
  return all;
}

std::vector<Edge> edges_for(Mode mode, Depth depth, double border_value) {
  std::vector<Edge> edges;
  const auto constant = [&](double value) {
    edges.push_back({"constant " + print_number(value), Border::constant, value});
  };
  if (mode == Mode::full) constant(border_value);
  for (const Border border : kBorders)
    if (border != Border::constant)
      edges.push_back({std::string(name_of(border)), border});
    else if (mode == Mode::same)
      constant(border_value);
  if (mode == Mode::valid) return {edges[0]};
  for (const double value : {0.0, full_range(depth)})
    if (value != border_value) constant(value);
  if (mode == Mode::full) return edges;
  const std::string where = " where the mask leaves the picture";
  edges.push_back({"only weights inside", Border::constant, 0, Edge::Rule::rest});
  edges.push_back({"0" + where, Border::constant, 0, Edge::Rule::zero});
  edges.push_back({"copied" + where, Border::constant, 0, Edge::Rule::copied});
  return edges;
}

std::string shape_text(const Image& image) {
  return plural(std::uint64_t(image.channels()), "channel") + " of " +
         std::string(name_of(image.depth()));
}

}  // namespace

Conventions::Conventions(const Image& picture, const Image& other, const Mask& mask,
                         double border_value)
    : in(picture), theirs(other), scalings(scalings_of(mask)) {
  if (in.depth() != theirs.depth() || in.channels() != theirs.channels())
    throw IoError("it has " + shape_text(theirs) + ", and IN has " + shape_text(in) +
                  "; save both with the same channels and depth");
  if (mask.weights.size() > kMostWeights)
    throw IoError("the mask has more than " + std::to_string(kMostWeights) +
                  " weights, which takes hours; check a smaller one");
  std::vector<std::string> sizes;
  for (const Turn& turn : kTurns) {
    const Mask weights = turned(mask, turn);
    bool fits = false;
    for (const Mode mode : kModes) {
      const Problem problem{in.width(), in.height(), 1, in.depth(), {}, 0, weights, mode};
      const int width = problem.out_width(), height = problem.out_height();
      if (&turn == kTurns && width > 0 && height > 0)
        sizes.push_back(size_text(width, height) + " (" + std::string(name_of(mode)) + ")");
      const bool is_new = std::ranges::none_of(turns, [&](const TurnedMask& known) {
        return filter_alike(known.mask, weights) && known.mode == mode;
      });
      if (!fits && is_new && width == theirs.width() && height == theirs.height())
        turns.push_back({turn.name, weights, mode, problem.lead_x(), problem.lead_y()});
      fits = fits || (width == theirs.width() && height == theirs.height());
    }
  }
  if (turns.empty())
    throw IoError("it has " + size_text(theirs.width(), theirs.height()) +
                  " pixels; of IN with this mask it has " + listed(sizes, "or") +
                  "; give the picture that it was made of");
  edges = edges_for(turns[0].mode, in.depth(), border_value);
  for (int y = 0; y < in.height() && is_float(); ++y)
    for (int k = 0; k < in.width() * in.channels(); ++k)
      if (const double sample = row_of<float>(in.view(), y)[k]; std::isfinite(sample))
        largest = std::max(largest, std::abs(sample));
}

double Conventions::step(const Convention& convention) const {
  if (!is_float()) return 1;
  const Scaling& scaling = scalings[std::size_t(convention.scaling)];
  const std::vector<double>& weights = turns[0].mask.weights;
  const double most = double(weights.size()) * magnitude(weights) * largest;
  return 0x1p-23 * (most / std::abs(scaling.divisor) + std::abs(scaling.offset)) + 1e-30;
}

void Conventions::sums(const Convention& convention, int y, int x0, int x1, double* sums) const {
  const auto& [name, mask, mode, lead_x, lead_y] = turns[std::size_t(convention.turn)];
  const Edge& edge = edges[std::size_t(convention.edge)];
  const int left = x0 - convention.shift_x - lead_x, top = y - convention.shift_y - lead_y;
  const int count = x1 - x0, channels = in.channels();
  static thread_local std::vector<int> columns;
  static thread_local std::vector<double> samples;
  columns.resize(std::size_t(count + mask.width - 1));
  samples.resize(columns.size() * std::size_t(channels));
  for (std::size_t k = 0; k < columns.size(); ++k)
    columns[k] = border_index(edge.border, left + int(k), in.width());
  const std::ptrdiff_t outputs = std::ptrdiff_t(count) * channels;
  std::fill_n(sums, outputs, 0);
  for (int j = 0; j < mask.height; ++j) {
    const int row = border_index(edge.border, top + j, in.height());
    with_depth(in.depth(), [&]<class T>(TypeTag<T>) {
      double* to = samples.data();
      for (const int column : columns)
        for (int c = 0; c < channels; ++c)
          *to++ = row < 0 || column < 0
                      ? edge.value
                      : double(row_of<T>(in.view(), row)[std::ptrdiff_t(column) * channels + c]);
    });
    for (int i = 0; i < mask.width; ++i) {
      const double weight = mask.weight(i, j);
      const double* shifted = samples.data() + std::ptrdiff_t(i) * channels;
      if (weight != 0)
        for (std::ptrdiff_t k = 0; k < outputs; ++k) sums[k] += weight * shifted[k];
    }
  }
  if (edge.rule == Edge::Rule::ghosts) return;
  const int up = std::clamp(-top, 0, mask.height),
            down = std::clamp(in.height() - top, 0, mask.height);
  for (int x = 0; x < count; ++x) {
    const int begin = std::clamp(-left - x, 0, mask.width),
              end = std::clamp(in.width() - left - x, 0, mask.width);
    if (down - up == mask.height && end - begin == mask.width) continue;
    double rest = 0, scale = std::numeric_limits<double>::quiet_NaN();
    for (int j = up; j < down; ++j)
      for (int i = begin; i < end; ++i) rest += mask.weight(i, j);
    if (edge.rule == Edge::Rule::rest) scale = rest == 0 ? 1 : total_of(mask.weights) / rest;
    for (int c = 0; c < channels; ++c) sums[std::ptrdiff_t(x) * channels + c] *= scale;
  }
}

}  // namespace convfilt
