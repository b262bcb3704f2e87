#include "src/filter/edge.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <numbers>
#include <string>
#include <type_traits>
#include <utility>

#include "kernels/backend/host/parallel.hpp"
#include "kernels/cpu/edge_rows.hpp"
#include "kernels/cpu/float_rows.hpp"
#include "kernels/cpu/plans.hpp"
#include "kernels/cpu/row_buffer.hpp"
#include "kernels/registry.hpp"
#include "src/base/clock.hpp"
#include "src/base/errors.hpp"
#include "src/base/suggest.hpp"
#include "src/filter/bands.hpp"
#include "src/filter/device.hpp"
#include "src/filter/mask.hpp"
#include "src/filter/mask_work.hpp"
#include "src/mask/number.hpp"
#include "src/picture/colour.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

struct Edges {
  std::vector<Mask> masks;  ///< without divisors, so that whole sums are exact in f32
  std::vector<double> divisors, offsets;
  EdgeOptions options;
  Combine combine = Combine::length;
};

Combine combine_of(EdgeKind kind) {
  return kind == EdgeKind::compass ? Combine::max : Combine::length;
}

Join join_of(const Edges& edges) {
  constexpr Join kJoins[] = {Join::sum, Join::max, Join::length, Join::first_strongest};
  return edges.options.kind == EdgeKind::compass ? Join::compass
                                                 : kJoins[std::size_t(edges.combine)];
}

/// The least float that is not below.
float least_float(double value) {
  const auto nearest = float(value);
  return double(nearest) < value ? std::nextafter(nearest, HUGE_VALF) : nearest;
}

bool opposite(double a, double b) {
  return (a < 0 && b > 0) || (a > 0 && b < 0);
}

/// To the right, and downwards.
struct Slope {
  double x, y;
};

/// The responses to all masks in some rows of a result, and the answers.
class EdgeResponses {
 public:
  EdgeResponses(const Edges& edges, const Shape& result)
      : edges_(edges), join_(join_of(edges)), result_(result), planes_(edges.masks.size()) {}

  /// These rows follow.
  void take(int top, int rows) {
    top_ = top;
    rows_ = rows;
  }

  BandView<std::byte> plane(std::size_t mask) {
    return room_for({result_.width, rows_, 1, Depth::f32}, top_, planes_[mask]);
  }
  BandView<std::byte> answers() {
    return room_for({result_.width, rows_, 1, Depth::f32}, top_, answers_);
  }

  /// Keeps row y of the answers, for thin ones; those below `least` may differ, but stay below it.
  void keep_answers(int y, double least) {
    edge_loops().answers_from(least_float(least), join_, at_row(y), result_.width,
                              row_of<float>(answers_.view(), y - top_));
  }

  /// values = the answers in row y; thin ones below `least` may be 0.
  void take_answers(int y, double least, std::vector<double>& values) const {
    values.resize(std::size_t(result_.width));
    if (!edges_.options.thin)
      edge_loops().answers(join_, at_row(y), result_.width, values.data());
    else if (has_thin_rows())
      std::copy_n(thin_row(y, least), result_.width, values.data());
    else
      for (int x = 0; x < result_.width; ++x) values[std::size_t(x)] = thin_answer(x, y, least);
  }

  /// The answers in row y as bytes, with a threshold unless it is null.
  void take_bytes(int y, const double* threshold, std::uint8_t* bytes) const {
    edge_loops().answer_bytes(join_, at_row(y), threshold, result_.width, bytes);
  }

  /// The answers in row y in single precision; thin ones if they are found row by row.
  void take_floats(int y, float* answers) const {
    if (edges_.options.thin)
      std::copy_n(thin_row(y, 0), result_.width, answers);
    else
      edge_loops().answers_from(-HUGE_VALF, join_, at_row(y), result_.width, answers);
  }

  /// Whether thin answers are floats that are found row by row.
  bool has_thin_rows() const {
    return edges_.options.kind == EdgeKind::gradient && planes_.size() == 2;
  }

  /// Thin answers in row y.
  const float* thin_row(int y, double least) const {
    static thread_local std::vector<float> thin, nothing;
    static thread_local std::vector<int> unsure;
    thin.resize(std::size_t(result_.width));
    nothing.assign(std::size_t(result_.width), 0);
    unsure.clear();
    const auto row = [&](int v) {
      return has(0, v) ? row_of<float>(answers_.view(), v - top_) : nothing.data();
    };
    const ResponseRows& responses = at_row(y);
    edge_loops().thin({row(y - 1), row(y), row(y + 1), responses[0], responses[1]},
                      least_float(least), result_.width, thin.data(), unsure);
    for (const int x : unsure) thin[std::size_t(x)] = float(thin_answer(x, y, least));
    return thin.data();
  }

  /// The answer where an edge is thin; 0 beside it, and perhaps where it is below `least`.
  double thin_answer(int x, int y, double least) const {
    if (edges_.options.kind == EdgeKind::curvature) return crossing(x, y);
    const double answer = found(x, y);
    if (answer < least) return 0;
    // The neighbour behind it in the direction nearest to the gradient, up to the sign.
    const auto& [across, down] = gradient(x, y);
    constexpr double kTangent = std::numbers::sqrt2 - 1;  // of 22.5 degrees
    int dx = 1, dy = 1;
    if (std::abs(down) <= kTangent * std::abs(across))
      dy = 0;
    else if (std::abs(across) < kTangent * std::abs(down))
      dx = 0;
    else if ((across < 0) != (down < 0))
      dy = -1;
    const bool stays = answer > found(x - dx, y - dy) && answer >= found(x + dx, y + dy);
    return stays ? answer : 0;
  }

  /// The direction as a share of a turn, from 0 to 1.
  double angle(int x, int y) const {
    const auto& [across, down] = gradient(x, y);
    const double turn = std::atan2(-down, across) / (2 * std::numbers::pi);
    return turn < 0 ? turn + 1 : turn;
  }

 private:
  const ResponseRows& at_row(int y) const {
    static thread_local ResponseRows responses;
    responses.clear();
    for (std::size_t k = 0; k < planes_.size(); ++k)
      responses.push_back(
          {row_of<float>(planes_[k].view(), y - top_), edges_.divisors[k], edges_.offsets[k]});
    return responses;
  }

  bool has(int x, int y) const {
    return x >= 0 && y >= 0 && x < result_.width && y < result_.height;
  }
  double at(std::size_t mask, int x, int y) const {
    return row_of<float>(planes_[mask].view(), y - top_)[x] / edges_.divisors[mask];
  }
  double found(int x, int y) const {
    return has(x, y) ? row_of<float>(answers_.view(), y - top_)[x] : 0;
  }

  std::size_t strongest(int x, int y) const {
    std::size_t best = 0;
    for (std::size_t k = 1; k < planes_.size(); ++k)
      if (at(k, x, y) > at(best, x, y)) best = k;
    return best;
  }

  Slope gradient(int x, int y) const {
    if (edges_.options.kind == EdgeKind::compass) {
      constexpr double kAcross[] = {1, 1, 0, -1, -1, -1, 0, 1},
                       kDown[] = {0, -1, -1, -1, 0, 1, 1, 1};
      const std::size_t turn = strongest(x, y);
      return {kAcross[turn], kDown[turn]};
    }
    if (planes_.size() > 1) return {at(0, x, y), at(1, x, y)};
    return edges_.options.direction == EdgeDirection::y ? Slope{0, at(0, x, y)}
                                                        : Slope{at(0, x, y), 0};
  }

  /// The jump of a response that crosses 0 here.
  double crossing(int x, int y) const {
    const double here = at(0, x, y);
    double jump = 0;
    for (const auto& [dx, dy] : {std::pair{1, 0}, {0, 1}}) {
      const double before = has(x - dx, y - dy) ? at(0, x - dx, y - dy) : 0;
      const double behind = has(x + dx, y + dy) ? at(0, x + dx, y + dy) : 0;
      if (opposite(here, before) && std::abs(here) < std::abs(before))
        jump = std::max(jump, std::abs(here - before));
      if (opposite(here, behind) && std::abs(here) <= std::abs(behind))
        jump = std::max(jump, std::abs(here - behind));
      if (here == 0 && opposite(before, behind)) jump = std::max(jump, std::abs(before - behind));
    }
    return jump;
  }

  const Edges& edges_;
  const Join join_;
  const Shape result_;
  std::vector<Image> planes_;  ///< they may have more rows
  Image answers_;
  int top_ = 0, rows_ = 0;
};

/// The largest response to a compass by way of its factors, where a bound on the error tells that
/// it gives the right sample, and exactly where it does not.
struct FastCompass {
  Mask gaussian;
  NearlyLargest nearly;
  cpu::PointMasks points;
};

/// For pictures of 8 bits. Empty where the masks are not such products.
std::optional<FastCompass> fast_compass(const Edges& edges) {
  if (!edges.options.factors) return {};
  const auto& [gaussian, sharp] = *edges.options.factors;
  const Mask& first = edges.masks[0];
  const int width = first.width, height = first.height;
  if (edges.masks.size() != sharp.size() || sharp.size() > cpu::PointMasks::kMost ||
      std::max(width, height) > kMaxPartSide || gaussian.divisor != 1 ||
      width != gaussian.width + 2 || height != gaussian.height + 2)
    return {};
  FastCompass fast{gaussian, {}, {int(sharp.size()), width, height, {}}};
  fast.points.weights.resize(first.weights.size() * cpu::PointMasks::kMost);
  double gain = 0, most_off = 0;
  for (std::size_t k = 0; k < sharp.size(); ++k) {
    const Mask& mask = edges.masks[k];
    if (sharp[k].width != 3 || sharp[k].height != 3 || edges.divisors[k] != edges.divisors[0])
      return {};
    double sum = 0, off = 0;
    for (const double weight : sharp[k].weights) {
      fast.nearly.weights.push_back(float(weight));
      sum += std::abs(weight);
    }
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        double rest = mask.weight(x, y);
        fast.points.weights[std::size_t(y * width + x) * cpu::PointMasks::kMost + k] = float(rest);
        for (int j = std::max(0, y - 2); j <= std::min(y, gaussian.height - 1); ++j)
          for (int i = std::max(0, x - 2); i <= std::min(x, gaussian.width - 1); ++i)
            rest -= sharp[k].weight(x - i, y - j) * gaussian.weight(i, j);
        off += std::abs(rest);
      }
    gain = std::max(gain, sum);
    most_off = std::max(most_off, off);
  }
  // Each operation of a chain, and each weight, errs by 2^-24 of the largest sum.
  const int operations = 2 * (width + height) + 40;
  const double bound = 255 * (operations * 0x1p-24 * gain + most_off) * 1.05;
  fast.nearly.scale = float(1 / edges.divisors[0]);
  fast.nearly.doubt = float(bound / std::abs(edges.divisors[0]) + 1e-4);
  return fast;
}

/// The rows of a picture under a mask, with their ghost cells.
template <class T>
class RowsUnderMask {
 public:
  explicit RowsUnderMask(const Problem& whole)
      : lead_y_(whole.lead_y()),
        source_(whole, whole.lead_x(), whole.mask.width - 1 - whole.lead_x()),
        gathered_(whole.mask.height, source_.length(whole.out_width())),
        rows_(std::size_t(whole.mask.height)) {}

  /// Calls f(y, rows) for each row y of a band of the result; rows[j] is under row j of the mask.
  template <class F>
  void for_each(BandView<const std::byte> in, BandView<std::byte> out, const F& f) {
    const int height = int(rows_.size());
    for (int row = 0; row < out.height + height - 1; ++row) {
      std::rotate(rows_.begin(), rows_.begin() + 1, rows_.end());
      rows_.back() =
          source_.row(in, 0, out.width, out.top - lead_y_ + row, gathered_.row(row % height));
      if (row + 1 >= height) f(row + 1 - height, rows_.data());
    }
  }

 private:
  int lead_y_;
  SourceRows<T> source_;
  cpu::RowBuffer<T> gathered_;
  std::vector<const T*> rows_;
};

/// Below every answer of an edge.
constexpr double kNoEdge = 1e-30;

/// What an edge with a low threshold is marked as, as shares of the range, until it is followed.
constexpr double kLowMark = 0.25, kHighMark = 0.5;

/// With a low threshold the result has marks instead of edges: FollowedWork follows them.
class EdgeWork final : public Work {
 public:
  static constexpr int kAlpha = 3;  ///< the channel

  EdgeWork(const Shape& in, const Edges& edges, const Place& place)
      : Work(place.convolver.problem_of(in, edges.masks[0], place.border_value), place.why_whole),
        edges_(edges),
        convolver_(place.convolver),
        range_(full_range(place.picture_depth) * place.unit),
        luma_(place.luma) {
    if (edges.options.direction == EdgeDirection::hue)
      out.channels = std::max(in.channels, 3);
    else if (!edges.options.color && !place.keeps_channels && in.channels == 3)
      out.channels = 1;
    two_levels =
        edges.options.threshold && !shows_angles(edges.options.direction) && out.channels == 1;
    for (double& offset : edges_.offsets) offset *= place.unit;
    if (edges.options.thin) {
      window.height += 2;
      window.lead_y += 1;
    }
    for (const Mask& mask : edges.masks) {
      const Problem problem =
          convolver_.problem_of({in.width, in.height, 1, Depth::f32}, mask, place.border_value);
      const int masks = int(edges.masks.size());
      masks_.emplace_back(problem, 1, 0, planes() * masks, place, masks);
      if (masks_.back().is_whole()) why_whole = masks_.back().why_whole;
    }
    for (MaskWork& mask : masks_) {
      mask.why_whole = why_whole;
      if (!is_whole()) convolver_.note(mask.problem());
    }
    const bool is_direct = std::ranges::all_of(masks_, [](const MaskWork& mask) {
      return !mask.is_whole() && mask.choice().strategy->family == Family::direct;
    });
    if (is_direct && in.depth == Depth::u8 && !has_alpha() && planes() == 1 && !edges.options.low &&
        !edges.options.thin && !shows_angles(edges.options.direction) &&
        convolver_.options().mode == Mode::same)
      fast_ = fast_compass(edges_);
    if (!fast_) return;
    edges_.masks.resize(1);  // there is one response, the largest
    edges_.divisors.resize(1);
    edges_.offsets.resize(1);
  }

  Needs needs(int rows) const override {
    constexpr std::int64_t kFloat = sizeof(float);
    const auto responses = std::int64_t(masks_.size()) + 1;
    // The picture's floats, the responses and answers, and a plan's rows of them.
    if (!is_whole())
      return {kFloat * in.width * (std::min(band_step(), rows) + window.height) * (responses + 2)};
    const std::int64_t pixels = std::int64_t{out.width} * out.height;
    Needs needs{kFloat * (std::int64_t{in.width} * in.height + pixels * responses)};
    if (masks_.size() > 1) convolver_.share_transforms();
    for (const MaskWork& mask : masks_) needs.plans += mask.plan_bytes();
    return needs;
  }

  std::unique_ptr<Worker> make_worker() const override;

  std::vector<const MaskWork*> mask_works() const override {
    std::vector<const MaskWork*> all;
    for (const MaskWork& mask : masks_) all.push_back(&mask);
    return all;
  }

 private:
  class EdgeWorker;

  bool has_alpha() const { return in.channels > kAlpha; }
  int threads() const { return is_whole() ? convolver_.options().request.threads : 1; }
  int planes() const { return edges_.options.color ? std::min(in.channels, 3) : 1; }

  /// Rows of a band that are filtered at once.
  int band_step() const {
    return rows_in_cache(*this, std::ptrdiff_t(in.width) * std::ptrdiff_t(masks_.size() + 2));
  }

  Edges edges_;
  Convolver& convolver_;
  double range_;  ///< of samples
  LumaShares luma_;
  std::vector<MaskWork> masks_;
  std::optional<FastCompass> fast_;
};

class EdgeWork::EdgeWorker final : public Worker {
 public:
  explicit EdgeWorker(const EdgeWork& work) : work_(work), responses_(work.edges_, work.out) {
    if (!work.fast_) {
      for (const MaskWork& mask : work.masks_) masks_.push_back(mask.make_worker());
      return;
    }
    Problem smoothing = work.masks_[0].problem();
    under_.emplace(smoothing);
    PlanOptions how;
    how.threads = 1;
    smoothing.mask = work.fast_->gaussian;
    gaussian_ = prepare_separable_bands(smoothing, how, {});
  }

  void push(BandView<const std::byte> in, BandView<std::byte> out) override {
    const int steps = work_.is_whole() ? 1 : (out.height - 1) / work_.band_step() + 1;
    for (int step = 0; step < steps; ++step)
      for (int plane = 0; plane < work_.planes(); ++plane)
        with_depth(work_.in.depth, [&]<class T>(TypeTag<T>) {
          const auto first = [&](int i) { return int(std::int64_t{out.height} * i / steps); };
          find<T>(in, rows_of(out, first(step), first(step + 1) - first(step)), plane);
        });
  }

 private:
  const EdgeOptions& options() const { return work_.edges_.options; }

  /// Takes the responses in the rows of `out`, and answers if edges are thin.
  template <class T>
  void respond(BandView<const std::byte> in, BandView<std::byte> out, int plane) {
    const int margin = options().thin ? 1 : 0;
    const int top = std::max(out.top - margin, 0);
    responses_.take(top, std::min(out.top + out.height + margin, work_.out.height) - top);
    std::optional<Convolver::OnePicture> one;
    if (work_.is_whole() && masks_.size() > 1) one.emplace(work_.convolver_);
    const BandView<const std::byte> floats = converted(
        work_.masks_[0], in, responses_.answers(), work_.threads(), 1, Depth::f32, floats_,
        [&](const std::byte* row, std::byte* to) {
          to_floats(reinterpret_cast<const T*>(row), in.width, plane, reinterpret_cast<float*>(to));
        });
    if (work_.fast_) return respond_fast(floats, responses_.plane(0));
    for (std::size_t k = 0; k < masks_.size(); ++k) masks_[k]->push(floats, responses_.plane(k));
    if (options().thin)
      for_rows(responses_.answers(), work_.threads(),
               [&](int y) { responses_.keep_answers(top + y, least()); });
  }

  void respond_fast(BandView<const std::byte> floats, BandView<std::byte> largest) {
    const FastCompass& fast = *work_.fast_;
    const int width = work_.in.width;
    const int first = std::max(largest.top - 1, 0);
    const int end = std::min(largest.top + largest.height + 1, work_.in.height);
    const BandView<std::byte> smooth =
        room_for({width, end - first, 1, Depth::f32}, first, smooth_);
    gaussian_->push(floats, smooth);
    const double limit = high();
    under_->for_each(floats, largest, [&](int y, const float* const* rows) {
      auto* const to = row_of<float>(largest, y);
      unsure_.clear();
      const int above = largest.top + y - 1 - first;
      if (largest.top + y == 0 || largest.top + y + 1 == work_.in.height)
        for (int x = 0; x < width; ++x) unsure_.push_back(x);
      else
        edge_loops().nearly_largest(fast.nearly,
                                    {row_of<float>(smooth, above), row_of<float>(smooth, above + 1),
                                     row_of<float>(smooth, above + 2)},
                                    options().threshold ? &limit : nullptr, width, to, unsure_);
      float responses[cpu::PointMasks::kMost];
      for (const int x : unsure_) {
        respond_at(fast.points, rows, x, responses);
        to[x] = *std::max_element(responses, responses + fast.points.count);
      }
    });
  }

  template <class T>
  void find(BandView<const std::byte> in, BandView<std::byte> out, int plane) {
    respond<T>(in, out, plane);
    const bool is_angle = options().direction == EdgeDirection::angle;
    const bool are_bytes = std::is_same_v<T, std::uint8_t> && work_.out.channels == 1 && !is_angle;
    const double limit = high();
    for_rows(out, work_.threads(), [&](int y) {
      auto* const bytes = row_of<std::uint8_t>(out, y);
      if (are_bytes && options().low && options().thin && responses_.has_thin_rows())
        return edge_loops().mark(
            responses_.thin_row(out.top + y, least()), least_float(low()), least_float(limit),
            to_sample<std::uint8_t>(kLowMark * work_.range_),
            to_sample<std::uint8_t>(kHighMark * work_.range_), out.width, bytes);
      if (are_bytes && !options().low && !options().thin)
        return responses_.take_bytes(out.top + y, options().threshold ? &limit : nullptr, bytes);
      if constexpr (std::is_same_v<T, float>) {
        const bool has_rows = !options().thin || responses_.has_thin_rows();
        if (work_.out.channels == 1 && !work_.has_alpha() && !is_angle && !options().threshold &&
            has_rows)
          return responses_.take_floats(out.top + y, row_of<float>(out, y));
      }
      static thread_local std::vector<double> answers;
      static thread_local std::vector<float> alpha;
      responses_.take_answers(out.top + y, least(), answers);
      if (work_.has_alpha()) take_alpha<T>(work_, in, out.top + y, alpha);
      for (std::size_t x = 0; work_.has_alpha() && x < answers.size(); ++x)
        answers[x] =
            alpha[x] > 0 ? answers[x] / (double(alpha[x]) / full_range(work_.in.depth)) : 0;
      for (int x = 0; (options().threshold || is_angle) && x < out.width; ++x) {
        double& answer = answers[std::size_t(x)];
        const bool is_edge =
            options().threshold ? answer >= limit : answer > 0.5 / 255 * work_.range_;
        if (options().low)
          answer = work_.range_ * (is_edge ? kHighMark : answer >= low() ? kLowMark : 0);
        else
          answer = !is_edge ? 0 : work_.range_ * (is_angle ? responses_.angle(x, out.top + y) : 1);
      }
      if (options().direction == EdgeDirection::hue)
        store_hues<T>(answers.data(), out.top + y, alpha.data(), row_of<T>(out, y));
      else
        store<T>(answers.data(), plane, alpha.data(), out.width, row_of<T>(out, y));
    });
  }

  /// Canny's thin answers are 0 beside their line: those are no edges, not even with --low=0.
  double low() const { return std::max(options().low.value_or(0) / 255 * work_.range_, kNoEdge); }
  double high() const {
    return std::max(options().threshold.value_or(0) / 255 * work_.range_,
                    options().low ? kNoEdge : 0.0);
  }
  /// Thin answers below all thresholds are black; the division by alpha comes first.
  double least() const { return work_.has_alpha() ? 0 : options().low ? low() : high(); }

  template <class T>
  void store(const double* answers, int plane, const float* alpha, int width, T* to) const {
    const int channels = work_.out.channels;
    if (channels == 1) {
      for (int x = 0; x < width; ++x) to[x] = to_sample<T>(answers[x]);
      return;
    }
    const int colours = options().color ? 1 : 3;
    for (int x = 0; x < width; ++x, to += channels) {
      std::fill_n(to + plane, colours, to_sample<T>(answers[x]));
      if (channels > kAlpha) to[kAlpha] = T(alpha[x]);
    }
  }

  /// Row y of the result, in colours of full saturation.
  template <class T>
  void store_hues(const double* answers, int y, const float* alpha, T* to) const {
    const int channels = work_.out.channels;
    for (int x = 0; x < work_.out.width; ++x, to += channels) {
      const double value = std::min(answers[x], work_.range_);
      const double sixths = 6 * responses_.angle(x, y);
      // A colour is full within a sixth of a turn around its own hue, and there is none of it from
      // two sixths on.
      const double parts[] = {2 - std::abs(sixths - 4), 2 - std::abs(sixths - 2),
                              std::abs(sixths - 3) - 1};
      for (int c = 0; c < 3; ++c) to[c] = to_sample<T>(value * std::clamp(parts[c], 0.0, 1.0));
      if (channels > kAlpha) to[kAlpha] = T(alpha[x]);
    }
  }

  /// Luma or a channel, multiplied by alpha.
  template <class T>
  void to_floats(const T* from, int width, int plane, float* to) const {
    const int channels = work_.in.channels;
    const bool is_luma = !options().color && channels > 1;
    if constexpr (std::is_same_v<T, std::uint8_t>)
      if (channels == 1 || (is_luma && channels == 3))
        return is_luma ? edge_loops().weigh_bytes(from, kLumaShares, kLumaWhole, width, to)
                       : cpu::widen_row(from, width, to);
    if constexpr (std::is_same_v<T, float>) {
      if (is_luma && channels == 3) return edge_loops().weigh_floats(from, work_.luma_, width, to);
    }
    const double full = full_range(work_.in.depth);
    for (int x = 0; x < width; ++x, from += channels) {
      const double value = is_luma ? luma_of(from, work_.luma_) : double(from[plane]);
      to[x] = float(work_.has_alpha() ? value * (double(from[kAlpha]) / full) : value);
    }
  }

  const EdgeWork& work_;
  std::vector<std::unique_ptr<Worker>> masks_;
  EdgeResponses responses_;
  Image floats_;

  // By factors.
  std::unique_ptr<BandPlan> gaussian_;
  Image smooth_;
  std::optional<RowsUnderMask<float>> under_;
  std::vector<int> unsure_;
};

std::unique_ptr<Worker> EdgeWork::make_worker() const {
  return std::make_unique<EdgeWorker>(*this);
}

/// Edges with a low threshold: those that touch one above the high threshold.
class FollowedWork final : public Work {
 public:
  FollowedWork(const Shape& shape, const Edges& edges, const Place& place)
      : FollowedWork(std::make_unique<EdgeWork>(shape, marks_of(edges), place), place.convolver) {
    range_ = full_range(place.picture_depth) * place.unit;
    if (!shows_angles(edges.options.direction)) return;
    Edges angles = edges;
    angles.options.threshold = std::exchange(angles.options.low, std::nullopt);
    angles_ = std::make_unique<EdgeWork>(shape, angles, place);
    out = angles_->out;
    two_levels = false;
  }

  Needs needs(int rows) const override {
    Needs needs = marks_->needs(marks_->is_whole() ? rows : std::min(rows, kRows));
    if (!marks_->is_whole()) needs.buffers *= cpu::threads_or_all(threads());
    needs.buffers += std::int64_t{out.width} * out.height * std::int64_t(sizeof(Pixel));
    if (angles_) needs.buffers += bytes_of(marks_->out);
    return needs;
  }

  const Work* in_bands() const override {
    return marks_->is_whole() || angles_ ? nullptr : marks_.get();
  }

  void enclose(const Around& around) override {
    marks_ = around(std::move(marks_));
    if (angles_) angles_ = around(std::move(angles_));
    const std::string why = why_whole;
    Work::operator=(angles_ ? *angles_ : *marks_);
    why_whole = why;
  }

  void finish() const override { marks_->finish(); }

  void complete(PictureView<std::byte> picture) const override {
    with_depth(out.depth, [&]<class T>(TypeTag<T>) {
      for (int channel = 0; channel < std::min(picture.channels, 3); ++channel)
        follow<T>(picture, channel);
    });
  }

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<FunctionWorker>(
        [this](const auto& in, const auto& out) { push(in, out); });
  }

 private:
  using Pixel = std::pair<int, int>;
  static constexpr int kRows = 64;  ///< of a part of the picture, where the marks take bands

  FollowedWork(std::unique_ptr<Work> marks, Convolver& convolver)
      : Work(*marks), convolver_(convolver), marks_(std::move(marks)) {
    if (why_whole.empty()) why_whole = "edges are followed through the whole picture";
  }

  static Edges marks_of(Edges edges) {
    if (shows_angles(edges.options.direction)) edges.options.direction = EdgeDirection::both;
    return edges;
  }

  int threads() const { return convolver_.options().request.threads; }

  void push(BandView<const std::byte> from, BandView<std::byte> to) const {
    if (!angles_) {
      filter(*marks_, from, to);
      return complete(to);
    }
    Image edges(to.width, to.height, marks_->out.channels, out.depth);
    filter(*marks_, from, {edges.view(), 0});
    complete(edges.view());
    filter(*angles_, from, to);
    const int colours = std::min(to.channels, 3);
    with_depth(out.depth, [&]<class T>(TypeTag<T>) {
      for_rows(to, threads(), [&](int y) {
        const T* edge = row_of<T>(edges.view(), y);
        T* pixel = row_of<T>(to, y);
        for (int x = 0; x < to.width; ++x, edge += edges.channels(), pixel += to.channels)
          for (int c = 0; c < colours; ++c)
            if (edge[std::min(c, edges.channels() - 1)] == T(0)) pixel[c] = T(0);
      });
    });
  }

  void filter(const Work& work, BandView<const std::byte> from, BandView<std::byte> to) const {
    if (work.is_whole()) return work.make_worker()->push(from, to);
    const auto start = Clock::now();
    const int parts = (to.height - 1) / kRows + 1;
    std::vector<std::unique_ptr<Worker>> workers(std::size_t(cpu::threads_or_all(threads())));
    cpu::parallel_for(parts, int(workers.size()), [&](int thread, int part) {
      std::unique_ptr<Worker>& worker = workers[std::size_t(thread)];
      if (!worker) worker = work.make_worker();
      const int first = part * kRows;
      worker->push(from, rows_of(to, first, std::min(kRows, to.height - first)));
    });
    convolver_.add_bands(ms_since(start), parts);
  }

  /// Makes white what touches a high mark, at sides or corners, by way of others, and black all
  /// else.
  template <class T>
  void follow(PictureView<std::byte> picture, int channel) const {
    const T white = to_sample<T>(range_), high = to_sample<T>(kHighMark * range_),
            low = to_sample<T>(kLowMark * range_);
    const std::ptrdiff_t step = picture.channels;
    const auto row = [&](int y) { return row_of<T>(picture, y) + channel; };
    // Calls body(x) where the row has the mark.
    const auto for_marks = [&](T mark, int y, const auto& body) {
      if constexpr (std::is_same_v<T, std::uint8_t>) {
        T *const begin = row(y), *at = begin;
        for (; step == 1; ++at) {
          at = static_cast<T*>(std::memchr(at, mark, std::size_t(begin + picture.width - at)));
          if (!at) return;
          body(int(at - begin));
        }
      }
      for (int x = 0; x < picture.width; ++x)
        if (row(y)[x * step] == mark) body(x);
    };
    std::deque<Pixel> found;  // a vector may double when it is full
    for (int y = 0; y < picture.height; ++y)
      for_marks(high, y, [&](int x) {
        row(y)[x * step] = white;
        found.emplace_back(x, y);
        while (!found.empty()) {
          const auto [u, v] = found.back();
          found.pop_back();
          const int left = std::max(u - 1, 0), right = std::min(u + 1, picture.width - 1);
          for (int j = std::max(v - 1, 0); j <= std::min(v + 1, picture.height - 1); ++j) {
            T* const marks = row(j);
            for (int i = left; i <= right; ++i) {
              T& mark = marks[i * step];
              if (mark != low && mark != high) continue;
              mark = white;
              found.emplace_back(i, j);
            }
          }
        }
      });
    for_rows(picture, threads(),
             [&](int y) { for_marks(low, y, [&](int x) { row(y)[x * step] = T(0); }); });
  }

  Convolver& convolver_;
  std::unique_ptr<Work> marks_, angles_;
  double range_ = 0;
};

/// Answers for 8-bit pictures to masks of whole weights, without floats between.
class WholeTapsWork final : public Work {
 public:
  /// `row` is EdgeLoops::length or largest.
  WholeTapsWork(const Problem& whole, WholeTaps taps, decltype(EdgeLoops::length) row)
      : Work(whole, ""), whole_(whole), taps_(std::move(taps)), row_(row) {}

  std::unique_ptr<Worker> make_worker() const override {
    const auto under = std::make_shared<RowsUnderMask<std::uint8_t>>(whole_);
    return std::make_unique<FunctionWorker>([this, under](const auto& in, const auto& out) {
      under->for_each(in, out, [&](int y, const std::uint8_t* const* rows) {
        row_(taps_, rows, out.width * out.channels, row_of<std::uint8_t>(out, y));
      });
    });
  }

 private:
  Problem whole_;
  WholeTaps taps_;
  decltype(EdgeLoops::length) row_;
};

class EdgeFilter final : public Filter {
 public:
  explicit EdgeFilter(MaskSet set) : masks_(std::move(set.masks)), is_edge_(false) {
    edges_.masks = reaching_equally_far(masks_);
    edges_.options.color = true;
    edges_.combine = set.combine;
    for (Mask& mask : edges_.masks) {
      edges_.divisors.push_back(std::exchange(mask.divisor, 1));
      edges_.offsets.push_back(std::exchange(mask.offset, 0));
    }
  }

  EdgeFilter(std::vector<Mask> masks, const EdgeOptions& options)
      : masks_(std::move(masks)),
        edges_{masks_, {}, std::vector<double>(masks_.size()), options, combine_of(options.kind)} {
    const Mask& first = masks_[0];
    if ((masks_.size() > 1 && options.kind == EdgeKind::curvature) ||
        (masks_.size() > 2 && options.kind == EdgeKind::gradient))
      throw UsageError("a curvature has one mask, and a gradient one or two");
    if (options.low && !(*options.low <= options.threshold.value_or(-1)))
      throw UsageError("a low threshold of edges needs a higher one");
    if (options.color && options.direction == EdgeDirection::hue)
      throw UsageError("hues show directions of luma, not of each channel");
    for (Mask& mask : edges_.masks) {
      if (mask.width != first.width || mask.height != first.height ||
          mask.anchor_x != first.anchor_x || mask.anchor_y != first.anchor_y)
        throw UsageError("masks of edges reach equally far");
      edges_.divisors.push_back(std::exchange(mask.divisor, 1));
      mask.offset = 0;
    }
  }

  std::string text() const override {
    std::string words;
    for (const Mask& mask : masks_) words += (&mask == &masks_[0] ? ", " : " and ") + text_of(mask);
    if (!is_edge_) return "masks by " + std::string(name_of(edges_.combine)) + words;
    constexpr const char* kKinds[] = {"gradient", "compass", "curvature"};
    const EdgeOptions& options = edges_.options;
    std::string text = "edge " + std::string(kKinds[int(options.kind)]) + " " +
                       std::string(name_of(options.direction)) +
                       (options.color ? " of channels" : " of luma") +
                       (options.thin ? ", thin" : "");
    if (options.threshold) text += ", from " + print_number(*options.threshold);
    if (options.low) text += ", low " + print_number(*options.low);
    return text + words;
  }
  std::vector<Mask> masks() const override { return masks_; }
  /// The largest or strongest response is like the picture if each response is, and a sum if the
  /// gains sum to 1.
  bool keeps_lightness() const override {
    const bool picks = edges_.combine == Combine::max || edges_.combine == Combine::first_strongest;
    double sum = 0;
    for (const Mask& mask : masks_) sum += gain(mask);
    return !is_edge_ && (picks ? std::ranges::all_of(masks_, has_unit_gain)
                               : edges_.combine == Combine::sum && std::abs(sum - 1) <= 1e-6);
  }
  bool takes_luma() const override { return !edges_.options.color; }
  bool needs_only_luma() const override {
    return takes_luma() && edges_.options.direction != EdgeDirection::hue;
  }

  std::unique_ptr<Work> begin(const Shape& in, const Place& place) const override {
    std::vector<std::string> names;
    for (const Mask& mask : masks_)
      if (names.empty() || names.back() != mask.name) names.push_back(mask.name);
    const bool is_one = !edges_.options.color || in.channels == 1;
    place.convolver.set_job(std::string(is_edge_ ? "edges of " : "responses of ") +
                            (is_one ? "1 channel" : "3 channels") + " in f32" +
                            (in.channels > EdgeWork::kAlpha ? ", multiplied by alpha" : "") +
                            ", with " + listed(names));
    if (edges_.options.low) return std::make_unique<FollowedWork>(in, edges_, place);
    auto work = std::make_unique<EdgeWork>(in, edges_, place);
    const bool takes_samples = in.depth == Depth::u8 && !work->is_whole() &&
                               (in.channels == 1 || (in.channels == 3 && edges_.options.color));
    const bool is_length = edges_.combine == Combine::length && edges_.masks.size() == 2;
    if (takes_samples && is_plain() && (is_length || edges_.combine == Combine::max)) {
      WholeTaps taps = whole_taps(edges_.masks, in.channels);
      const Problem whole = place.convolver.problem_of(in, edges_.masks[0], place.border_value);
      if (taps.empty()) return work;
      return std::make_unique<WholeTapsWork>(
          whole, std::move(taps), is_length ? edge_loops().length : edge_loops().largest);
    }
    return by_device_plan(std::move(work), *this, place);
  }

  std::string resident_refuses() const override {
    if (edges_.options.low) return "canny is computed on the CPU";
    if (shows_angles(edges_.options.direction)) return "angles are computed on the CPU";
    if (edges_.masks.size() > EdgeAnswers::kMostMasks)
      return "more than " + std::to_string(EdgeAnswers::kMostMasks) +
             " masks are combined on the CPU";
    return "";
  }

  ResidentPlan device_plan(const Shape& in, const Place& place, int blue) const override {
    Convolver& convolver = place.convolver;
    const ConvolverOptions& options = convolver.options();
    const bool is_luma = !edges_.options.color && in.channels > 1;
    const Shape plane{in.width, in.height, 1, Depth::f32};
    const int planes = is_luma ? 1 : in.channels;
    ResidentPlan made;
    std::vector<std::unique_ptr<Plan>> responses;
    const auto transforms = masks_.size() > 1 ? std::make_shared<SharedTransforms>() : nullptr;
    for (const Mask& mask : edges_.masks) {
      Problem problem = convolver.problem_of(plane, mask, place.border_value);
      problem.contrast = 1;  // of bytes
      const Choice choice = convolver.choice_for(problem, planes * int(masks_.size()));
      require_device(choice, responses.empty() ? choice : made.choice);
      problem.channels = planes;
      PlanOptions how = plan_options(choice, options);
      how.transforms = transforms;
      responses.push_back(choice.strategy->prepare(problem, choice.device, how));
      if (responses.size() > 1) continue;
      made.choice = choice;
      made.result = {problem.out_width(), problem.out_height(), planes, in.depth};
    }
    constexpr EdgeAnswers::Thin kThins[] = {EdgeAnswers::Thin::gradient, EdgeAnswers::Thin::compass,
                                            EdgeAnswers::Thin::crossings};
    const EdgeOptions& look = edges_.options;
    EdgeAnswers result;
    std::ranges::copy(edges_.divisors, result.divisors);
    std::ranges::copy(edges_.offsets, result.offsets);
    result.join = join_of(edges_);
    if (look.thin) result.thin = kThins[std::size_t(look.kind)];
    result.is_down = look.direction == EdgeDirection::y;
    result.has_threshold = look.threshold.has_value();
    result.threshold = look.threshold.value_or(0) / 255 * full_range(Depth::u8);
    result.of_luma = is_luma;
    result.blue = blue;
    std::ranges::copy(place.luma, result.luma);
    result.of_floats = in.depth == Depth::f32;
    PlanOptions how = plan_options(made.choice, options);
    how.transforms = transforms;
    made.plan = make_edge_plan(made.choice.device, std::move(responses), result, how);
    return made;
  }

  /// A plan holds floats for the picture and for each response, and the masks' plans.
  std::size_t most_resident() const override { return 2; }

 private:
  /// Whether answers are the samples, up to rounding, and responses have no divisor or offset.
  bool is_plain() const {
    const EdgeOptions& options = edges_.options;
    return !options.thin && !options.threshold && !shows_angles(options.direction) &&
           std::ranges::all_of(edges_.divisors, [](double divisor) { return divisor == 1; }) &&
           std::ranges::all_of(edges_.offsets, [](double offset) { return offset == 0; });
  }

  std::vector<Mask> masks_;
  Edges edges_;
  bool is_edge_ = true;  ///< else the masks are any
};

}  // namespace

EdgeFactors factors_of(EdgeMasks compass) {
  return {gaussian_mask(std::exchange(compass.sigma, 0)), edge_masks(compass)};
}

FilterPtr edge_filter(std::vector<Mask> masks, const EdgeOptions& options) {
  return std::make_shared<EdgeFilter>(std::move(masks), options);
}

FilterPtr combined_filter(MaskSet set) {
  return std::make_shared<EdgeFilter>(std::move(set));
}

}  // namespace convfilt
