#include "src/filter/edge.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <numbers>
#include <string>
#include <utility>

#include "kernels/backend/device_errors.hpp"
#include "kernels/cpu/gradient_rows.hpp"
#include "kernels/cpu/row_buffer.hpp"
#include "kernels/registry.hpp"
#include "src/base/errors.hpp"
#include "src/base/suggest.hpp"
#include "src/filter/bands.hpp"
#include "src/filter/luma.hpp"
#include "src/filter/mask.hpp"
#include "src/filter/mask_work.hpp"
#include "src/mask/number.hpp"
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
      : edges_(edges), result_(result), planes_(edges.masks.size()) {}

  /// Makes room for these rows.
  void take(int top, int rows) {
    top_ = top;
    if (answers_.height() == rows) return;
    for (Image& plane : planes_) plane = Image(result_.width, rows, 1, Depth::f32);
    answers_ = Image(result_.width, rows, 1, Depth::f32);
  }

  BandView<std::byte> plane(std::size_t mask) { return {planes_[mask].view(), top_}; }
  BandView<std::byte> answers() { return {answers_.view(), top_}; }

  /// Keeps row y of the answers, for thin ones.
  void keep_answers(int y) {
    static thread_local std::vector<double> values;
    take_answers(y, values);
    std::ranges::copy(values, row_of<float>(answers_.view(), y - top_));
  }

  /// values = the answers in row y.
  void take_answers(int y, std::vector<double>& values) const {
    values.resize(std::size_t(result_.width));
    const bool is_compass = edges_.options.kind == EdgeKind::compass;
    for (std::size_t k = 0; k < planes_.size(); ++k) {
      const float* response = row_of<float>(planes_[k].view(), y - top_);
      const double divisor = edges_.divisors[k], offset = edges_.offsets[k];
      const auto join = [&](const auto& joined) {
        for (std::size_t x = 0; x < values.size(); ++x)
          values[x] = joined(values[x], response[x] / divisor + offset);
      };
      const bool is_length = edges_.combine == Combine::length;
      if (k == 0 && is_length)
        join([](double, double one) { return std::abs(one); });
      else if (k == 0 && is_compass)
        join([](double, double one) { return std::max(one, 0.0); });
      else if (k == 0)
        join([](double, double one) { return one; });
      else if (is_length)
        join([](double a, double b) { return std::sqrt(a * a + b * b); });
      else if (edges_.combine == Combine::sum)
        join([](double sum, double one) { return sum + one; });
      else if (edges_.combine == Combine::max)
        join([](double most, double one) { return std::max(most, one); });
      else
        join([](double most, double one) { return std::abs(one) > std::abs(most) ? one : most; });
    }
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
  const Shape result_;
  std::vector<Image> planes_;
  Image answers_;
  int top_ = 0;
};

/// Which samples of a plane are edges, with a low threshold.
class Hysteresis {
 public:
  Hysteresis(int width, int height)
      : width_(width), height_(height), marks_(std::size_t(width) * std::size_t(height)) {}

  /// The row's marks: 0, 1 from the low threshold on, 2 from the high one on.
  std::uint8_t* row(int y) { return marks_.data() + std::ptrdiff_t(y) * width_; }

  static constexpr std::int64_t kBytesPerPixel = 1 + sizeof(std::pair<int, int>);

  /// Marks as 2 all that touch a 2, at sides or corners, by way of others.
  void follow() {
    std::deque<std::pair<int, int>> found;  // a vector may double when it is full
    for (int y = 0; y < height_; ++y)
      for (int x = 0; x < width_; ++x)
        if (row(y)[x] == 2) {
          found.emplace_back(x, y);
          while (!found.empty()) {
            const auto [u, v] = found.back();
            found.pop_back();
            for (int j = std::max(v - 1, 0); j <= std::min(v + 1, height_ - 1); ++j)
              for (int i = std::max(u - 1, 0); i <= std::min(u + 1, width_ - 1); ++i)
                if (row(j)[i] == 1) {
                  row(j)[i] = 2;
                  found.emplace_back(i, j);
                }
          }
        }
  }

 private:
  int width_, height_;
  std::vector<std::uint8_t> marks_;
};

class EdgeWork final : public Work {
 public:
  static constexpr int kAlpha = 3;  ///< the channel

  EdgeWork(const Shape& in, const Edges& edges, const Place& place)
      : Work(place.convolver.problem_of(in, edges.masks[0], place.border_value), place.why_whole),
        edges_(edges),
        convolver_(place.convolver),
        range_(full_range(place.picture_depth) * place.unit) {
    if (!edges.options.color && !place.keeps_channels && in.channels == 3) out.channels = 1;
    for (double& offset : edges_.offsets) offset *= place.unit;
    if (edges.options.thin) {
      window.height += 2;
      window.lead_y += 1;
    }
    if (edges.options.low && why_whole.empty())
      why_whole = "edges are followed through the whole picture";
    for (const Mask& mask : edges.masks) {
      const Problem problem =
          convolver_.problem_of({in.width, in.height, 1, Depth::f32}, mask, place.border_value);
      masks_.emplace_back(problem, 1, 0, planes() * int(edges.masks.size()), place);
      if (masks_.back().is_whole()) why_whole = masks_.back().why_whole;
    }
    for (MaskWork& mask : masks_) {
      mask.why_whole = why_whole;
      if (!is_whole()) convolver_.note(mask.problem());
    }
  }

  Needs needs(int rows) const override {
    constexpr std::int64_t kFloat = sizeof(float);
    const auto responses = std::int64_t(masks_.size()) + 1;
    // The picture's floats, the responses and answers, and a plan's rows of them.
    if (!is_whole())
      return {kFloat * in.width * (std::min(band_step(), rows) + window.height) * (responses + 2)};
    const std::int64_t pixels = std::int64_t{out.width} * out.height;
    Needs needs{kFloat * (std::int64_t{in.width} * in.height + pixels * responses)};
    if (edges_.options.low) needs.buffers += pixels * Hysteresis::kBytesPerPixel;
    if (masks_.size() > 1) convolver_.next_picture();
    for (const MaskWork& mask : masks_) needs.plans += mask.plan_bytes();
    return needs;
  }

  std::unique_ptr<Worker> make_worker() const override;

  /// Whether a device, the same for all, filters by the masks.
  bool is_on_device() const {
    const DeviceKind first = masks_.front().choice().device;
    return first != DeviceKind::cpu && std::ranges::all_of(masks_, [&](const MaskWork& mask) {
             return mask.choice().device == first;
           });
  }

  /// Names the masks' problems in the report.
  void note_problems() const {
    for (const MaskWork& mask : masks_) convolver_.note(mask.problem());
  }

 private:
  class EdgeWorker;

  bool has_alpha() const { return in.channels > kAlpha; }
  int planes() const { return edges_.options.color ? std::min(in.channels, 3) : 1; }

  /// Rows of a band that are filtered at once: their floats stay in the second-level cache.
  int band_step() const {
    constexpr std::ptrdiff_t kFloats = 1 << 18;
    return std::max({int(kFloats / (std::ptrdiff_t(in.width) * std::ptrdiff_t(masks_.size() + 2))),
                     2 * (window.height - 1), 8});
  }

  Edges edges_;
  Convolver& convolver_;
  double range_;  ///< of samples
  std::vector<MaskWork> masks_;
};

class EdgeWork::EdgeWorker final : public Worker {
 public:
  explicit EdgeWorker(const EdgeWork& work) : work_(work), responses_(work.edges_, work.out) {
    for (const MaskWork& mask : work.masks_) masks_.push_back(mask.make_worker());
  }

  void push(BandView<const std::byte> in, BandView<std::byte> out) override {
    const int step = work_.is_whole() ? out.height : work_.band_step();
    for (int y = 0; y < out.height; y += step)
      for (int plane = 0; plane < work_.planes(); ++plane)
        with_depth(work_.in.depth, [&]<class T>(TypeTag<T>) {
          find<T>(in, rows_of(out, y, std::min(step, out.height - y)), plane);
        });
  }

 private:
  const EdgeOptions& options() const { return work_.edges_.options; }

  template <class T>
  void find(BandView<const std::byte> in, BandView<std::byte> out, int plane) {
    const int margin = options().thin ? 1 : 0;
    const int top = std::max(out.top - margin, 0);
    responses_.take(top, std::min(out.top + out.height + margin, work_.out.height) - top);
    if (work_.is_whole() && masks_.size() > 1) work_.convolver_.next_picture();
    const BandView<const std::byte> floats = converted(
        work_.masks_[0], in, responses_.answers(), threads(), 1, Depth::f32, floats_,
        [&](const std::byte* row, std::byte* to) {
          to_floats(reinterpret_cast<const T*>(row), in.width, plane, reinterpret_cast<float*>(to));
        });
    for (std::size_t k = 0; k < masks_.size(); ++k) masks_[k]->push(floats, responses_.plane(k));
    if (options().thin)
      for_rows(responses_.answers(), threads(), [&](int y) { responses_.keep_answers(top + y); });

    Hysteresis marks(options().low ? out.width : 0, out.height);
    const double low = options().low.value_or(0) / 255 * work_.range_;
    const double high = options().threshold.value_or(0) / 255 * work_.range_;
    if (options().low) {
      for_rows(out, threads(), [&](int y) {
        static thread_local std::vector<double> answers;
        take_answers<T>(in, out.top + y, answers);
        for (int x = 0; x < out.width; ++x) {
          const double answer = answers[std::size_t(x)];
          marks.row(y)[x] = std::uint8_t(answer >= high ? 2 : answer >= low ? 1 : 0);
        }
      });
      marks.follow();
    }
    for_rows(out, threads(), [&](int y) {
      static thread_local std::vector<double> answers;
      if (options().low)
        answers.resize(std::size_t(out.width));  // the marks decide
      else
        take_answers<T>(in, out.top + y, answers);
      const bool is_angle = options().direction == EdgeDirection::angle;
      for (int x = 0; (options().threshold || is_angle) && x < out.width; ++x) {
        double& answer = answers[std::size_t(x)];
        const bool is_edge = options().low         ? marks.row(y)[x] == 2
                             : options().threshold ? answer >= high
                                                   : answer > 0.5 / 255 * work_.range_;
        answer = !is_edge ? 0 : work_.range_ * (is_angle ? responses_.angle(x, out.top + y) : 1);
      }
      store<T>(answers.data(), plane, alpha_row<T>(in, out.top + y), out.width, row_of<T>(out, y));
    });
  }

  /// The row of the picture in which alpha of row y of the result lies; null where there is none,
  /// or it lies outside the picture, where all is opaque.
  template <class T>
  const T* alpha_row(BandView<const std::byte> in, int y) const {
    y += work_.offset_y;
    const bool has_row = work_.has_alpha() && y >= 0 && y < work_.in.height;
    return has_row ? row_of<T>(in, y - in.top) : nullptr;
  }

  /// Its alpha at column x of the result.
  template <class T>
  double alpha_at(const T* row, int x) const {
    x += work_.offset_x;
    return row && x >= 0 && x < work_.in.width ? double(row[std::ptrdiff_t(x) * 4 + kAlpha])
                                               : full_range(work_.in.depth);
  }

  /// answers = those in row y of the result, divided by alpha.
  template <class T>
  void take_answers(BandView<const std::byte> in, int y, std::vector<double>& answers) const {
    if (!options().thin) responses_.take_answers(y, answers);
    answers.resize(std::size_t(work_.out.width));
    // Answers below all thresholds are black; the division by alpha comes first.
    const double threshold = options().low.value_or(options().threshold.value_or(0));
    const double least = work_.has_alpha() ? 0 : threshold / 255 * work_.range_;
    for (int x = 0; options().thin && x < work_.out.width; ++x)
      answers[std::size_t(x)] = responses_.thin_answer(x, y, least);
    const T* row = alpha_row<T>(in, y);
    for (int x = 0; row && x < work_.out.width; ++x) {
      const double alpha = alpha_at(row, x);
      double& answer = answers[std::size_t(x)];
      answer = alpha > 0 ? answer / (alpha / full_range(work_.in.depth)) : 0;
    }
  }

  template <class T>
  void store(const double* answers, int plane, const T* alpha, int width, T* to) const {
    const int channels = work_.out.channels;
    if (channels == 1) {
      for (int x = 0; x < width; ++x) to[x] = to_sample<T>(answers[x]);
      return;
    }
    const int colours = options().color ? 1 : 3;
    for (int x = 0; x < width; ++x, to += channels) {
      std::fill_n(to + plane, colours, to_sample<T>(answers[x]));
      if (channels > kAlpha) to[kAlpha] = T(alpha_at(alpha, x));
    }
  }

  /// Luma or a channel, multiplied by alpha.
  template <class T>
  void to_floats(const T* from, int width, int plane, float* to) const {
    const int channels = work_.in.channels;
    const bool is_luma = !options().color && channels > 1;
    const double full = full_range(work_.in.depth);
    for (int x = 0; x < width; ++x, from += channels) {
      const double value = is_luma ? luma_of(from) : double(from[plane]);
      to[x] = float(work_.has_alpha() ? value * (double(from[kAlpha]) / full) : value);
    }
  }

  int threads() const { return work_.is_whole() ? work_.convolver_.options().request.threads : 1; }

  const EdgeWork& work_;
  std::vector<std::unique_ptr<Worker>> masks_;
  EdgeResponses responses_;
  Image floats_;
};

std::unique_ptr<Worker> EdgeWork::make_worker() const {
  return std::make_unique<EdgeWorker>(*this);
}

/// Edges of 8-bit pictures by two masks of whole weights, without floats between.
class GradientWorker final : public Worker {
 public:
  GradientWorker(const Problem& whole, const std::vector<GradientTap>& taps)
      : taps_(taps),
        lead_y_(whole.lead_y()),
        source_(whole, whole.lead_x(), whole.mask.width - 1 - whole.lead_x()),
        gathered_(whole.mask.height, source_.length(whole.out_width())),
        rows_(std::size_t(whole.mask.height)) {}

  void push(BandView<const std::byte> in, BandView<std::byte> out) override {
    const int height = int(rows_.size());
    for (int row = 0; row < out.height + height - 1; ++row) {
      std::rotate(rows_.begin(), rows_.begin() + 1, rows_.end());
      rows_.back() =
          source_.row(in, 0, out.width, out.top - lead_y_ + row, gathered_.row(row % height));
      const int y = row + 1 - height;
      if (y >= 0)
        gradient_row(taps_, rows_.data(), out.width * out.channels, row_of<std::uint8_t>(out, y));
    }
  }

 private:
  const std::vector<GradientTap>& taps_;
  int lead_y_;
  SourceRows<std::uint8_t> source_;
  cpu::RowBuffer<std::uint8_t> gathered_;
  std::vector<const std::uint8_t*> rows_;  ///< the rows under the mask
};

class GradientWork final : public Work {
 public:
  GradientWork(const Problem& whole, std::vector<GradientTap> taps)
      : Work(whole, ""), whole_(whole), taps_(std::move(taps)) {}

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<GradientWorker>(whole_, taps_);
  }

 private:
  Problem whole_;
  std::vector<GradientTap> taps_;
};

/// Whole pictures by a plan of a device that makes the answers, too; where it lacks memory, in
/// another way.
class DeviceEdgeWork final : public Work {
 public:
  using Run = std::function<void(PictureView<const std::byte> in, PictureView<std::byte> out)>;

  DeviceEdgeWork(std::unique_ptr<EdgeWork> other, Run run)
      : Work(*other), other_(std::move(other)), run_(std::move(run)) {}

  Needs needs(int rows) const override { return other_->needs(rows); }

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<DeviceWorker>(*this);
  }

 private:
  class DeviceWorker final : public Worker {
   public:
    explicit DeviceWorker(const DeviceEdgeWork& work) : work_(work) {}

    void push(BandView<const std::byte> in, BandView<std::byte> out) override {
      try {
        work_.run_(in, out);
        work_.other_->note_problems();
      } catch (const DeviceMemoryError&) {
        work_.other_->make_worker()->push(in, out);
      }
    }

   private:
    const DeviceEdgeWork& work_;
  };

  std::unique_ptr<EdgeWork> other_;
  Run run_;
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

  std::unique_ptr<Work> begin(const Shape& in, const Place& place) const override {
    auto work = std::make_unique<EdgeWork>(in, edges_, place);
    std::vector<std::string> names;
    for (const Mask& mask : masks_)
      if (names.empty() || names.back() != mask.name) names.push_back(mask.name);
    const bool is_one = !edges_.options.color || in.channels == 1;
    place.convolver.set_job(std::string(is_edge_ ? "edges of " : "responses of ") +
                            (is_one ? "1 channel" : "3 channels") + " in f32" +
                            (in.channels > EdgeWork::kAlpha ? ", multiplied by alpha" : "") +
                            ", with " + listed(names));
    if (is_plain() && edges_.options.kind == EdgeKind::gradient &&
        (in.channels == 1 || (in.channels == 3 && edges_.options.color)) && in.depth == Depth::u8 &&
        !work->is_whole() && edges_.divisors == std::vector<double>{1, 1}) {
      std::vector<GradientTap> taps = gradient_taps(edges_.masks[0], edges_.masks[1], in.channels);
      if (!taps.empty())
        return std::make_unique<GradientWork>(
            place.convolver.problem_of(in, edges_.masks[0], place.border_value), std::move(taps));
    }
    if (in.depth == Depth::u8 && place.picture_depth == Depth::u8 && place.unit == 1 &&
        (in.channels == 1 || in.channels == 3) && (edges_.options.color || !place.keeps_channels) &&
        resident_refuses().empty() && work->is_on_device()) {
      return std::make_unique<DeviceEdgeWork>(
          std::move(work), [filter = *this, in, &convolver = place.convolver,
                            border_value = place.border_value](auto from, auto to) {
            const auto make = [&] {
              ResidentPlan made = filter.device_plan(in, convolver, border_value, 0);
              return std::pair{made.choice, std::move(made.plan)};
            };
            convolver.run(filter.text(), in, make, from, to);
          });
    }
    return work;
  }

  std::string resident_refuses() const override {
    if (edges_.options.low) return "canny is computed on the CPU";
    if (edges_.options.direction == EdgeDirection::angle)
      return "--direction=angle is computed on the CPU";
    if (edges_.masks.size() > EdgeAnswers::kMostMasks)
      return "more than " + std::to_string(EdgeAnswers::kMostMasks) +
             " masks are combined on the CPU";
    return "";
  }

  ResidentPlan resident(const Shape& in, Convolver& convolver) const override {
    if (const std::string why = resident_refuses(); !why.empty()) throw UsageError(why);
    return device_plan(in, convolver, convolver.options().border_value, 2);
  }

  /// A plan holds floats for the picture and for each response, and the masks' plans.
  std::size_t most_resident() const override { return 2; }

 private:
  /// `blue` is that colour's channel.
  ResidentPlan device_plan(const Shape& in, Convolver& convolver, double border_value,
                           int blue) const {
    const ConvolverOptions& options = convolver.options();
    const bool is_luma = !edges_.options.color && in.channels > 1;
    const Shape plane{in.width, in.height, 1, Depth::f32};
    const int planes = is_luma ? 1 : in.channels;
    ResidentPlan made;
    std::vector<std::unique_ptr<Plan>> responses;
    const auto transforms = masks_.size() > 1 ? std::make_shared<SharedTransforms>() : nullptr;
    for (const Mask& mask : edges_.masks) {
      Problem problem = convolver.problem_of(plane, mask, border_value);
      const Choice choice = convolver.choice_for(problem, planes * int(masks_.size()));
      if (choice.device == DeviceKind::cpu ||
          (!responses.empty() && choice.device != made.choice.device))
        throw UsageError("strategy '" + std::string(choice.strategy->name) +
                         "' is not for this device");
      problem.channels = planes;
      PlanOptions how = plan_options(choice, options);
      how.transforms = transforms;
      responses.push_back(choice.strategy->prepare(problem, choice.device, how));
      if (responses.size() == 1) made.choice = choice;
    }
    PlanOptions how = plan_options(made.choice, options);
    how.transforms = transforms;
    made.plan =
        make_edge_plan(made.choice.device, std::move(responses), answers(is_luma, blue), how);
    return made;
  }

  bool has_offsets() const {
    return std::ranges::any_of(edges_.offsets, [](double offset) { return offset != 0; });
  }

  /// For a plan on a device.
  EdgeAnswers answers(bool of_luma, int blue) const {
    using Join = EdgeAnswers::Join;
    using Thin = EdgeAnswers::Thin;
    constexpr Join kJoins[] = {Join::sum, Join::max, Join::length, Join::first_strongest};
    constexpr Thin kThins[] = {Thin::gradient, Thin::compass, Thin::crossings};
    const EdgeOptions& options = edges_.options;
    EdgeAnswers how;
    std::ranges::copy(edges_.divisors, how.divisors);
    std::ranges::copy(edges_.offsets, how.offsets);
    how.join =
        options.kind == EdgeKind::compass ? Join::compass : kJoins[std::size_t(edges_.combine)];
    if (options.thin) how.thin = kThins[std::size_t(options.kind)];
    how.is_down = options.direction == EdgeDirection::y;
    how.has_threshold = options.threshold.has_value();
    how.threshold = options.threshold.value_or(0) / 255 * full_range(Depth::u8);
    how.of_luma = of_luma;
    for (int channel = 0; channel < 3; ++channel) how.luma[channel] = luma_share(channel);
    how.blue = blue;
    return how;
  }

  /// Whether answers are the samples, up to rounding, and there are two masks at most.
  bool is_plain() const {
    const EdgeOptions& options = edges_.options;
    return !options.thin && !options.threshold && options.direction != EdgeDirection::angle &&
           edges_.combine == Combine::length && !has_offsets();
  }

  std::vector<Mask> masks_;
  Edges edges_;
  bool is_edge_ = true;  ///< else the masks are any
};

}  // namespace

FilterPtr edge_filter(std::vector<Mask> masks, const EdgeOptions& options) {
  return std::make_shared<EdgeFilter>(std::move(masks), options);
}

FilterPtr combined_filter(MaskSet set) {
  return std::make_shared<EdgeFilter>(std::move(set));
}

}  // namespace convfilt
