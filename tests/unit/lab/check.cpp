/// Results of every convention, made here by definition, are named by `check`.
#include "src/lab/check/check.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "src/picture/sample_type.hpp"
#include "tests/support/masks/sample_masks.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/pairs.hpp"
#include "tests/support/picture.hpp"

namespace convfilt::test {
namespace {

const std::vector<std::string> kTurnNames = {"as written",
                                             "flipped",
                                             "transposed",
                                             "transposed and flipped",
                                             "mirrored left to right",
                                             "mirrored top to bottom",
                                             "turned left",
                                             "turned right"};

/// Weights and anchor of the mask by the name of the turn, one weight at a time.
Mask turn_by_name(const Mask& mask, const std::string& name) {
  const bool sideways = name.starts_with("transposed") || name.starts_with("turned");
  Mask to = sideways ? make_mask("", mask.height, mask.width, mask.weights) : mask;
  const auto place = [&](int u, int v) {
    const int back_u = mask.width - 1 - u, back_v = mask.height - 1 - v;
    if (name == "flipped") return std::pair(back_u, back_v);
    if (name == "mirrored left to right") return std::pair(back_u, v);
    if (name == "mirrored top to bottom") return std::pair(u, back_v);
    if (name == "transposed") return std::pair(v, u);
    if (name == "transposed and flipped") return std::pair(back_v, back_u);
    if (name == "turned left") return std::pair(v, back_u);
    if (name == "turned right") return std::pair(back_v, u);
    return std::pair(u, v);
  };
  for (int v = 0; v < mask.height; ++v)
    for (int u = 0; u < mask.width; ++u) {
      const auto [i, j] = place(u, v);
      to.weights[std::size_t(j) * to.width + i] = mask.weight(u, v);
    }
  std::tie(to.anchor_x, to.anchor_y) = place(mask.anchor_x, mask.anchor_y);
  return to;
}

struct Way {
  std::string turn = "as written";
  double divisor = 1, offset = 0;
  Edge edge{};
  Mode mode = Mode::same;
  int shift_x = 0, shift_y = 0;
  bool exchanges = false;
  Rounding rounding = Rounding::none;
  Range range = Range::clamped;
};

double sample_at(const Image& image, int x, int y, int c) {
  double sample = 0;
  with_depth(image.depth(), [&]<class T>(TypeTag<T>) {
    sample = row_of<T>(image.view(), y)[x * image.channels() + c];
  });
  return sample;
}

double rounded(double value, Rounding rounding) {
  const double below = std::floor(value), rest = value - below;
  const bool even = std::fmod(below, 2) == 0;
  switch (rounding) {
    case Rounding::none: return value;
    case Rounding::half_even: return rest > 0.5 || (rest == 0.5 && !even) ? below + 1 : below;
    case Rounding::half_up: return rest >= 0.5 ? below + 1 : below;
    case Rounding::half_away: return rest > 0.5 || (rest == 0.5 && value > 0) ? below + 1 : below;
    case Rounding::toward_0: return value < 0 && rest > 0 ? below + 1 : below;
    case Rounding::down: break;
  }
  return below;
}

double limited(double value, const Way& way, Depth depth) {
  const double most = full_range(depth);
  if (way.range == Range::kept) return value;
  if (way.range == Range::wrapped) {
    while (value < 0) value += most + 1;
    while (value > most) value -= most + 1;
    return value;
  }
  return std::min(std::max(value, 0.0), most);
}

Image result_of(const Image& in, const Mask& mask, const Way& way) {
  const Mask turned = turn_by_name(mask, way.turn);
  const Problem problem{in.width(), in.height(), 1, in.depth(), {}, 0, turned, way.mode};
  Image out(problem.out_width(), problem.out_height(), in.channels(), in.depth());
  const double middle = in.depth() == Depth::f32 ? 0.5 : (full_range(in.depth()) + 1) / 2;
  double all_weights = 0;
  for (const double weight : turned.weights) all_weights += weight;
  for (int y = 0; y < out.height(); ++y)
    for (int x = 0; x < out.width(); ++x)
      for (int c = 0; c < in.channels(); ++c) {
        double sum = 0, inside = 0;
        bool leaves = false;
        for (int j = 0; j < turned.height; ++j)
          for (int i = 0; i < turned.width; ++i) {
            const int u = x - way.shift_x + i - problem.lead_x(),
                      v = y - way.shift_y + j - problem.lead_y();
            const bool is_outside = u < 0 || v < 0 || u >= in.width() || v >= in.height();
            leaves = leaves || is_outside;
            if (!is_outside) inside += turned.weight(i, j);
            const int column = walk_border(way.edge.border, u, in.width()),
                      row = walk_border(way.edge.border, v, in.height());
            sum += turned.weight(i, j) *
                   (column < 0 || row < 0 ? way.edge.value : sample_at(in, column, row, c));
          }
        if (leaves && way.edge.rule == Edge::Rule::rest && inside != 0) sum *= all_weights / inside;
        double value = sum / way.divisor + way.offset;
        if (way.range == Range::absolute) value = std::abs(value);
        if (way.range == Range::raised) value += middle;
        if (way.range == Range::centred) value = middle + value / 2;
        value = limited(rounded(value, way.rounding), way, in.depth());
        if (leaves && way.edge.rule == Edge::Rule::zero) value = 0;
        if (leaves && way.edge.rule == Edge::Rule::copied) value = sample_at(in, x, y, c);
        const int to = way.exchanges ? 2 - c : c;
        with_depth(in.depth(), [&]<class T>(TypeTag<T>) {
          row_of<T>(out.view(), y)[x * in.channels() + to] = T(value);
        });
      }
  return out;
}

Image noise(int width, int height, int channels, Depth depth, std::uint64_t seed) {
  Picture picture(width, height, channels, depth);
  picture.fill(Fill::noise, seed);
  Image image(width, height, channels, depth);
  for (int y = 0; y < height; ++y)
    std::copy_n(picture.view().row(y), image.row_bytes(), image.view().row(y));
  return image;
}

double largest_difference(const Image& a, const Image& b) {
  double largest = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x)
      for (int c = 0; c < a.channels(); ++c)
        largest = std::max(largest, std::abs(sample_at(a, x, y, c) - sample_at(b, x, y, c)));
  return largest;
}

/// The convention in the words that result_of() takes.
Way way_of(const Conventions& all, const Convention& convention) {
  const Scaling& scaling = all.scalings[std::size_t(convention.scaling)];
  const TurnedMask& turn = all.turns[std::size_t(convention.turn)];
  return {turn.name,           scaling.divisor,
          scaling.offset,      all.edges[std::size_t(convention.edge)],
          turn.mode,           convention.shift_x,
          convention.shift_y,  convention.exchanges,
          convention.rounding, convention.range};
}

/// The convention that is told makes the same picture; `way` may be another that does.
Agreement check_found(const Image& in, const Mask& mask, const Way& way) {
  const Image theirs = result_of(in, mask, way);
  const Conventions all(in, theirs, mask, 7);
  const Agreement agreement = nearest_convention(all);
  CAPTURE(agreement_text("it", all, agreement));
  const double step = in.depth() == Depth::f32 ? all.step(agreement.convention) : 0;
  CHECK(agreement.deviation.largest <= step);
  CHECK(agreement.deviation.different == 0);
  CHECK(agreement.deviation.samples ==
        std::int64_t(theirs.width()) * theirs.height() * theirs.channels());
  CHECK(largest_difference(result_of(in, mask, way_of(all, agreement.convention)), theirs) <= step);
  for (const Convention& equal : agreement.equal)
    CHECK(largest_difference(result_of(in, mask, way_of(all, equal)), theirs) <= step);
  return agreement;
}

constexpr Edge::Rule kGhosts = Edge::Rule::ghosts;
const std::vector<Edge> kEdges = {
    {"", Border::replicate, 0, kGhosts},          {"", Border::reflect, 0, kGhosts},
    {"", Border::reflect101, 0, kGhosts},         {"", Border::wrap, 0, kGhosts},
    {"", Border::constant, 7, kGhosts},           {"", Border::constant, 0, kGhosts},
    {"", Border::constant, 0, Edge::Rule::rest},  {"", Border::constant, 0, Edge::Rule::zero},
    {"", Border::constant, 0, Edge::Rule::copied}};
const std::vector<Range> kRanges = {Range::clamped, Range::wrapped, Range::absolute, Range::raised,
                                    Range::centred};
const std::vector<Rounding> kRoundings = {Rounding::half_even, Rounding::half_up,
                                          Rounding::half_away, Rounding::toward_0, Rounding::down};
const std::vector<std::pair<int, int>> kShifts = {{0, 0}, {1, -1}, {-2, 1}};

/// No turn of it is another; responses have both signs, and some end in a half.
Mask unlike_mask(int divisor) {
  return make_mask("unlike", 4, 3, {1, 7, -3, 2, 0, 5, 4, -2, -5, 1, 3, -1}, divisor);
}

}  // namespace

TEST_CASE("every convention is found again") {
  const std::vector<int> divisors = {8, 12, 1, 0};  // 0: by the sum
  // All 86,400 would take an hour. Every 29th has each two values of two axes together, too.
  int counted = 0;
  const auto is_taken = [&](const auto&...) { return counted++ % 29 == 0; };
  for (const auto& [number, turn, edge, shift, range, rounding, divisor, channels, size] :
       combinations_where(is_taken, kTurnNames, kEdges, kShifts, kRanges, kRoundings, divisors,
                          std::vector<int>{1, 3}, std::vector<int>{23, 70})) {
    Way way{turn, double(divisor), 0, edge};
    if (divisor == 0) way.divisor = 12;
    std::tie(way.shift_x, way.shift_y) = shift;
    way.exchanges = channels == 3 && number % 2 == 1;
    way.rounding = rounding;
    way.range = range;
    CAPTURE(number);
    check_found(noise(size, size - 5, channels, Depth::u8, number), unlike_mask(8), way);
  }
}

TEST_CASE("conventions of other depths are found again") {
  for (const auto& [number, depth, turn, edge, shift, range] : combinations(
           std::vector<Depth>{Depth::u16, Depth::f32}, kTurnNames, kEdges, kShifts, kRanges)) {
    Way way{turn, 8, 0, edge};
    std::tie(way.shift_x, way.shift_y) = shift;
    way.range = range;
    if (depth == Depth::u16) way.rounding = kRoundings[number % kRoundings.size()];
    if (depth == Depth::f32 && range == Range::wrapped) way.range = Range::kept;
    CAPTURE(number);
    check_found(noise(64, 61, 1, depth, number), unlike_mask(8), way);
  }
}

TEST_CASE("what looks the same at the edges and in samples is told apart by the whole picture") {
  const Mask mask = make_mask("sharpen", 3, 3, {-1, -1, -1, -1, 10, -1, -1, -1, -1}, 2);
  for (const Depth depth : kDepths)
    for (const Range range : {Range::clamped, Range::absolute}) {
      Image in(600, 400, 1, depth);
      with_depth(depth, [&]<class T>(TypeTag<T>) {
        for (int y = 0; y < 400; ++y)
          for (int x = 0; x < 600; ++x)
            row_of<T>(in.view(), y)[x] =
                T((100.25 + (x * 7 + y * 5) % 8) / (depth == Depth::f32 ? 200 : 1));
        row_of<T>(in.view(), 201)[303] = T(full_range(depth));
      });
      Way way{"as written", 2, 0, {"", Border::reflect}};
      way.rounding = depth == Depth::f32 ? Rounding::none : Rounding::half_even;
      way.range = range;
      const Agreement agreement = check_found(in, mask, way);
      CHECK(agreement.equal.size() >= 1);  // replicate
    }
}

TEST_CASE("sizes tell the mode, and offsets may be left out") {
  Mask mask = unlike_mask(8);
  mask.offset = 20;
  const Image in = noise(40, 50, 1, Depth::u8, 5);
  for (const Mode mode : kModes)
    for (const std::string& turn : kTurnNames)
      for (const double offset : {20.0, 0.0}) {
        Way way{turn, 8, offset, {"", Border::constant, 7}, mode, 0, 0, false, Rounding::half_up};
        CAPTURE(turn);
        CAPTURE(name_of(mode));
        const Agreement agreement = check_found(in, mask, way);
        CHECK(agreement.convention.shift_x == 0);
      }
}

TEST_CASE("the line names what is unusual, and the first place that is farthest off") {
  const Image in = noise(80, 60, 3, Depth::u8, 9);
  const auto line_of = [&](const Mask& mask, const Way& way, int change) {
    Image theirs = result_of(in, mask, way);
    for (const int x : {3, 60}) {
      std::uint8_t& sample = row_of<std::uint8_t>(theirs.view(), 0)[x * 3 + 1];
      sample = std::uint8_t(sample > 127 ? sample - change : sample + change);
    }
    const Conventions all(in, theirs, mask, 0);
    const Agreement agreement = nearest_convention(all);
    CHECK(agreement.deviation.different == (change == 0 ? 0 : 2));
    CHECK(agreement.deviation.far == (change > 1 ? 2 : 0));
    CHECK(agreement.deviation.channel == (change == 0 ? 0 : 1));
    return agreement_line(all, agreement);
  };
  Way way{"flipped", 8, 0, {"", Border::reflect101}};
  way.rounding = Rounding::half_even;
  CHECK(line_of(unlike_mask(8), way, 0) == "reflect101, flipped, equal");
  CHECK(line_of(unlike_mask(8), way, 1) == "reflect101, flipped, 1 step at (3, 0)");
  CHECK(line_of(unlike_mask(8), way, 9) == "reflect101, flipped, 9 steps at (3, 0)");
  way = {"as written",  12, 0, {"", Border::replicate}, Mode::same, 1, -2, true, Rounding::toward_0,
         Range::wrapped};
  CHECK(line_of(unlike_mask(8), way, 0) ==
        "replicate, weights divided by their sum, shift (1, -2), red and blue exchanged, rounding "
        "toward 0, range wrapped around, equal");
  // Of a symmetric mask any turn makes the same, and of 3x3 two borders.
  way = {"as written", 9, 0, {"", Border::reflect}, Mode::same, 0, 0, false, Rounding::half_even};
  CHECK(line_of(box_mask(3, 3), way, 0) == "replicate or reflect, equal");
}

TEST_CASE("another picture is unknown, and one of another kind is refused") {
  const Mask mask = unlike_mask(8);
  const Image in = noise(50, 40, 1, Depth::u8, 1), other = noise(50, 40, 1, Depth::u8, 2);
  CHECK(nearest_convention(Conventions(in, other, mask, 0)).deviation.is_unknown());
  for (const Image& theirs : {noise(50, 41, 1, Depth::u8, 2), noise(50, 40, 3, Depth::u8, 2),
                              noise(50, 40, 1, Depth::u16, 2)})
    CHECK_THROWS_AS(Conventions(in, theirs, mask, 0), IoError);
}

TEST_CASE("floats may be infinite or no numbers") {
  const float inf = std::numeric_limits<float>::infinity();
  Image in = noise(60, 50, 1, Depth::f32, 3);
  row_of<float>(in.view(), 20)[30] = inf;
  row_of<float>(in.view(), 40)[7] = std::nanf("");
  Way way{"as written", 8, 0, {"", Border::wrap}};
  way.range = Range::kept;
  const Mask mask = make_mask("", 2, 2, {1, 2, 3, 4}, 8);
  Image theirs = result_of(in, mask, way);
  const Agreement same = nearest_convention(Conventions(in, theirs, mask, 0));
  CHECK(same.deviation.different == 0);
  row_of<float>(theirs.view(), 5)[6] = std::nanf("");
  const Agreement differs = nearest_convention(Conventions(in, theirs, mask, 0));
  CHECK(differs.deviation.different == 1);
  CHECK(std::isinf(differs.deviation.largest));
  CHECK(differs.deviation.x == 6);
}

TEST_CASE("a picture of the differences") {
  const Image in = noise(50, 40, 3, Depth::u8, 4);
  Way way{"flipped", 8, 0, {"", Border::wrap}, Mode::same, 0, 0, true, Rounding::half_even};
  Image theirs = result_of(in, unlike_mask(8), way);
  std::uint8_t& sample = row_of<std::uint8_t>(theirs.view(), 30)[20 * 3];
  sample = std::uint8_t(sample > 127 ? sample - 5 : sample + 5);
  const Conventions all(in, theirs, unlike_mask(8), 0);
  const Image picture = difference_picture(all, nearest_convention(all).convention, 10);
  for (int y = 0; y < 40; ++y)
    for (int k = 0; k < 150; ++k)
      CHECK(row_of<std::uint8_t>(picture.view(), y)[k] == (y == 30 && k == 60 ? 50 : 0));
}

}  // namespace convfilt::test
