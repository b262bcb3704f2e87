#include "src/filter/convolver.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "src/base/errors.hpp"
#include "src/base/log.hpp"
#include "src/base/numbers.hpp"
#include "src/base/source_text.hpp"
#include "src/filter/alpha.hpp"
#include "src/filter/alpha_bands.hpp"
#include "src/filter/rows.hpp"
#include "src/mask/number.hpp"
#include "src/picture/sample_type.hpp"

namespace convfilt {
namespace {

/// How many plans are kept. An edge filter has two masks, each with a second plan where samples are
/// not finite; a picture with alpha has two border values. Every plan holds device memory.
constexpr std::size_t kMaxPlans = 4;

/// How many problems the report names. A picture has at most eight: a mask for each direction of an
/// edge, on colours and on planes with alpha.
constexpr std::size_t kMaxNotes = 16;

bool same(const Problem& a, const Problem& b) {
  return a.width == b.width && a.height == b.height && a.channels == b.channels &&
         a.depth == b.depth && a.border == b.border && a.mode == b.mode &&
         (a.border != Border::constant || a.border_value == b.border_value) &&
         filter_alike(a.mask, b.mask);
}

/// Whether no sample is infinite, NaN or beyond 1e30, whose sums may overflow.
bool transforms_well(const Image& in, int threads) {
  constexpr auto kLargest = std::bit_cast<std::uint32_t>(1e30f);
  std::atomic<bool> all = true;
  for_rows(in, threads, [&](int y) {
    const auto* const row = reinterpret_cast<const std::uint32_t*>(in.view().row(y));
    std::uint32_t largest = 0;
    for (std::ptrdiff_t x = 0; x < std::ptrdiff_t(in.width()) * in.channels(); ++x)
      largest = std::max(largest, row[x] & 0x7fffffff);
    if (largest > kLargest) all = false;
  });
  return all;
}

}  // namespace

bool has_unit_gain(const Mask& mask) {
  return std::abs(gain(mask) - 1) <= 1e-6;
}

Convolver::Convolver(ConvolverOptions options, Machine machine)
    : options_(std::move(options)), machine_(std::move(machine)) {}

Convolver::Prepared& Convolver::prepared(const Problem& problem, int runs, bool finite) {
  const auto found = std::find_if(prepared_.begin(), prepared_.end(), [&](const Prepared& p) {
    return p.finite == finite && same(p.problem, problem);
  });
  if (found != prepared_.end()) {
    std::rotate(found, found + 1, prepared_.end());
    return prepared_.back();
  }

  Request request = options_.request;
  request.finite = finite;
  const Choice choice = choose(problem, runs, request, machine_);
  if (!choice.notice.empty() && choice.notice != report_.choice.notice) log_note(choice.notice);
  if (prepared_.size() == kMaxPlans) prepared_.erase(prepared_.begin());
  PlanOptions how;
  how.device = choice.ordinal;
  how.threads = options_.request.threads;
  how.padded_pitch = options_.padded_pitch;
  how.tuning = options_.request.tuning;
  how.transforms = transforms_;
  report_.choice = choice;
  prepared_.push_back(
      {problem, finite, choice, choice.strategy->prepare(problem, choice.device, how)});
  return prepared_.back();
}

void Convolver::next_picture() {
  if (!transforms_) transforms_ = std::make_shared<SharedTransforms>();
  transforms_->next_picture();
}

Problem Convolver::problem_of(const Shape& in, const Mask& mask, double border_value) const {
  Problem problem;
  problem.width = in.width;
  problem.height = in.height;
  problem.channels = in.channels;
  problem.depth = in.depth;
  problem.border = options_.border;
  problem.border_value = border_value;
  problem.mask = mask;
  problem.mode = options_.mode;
  return problem;
}

Shape Convolver::result_of(const Shape& in, const Mask& mask) const {
  const Problem problem = problem_of(in, mask, 0);
  if (const std::string refusal = mode_refuses(problem); !refusal.empty())
    throw UsageError("mask " + in_quotes(mask.name) + ": " + refusal);
  return {problem.out_width(), problem.out_height(), in.channels, in.depth};
}

Image Convolver::result_like(const Image& in, const Mask& mask) const {
  const Shape shape = result_of(shape_of(in), mask);
  return Image(shape.width, shape.height, shape.channels, shape.depth);
}

std::int64_t Convolver::plan_bytes(const Shape& in, const Mask& mask, double border_value,
                                   int runs) {
  const Problem problem = problem_of(in, mask, border_value);
  // A plan for a GPU keeps its pictures there, and is costly to make.
  if (choose(problem, runs, options_.request, machine_).device == DeviceKind::cuda) return 0;
  return prepared(problem, runs, true).plan->host_bytes();
}

void Convolver::drop_large_plans() {
  std::erase_if(prepared_, [](const Prepared& each) { return each.plan->host_bytes() > 0; });
}

WholeNeeds Convolver::needs(const Shape& in, const Mask& mask) {
  check_border_value(in.depth);
  WholeNeeds needs{result_of(in, mask)};
  // Plans have the mask, so have their problems, and so has what is remembered of masks: up to that
  // many at once, counted with masks of 481 to 801 squared.
  constexpr std::int64_t kMasks = 16;
  needs.bytes =
      bytes_of(needs.result) + kMasks * std::int64_t(mask.weights.size() * sizeof(double));
  if (in.channels < 4) {
    needs.bytes += plan_bytes(in, mask, options_.border_value, 1);
    return needs;
  }
  // As convolve(): planes in f32 where the picture is translucent, and its colours where it is not.
  // Both may be in one picture, and their plans are kept, one for each border value.
  const Shape plane{in.width, in.height, 1, Depth::f32};
  const Shape colours{in.width, in.height, 3, in.depth};
  Mask plain = mask;
  plain.offset = 0;
  needs.bytes += std::max(bytes_of(plane) + 2 * bytes_of(result_of(plane, mask)),
                          bytes_of(colours) + bytes_of(result_of(colours, mask)));
  const auto add_plan = [&](const Shape& shape, const Mask& by, double border_value, int plans) {
    try {
      needs.bytes += plans * plan_bytes(shape, by, border_value, 4);
    } catch (const UsageError&) {
      // A strategy that does not take these may not meet any.
    }
  };
  add_plan(plane, plain, options_.border_value * opaque(in.depth), 2);
  add_plan(colours, mask, options_.border_value, 1);
  return needs;
}

Convolver::Offset Convolver::offset_of(const Mask& mask) const {
  Problem problem;
  problem.mask = mask;
  problem.mode = options_.mode;
  return {mask.anchor_x - problem.lead_x(), mask.anchor_y - problem.lead_y()};
}

void Convolver::run(const Image& in, const Mask& mask, double border_value, int runs, Image& out) {
  const Problem problem = problem_of(shape_of(in), mask, border_value);
  Prepared* found = &prepared(problem, runs, true);
  // auto looks at floats before it transforms them.
  if (options_.request.strategy == "auto" && problem.depth == Depth::f32 &&
      found->choice.strategy->family == Family::transform &&
      !transforms_well(in, options_.request.threads)) {
    found = &prepared(problem, runs, false);
  }
  Prepared& ready = *found;
  const Timing timing = ready.plan->run(in.view(), out.view());
  const Counts counts = ready.plan->counts();

  report_.choice = ready.choice;
  note(problem);
  report_.timing.upload_ms += timing.upload_ms;
  report_.timing.kernel_ms += timing.kernel_ms;
  report_.timing.download_ms += timing.download_ms;
  report_.timing.bands = std::max(report_.timing.bands, timing.bands);
  report_.counts.global_reads += counts.global_reads;
  report_.counts.texture_fetches += counts.texture_fetches;
  report_.counts.shared_reads += counts.shared_reads;
  report_.counts.barriers += counts.barriers;
  report_.counts.ghost_cells += counts.ghost_cells;
  report_.counts.blocks += counts.blocks;
  report_.counts.atomic_adds += counts.atomic_adds;
  ++report_.runs;
}

void Convolver::note(const Problem& problem) {
  const std::string line = to_string(problem);
  std::vector<std::string>& lines = report_.problems;
  if (std::ranges::count(lines, line) > 0) return;
  if (lines.size() == kMaxNotes) lines.erase(lines.begin());
  lines.push_back(line);
}

const Choice& Convolver::choice_for(const Shape& in, const Mask& mask, double border_value,
                                    int runs) {
  const Problem problem = problem_of(in, mask, border_value);
  const Choice choice = choose(problem, runs, options_.request, machine_);
  if (!choice.notice.empty() && choice.notice != report_.choice.notice) log_note(choice.notice);
  report_.choice = choice;
  return report_.choice;
}

bool Convolver::suits_bands(const Choice& choice, const Problem& problem) {
  why_whole_ = bands_refuse(problem.border, window_of(problem));
  if (choice.device != DeviceKind::cpu)
    why_whole_ = "the " + std::string(name_of(choice.device)) + " filters whole pictures";
  else if (choice.strategy->family != Family::direct &&
           choice.strategy->family != Family::separable)
    why_whole_ = "strategy " + std::string(choice.strategy->name) + " transforms whole pictures";
  return why_whole_.empty();
}

void Convolver::adopt(const Report& report) {
  report_ = report;
}

void Convolver::add_bands(double kernel_ms, int bands) {
  report_.timing.kernel_ms += kernel_ms;
  report_.timing.bands = std::max(report_.timing.bands, bands);
  ++report_.runs;
}

namespace {

class MaskBands final : public BandFilter {
 public:
  MaskBands(const Strategy& strategy, const Problem& whole, const PlanOptions& how)
      : BandFilter(whole), plans_(strategy, whole, how) {}

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<MaskWorker>(plans_);
  }

 private:
  class MaskWorker final : public Worker {
   public:
    explicit MaskWorker(const BandPlans& plans) : plans_(plans) {}
    void filter(PictureView<const std::byte> in, PictureView<std::byte> out) override {
      plans_.for_rows(out.height).run(in, out);
    }

   private:
    BandPlans plans_;
  };

  BandPlans plans_;
};

/// A mask over premultiplied rows: all channels of a pixel at once.
class MaskTranslucent final : public TranslucentRows {
 public:
  MaskTranslucent(const BandPlans& plans, const Mask& mask, bool filters_alpha, Depth depth)
      : plans_(plans),
        offset_(mask.offset),
        anchor_x_(mask.anchor_x),
        anchor_y_(mask.anchor_y),
        filters_alpha_(filters_alpha),
        depth_(depth) {}

  void filter(PictureView<const std::byte> in, PictureView<std::byte> out) override {
    if (filtered_.width() != out.width || filtered_.height() != out.height)
      filtered_ = Image(out.width, out.height, out.channels, Depth::f32);
    plans_.for_rows(out.height).run(in, filtered_.view());
    with_depth(depth_, [&]<class T>(TypeTag<T>) {
      for (int y = 0; y < out.height; ++y) {
        const float* from = row_of<float>(std::as_const(filtered_).view(), y);
        const float* alpha = from + 3;
        if (!filters_alpha_)
          alpha = row_of<float>(in, y + anchor_y_) + std::ptrdiff_t(anchor_x_) * 4 + 3;
        T* to = row_of<T>(out, y);
        for (int x = 0; x < out.width; ++x, from += 4, alpha += 4, to += 4)
          store_straight(from, *alpha, offset_, to);
      }
    });
  }

 private:
  BandPlans plans_;
  double offset_;
  int anchor_x_, anchor_y_;
  bool filters_alpha_;
  Depth depth_;
  Image filtered_;
};

}  // namespace

std::unique_ptr<BandFilter> Convolver::in_bands_with_alpha(const Shape& in, const Mask& mask) {
  Shape opaque_picture = in, plane = in;
  opaque_picture.channels = 3;
  plane.channels = 1;
  plane.depth = Depth::f32;
  Mask plain = mask;
  plain.offset = 0;
  const double border_value = options_.border_value * opaque(in.depth);
  Choice choice;
  try {
    choice = choice_for(plane, plain, border_value, 4);
  } catch (const UsageError&) {
    // A strategy by name may take no floats, and an opaque picture has none.
    return keep_whole("only where its alpha is opaque does the strategy take it");
  }
  Problem problem = problem_of(plane, plain, border_value);
  if (!suits_bands(choice, problem)) return nullptr;
  std::unique_ptr<BandFilter> colours = in_bands(opaque_picture, mask);
  if (!colours) return nullptr;
  describe(
      "a picture with alpha: where it is opaque, as if it had none; elsewhere premultiplied by "
      "alpha, in f32");
  note(problem);
  problem.channels = 4;
  PlanOptions how;
  how.threads = 1;
  how.tuning = options_.request.tuning;
  const BandPlans plans(*choice.strategy, problem, how);
  const bool filters_alpha = has_unit_gain(mask);
  return alpha_bands(problem_of(in, mask, options_.border_value), std::move(colours),
                     [plans, mask, filters_alpha, depth = in.depth] {
                       return std::make_unique<MaskTranslucent>(plans, mask, filters_alpha, depth);
                     });
}

std::unique_ptr<BandFilter> Convolver::in_bands(const Shape& in, const Mask& mask) {
  check_border_value(in.depth);
  if (in.channels == 4) return in_bands_with_alpha(in, mask);
  const Problem problem = problem_of(in, mask, options_.border_value);
  if (const std::string refusal = mode_refuses(problem); !refusal.empty())
    throw UsageError("mask " + in_quotes(mask.name) + ": " + refusal);
  const Choice& choice = choice_for(in, mask, options_.border_value, 1);
  if (!suits_bands(choice, problem)) return nullptr;
  note(problem);
  PlanOptions how;
  how.threads = 1;
  how.tuning = options_.request.tuning;
  return std::make_unique<MaskBands>(*choice.strategy, problem, how);
}

Image Convolver::convolve(const Image& in, const Mask& mask) {
  check_border_value(in.depth());
  Image out = result_like(in, mask);
  if (!in.has_alpha()) {
    run(in, mask, options_.border_value, 1, out);
    return out;
  }
  const Window window = window_of(problem_of(shape_of(in), mask, 0));
  const std::vector<bool> rows = opaque_windows(in, window, options_.border, out.height());
  if (std::ranges::count(rows, false) > 0) {
    try {
      convolve_premultiplied(in, mask, out);
    } catch (const UsageError& refusal) {
      // The depth that a strategy refuses here is not the picture's own.
      throw UsageError(
          "the picture has alpha, so its colours are filtered as floats, premultiplied; " +
          std::string(refusal.what()));
    }
  }
  if (std::ranges::count(rows, true) > 0) {
    // Opaque pixels keep their own depth and its exact arithmetic.
    const Image colours = without_alpha(in, options_.request.threads);
    Image filtered = result_like(colours, mask);
    run(colours, mask, options_.border_value, 1, filtered);
    put_opaque_rows(filtered, rows, out);
  }
  return out;
}

void Convolver::convolve_premultiplied(const Image& in, const Mask& mask, Image& out) {
  // The offset is a colour, not a weight: it is added once colours are no longer premultiplied.
  Mask plain = mask;
  plain.offset = 0;
  const bool filters_alpha = has_unit_gain(mask);
  const double full = opaque(in.depth());
  const int threads = options_.request.threads;
  const int colours = colour_channels(in);
  const int runs = colours + (filters_alpha ? 1 : 0);

  describe(
      "a picture with alpha: " + std::to_string(colours) + " colours premultiplied by alpha, " +
      (filters_alpha ? "and alpha, one after another in f32"
                     : "one after another in f32; alpha is kept, as the mask's gain is not 1"));

  Image plane = plane_like(in), filtered = result_like(plane, mask);
  take_plane(in, colours, threads, plane);
  Image alpha;
  if (filters_alpha) {
    alpha = result_like(plane, mask);
    run(plane, plain, full, runs, alpha);
  } else {
    const Offset from = offset_of(mask);
    alpha = moved(plane, from.x, from.y, filtered, float(full));
  }
  store_alpha(alpha, threads, out);
  for (int c = 0; c < colours; ++c) {
    take_premultiplied(in, c, threads, plane);
    run(plane, plain, options_.border_value * full, runs, filtered);
    store_colour(filtered, alpha, mask.offset, c, threads, out);
  }
}

void Convolver::check_border_value(Depth depth) const {
  if (options_.border != Border::constant) return;
  const std::string refusal = border_value_refuses(options_.border_value, depth);
  if (refusal.empty()) return;
  throw UsageError("--border-value " + print_number(options_.border_value) +
                   ": samples of this picture are " + refusal);
}

}  // namespace convfilt
