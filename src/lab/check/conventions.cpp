#include "src/lab/check/conventions.hpp"

#include <optional>

#include "kernels/contract/border.hpp"
#include "src/base/errors.hpp"
#include "src/base/suggest.hpp"
#include "src/mask/number.hpp"
#include "src/picture/codec.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

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
  if (turn.transposed) std::swap(to.width, to.height);
  const auto column = [&](int u) { return turn.mirror_x ? mask.width - 1 - u : u; };
  const auto row = [&](int v) { return turn.mirror_y ? mask.height - 1 - v : v; };
  to.anchor_x = turn.transposed ? row(mask.anchor_y) : column(mask.anchor_x);
  to.anchor_y = turn.transposed ? column(mask.anchor_x) : row(mask.anchor_y);
  for (int j = 0; j < to.height; ++j)
    for (int i = 0; i < to.width; ++i)
      to.weights[std::size_t(j) * to.width + i] =
          mask.weight(column(turn.transposed ? j : i), row(turn.transposed ? i : j));
  return to;
}

/// The way from a picture to one of the size of theirs, if there is one.
std::optional<TurnedMask> fitting(const Image& in, const Image& theirs, const std::string& name,
                                  const Mask& mask) {
  for (const Mode mode : kModes) {
    const Problem problem{in.width(), in.height(), 1, in.depth(), Border::constant, 0, mask, mode};
    if (problem.out_width() == theirs.width() && problem.out_height() == theirs.height())
      return TurnedMask{name, mask, mode, problem.lead_x(), problem.lead_y()};
  }
  return std::nullopt;
}

std::string sizes_for(const Image& in, const Mask& mask) {
  std::vector<std::string> sizes;
  for (const Mode mode : kModes) {
    const Problem problem{in.width(), in.height(), 1, in.depth(), Border::constant, 0, mask, mode};
    if (problem.out_width() > 0 && problem.out_height() > 0)
      sizes.push_back(size_text(problem.out_width(), problem.out_height()) + " (" +
                      std::string(name_of(mode)) + ")");
  }
  return listed(sizes, "or");
}

std::vector<Scaling> scalings_of(const Mask& mask) {
  std::vector<Scaling> all;
  const double sum = total_of(mask.weights), size = magnitude(mask.weights);
  for (const double offset : {mask.offset, 0.0})
    for (const auto& [name, divisor] :
         {std::pair{"as written", mask.divisor},
          {"divided by the sum of the weights", std::abs(sum) > 1e-9 * size ? sum : 0},
          {"divided by the number of weights", double(mask.weights.size())},
          {"divided by the sum of the weights' sizes", size},
          {"not divided", 1.0}}) {
      const auto alike = [&, d = divisor](const Scaling& other) {
        return std::abs(other.divisor - d) <= 1e-12 * std::abs(d) && other.offset == offset;
      };
      if (divisor != 0 && std::ranges::none_of(all, alike))
        all.push_back({name + std::string(offset != mask.offset ? ", offset left out" : ""),
                       divisor, offset});
    }
  return all;
}

std::vector<Edge> edges_for(const Conventions& all, double border_value) {
  std::vector<Edge> edges;
  const auto constant = [&](double value) {
    edges.push_back({"constant " + print_number(value), Border::constant, value});
  };
  const Mode mode = all.turns[0].mode;
  if (mode == Mode::full) constant(border_value);
  for (const Border border : kBorders)
    if (border != Border::constant) edges.push_back({std::string(name_of(border)), border});
    else if (mode != Mode::full) constant(border_value);
  if (mode == Mode::valid) return {edges[0]};
  for (const double value : {0.0, full_range(all.in.depth())})
    if (value != border_value) constant(value);
  if (mode == Mode::full) return edges;
  edges.push_back({"without the weights outside, the others scaled up", Border::constant, 0,
                   Edge::Rule::rest});
  edges.push_back({"0 where the mask leaves the picture", Border::constant, 0, Edge::Rule::zero});
  edges.push_back(
      {"copied where the mask leaves the picture", Border::constant, 0, Edge::Rule::copied});
  return edges;
}

std::string shape_text(const Image& image) {
  return plural(std::uint64_t(image.channels()), "channel") + " of " +
         std::string(name_of(image.depth()));
}

}  // namespace

Conventions::Conventions(const Image& picture, const Image& other, const Mask& mask,
                         double border_value)
    : in(picture), theirs(other), channels(picture.channels()), scalings(scalings_of(mask)) {
  if (in.depth() != theirs.depth() || in.channels() != theirs.channels())
    throw IoError("it has " + shape_text(theirs) + ", and IN " + shape_text(in) +
                  "; save one as the other is, e.g. with convfilt apply identity and --depth or "
                  "--luma");
  for (const Turn& turn : kTurns) {
    auto fits = fitting(in, theirs, turn.name, turned(mask, turn));
    const auto alike = [&](const TurnedMask& known) {
      return filter_alike(known.mask, fits->mask) && known.mode == fits->mode;
    };
    if (fits && std::ranges::none_of(turns, alike)) turns.push_back(std::move(*fits));
  }
  if (turns.empty())
    throw IoError("it has " + size_text(theirs.width(), theirs.height()) +
                  " pixels; of IN with this mask it would have " + sizes_for(in, mask) +
                  "; is it of another picture, or was it cut?");
  edges = edges_for(*this, border_value);
  if (in.depth() == Depth::f32) {
    ranges = {Range::kept, Range::clamped, Range::absolute, Range::raised, Range::centred};
    roundings = {Rounding::none};
    for (int y = 0; y < in.height(); ++y)
      for (int k = 0; k < in.width() * channels; ++k)
        if (const double size = std::abs(double(row_of<float>(in.view(), y)[k]));
            std::isfinite(size))
          largest_ = std::max(largest_, size);
  } else {
    ranges = {Range::clamped, Range::wrapped, Range::absolute, Range::raised, Range::centred};
    roundings = {Rounding::half_even, Rounding::half_up, Rounding::half_away, Rounding::toward_0,
                 Rounding::down};
  }
}

Ending Conventions::ending(const Convention& convention) const {
  const Scaling& scaling = scalings[std::size_t(convention.scaling)];
  const double most = full_range(in.depth());
  return {convention.rounding, convention.range, scaling.divisor,
          scaling.offset,      most,             most == 1 ? 0.5 : std::floor(most / 2) + 1};
}

double Conventions::step(const Convention& convention) const {
  if (in.depth() != Depth::f32) return 1;
  const Scaling& scaling = scalings[std::size_t(convention.scaling)];
  const std::vector<double>& weights = turns[0].mask.weights;
  constexpr double kUlp = 0x1p-23;
  return kUlp * (double(weights.size()) * magnitude(weights) / std::abs(scaling.divisor) * largest_ +
                 std::abs(scaling.offset)) +
         1e-30;
}

void Conventions::samples(const Image& picture, int y, int x0, int x1, double* samples) const {
  std::fill_n(samples, std::ptrdiff_t(x1 - x0) * channels, 0);
  if (y < 0 || y >= picture.height()) return;
  const int first = std::clamp(x0, 0, picture.width()), last = std::clamp(x1, first, picture.width());
  with_depth(picture.depth(), [&]<class T>(TypeTag<T>) {
    const T* row = row_of<T>(picture.view(), y);
    std::copy(row + std::ptrdiff_t(first) * channels, row + std::ptrdiff_t(last) * channels,
              samples + std::ptrdiff_t(first - x0) * channels);
  });
}

void Conventions::sums(const Convention& convention, int y, int x0, int x1, double* sums) const {
  const TurnedMask& turn = turns[std::size_t(convention.turn)];
  const Edge& edge = edges[std::size_t(convention.edge)];
  const Mask& mask = turn.mask;
  const int left = x0 - convention.shift_x - turn.lead_x, top = y - convention.shift_y - turn.lead_y;
  const int count = x1 - x0, width = in.width(), height = in.height();
  static thread_local std::vector<int> columns;
  static thread_local std::vector<double> samples;
  columns.resize(std::size_t(count + mask.width - 1));
  samples.resize(columns.size() * std::size_t(channels));
  for (std::size_t k = 0; k < columns.size(); ++k)
    columns[k] = border_index(edge.border, left + int(k), width);
  const std::ptrdiff_t outputs = std::ptrdiff_t(count) * channels;
  std::fill_n(sums, outputs, 0);
  with_depth(in.depth(), [&]<class T>(TypeTag<T>) {
    for (int j = 0; j < mask.height; ++j) {
      const int row = border_index(edge.border, top + j, height);
      const T* from = row < 0 ? nullptr : row_of<T>(in.view(), row);
      double* to = samples.data();
      for (const int column : columns)
        for (int c = 0; c < channels; ++c)
          *to++ = row < 0 || column < 0 ? edge.value : double(from[std::ptrdiff_t(column) * channels + c]);
      for (int i = 0; i < mask.width; ++i) {
        const double weight = mask.weight(i, j);
        const double* shifted = samples.data() + std::ptrdiff_t(i) * channels;
        if (weight != 0)
          for (std::ptrdiff_t k = 0; k < outputs; ++k) sums[k] += weight * shifted[k];
      }
    }
  });
  if (edge.rule == Edge::Rule::ghosts) return;
  const auto inside = [](int first, int side, int size) {
    return std::pair(std::clamp(-first, 0, side), std::clamp(size - first, 0, side));
  };
  const auto [up, down] = inside(top, mask.height, height);
  for (int x = 0; x < count; ++x) {
    const auto [begin, end] = inside(left + x, mask.width, width);
    if (down - up == mask.height && end - begin == mask.width) continue;
    double rest = 0;
    for (int j = up; j < down; ++j)
      for (int i = begin; i < end; ++i) rest += mask.weight(i, j);
    const double scale = edge.rule != Edge::Rule::rest ? std::numeric_limits<double>::quiet_NaN()
                         : rest == 0                    ? 1
                                                        : total_of(mask.weights) / rest;
    for (int c = 0; c < channels; ++c) sums[std::ptrdiff_t(x) * channels + c] *= scale;
  }
}

}  // namespace convfilt
