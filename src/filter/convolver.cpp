#include "src/filter/convolver.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/plan/contrast.hpp"
#include "src/base/errors.hpp"
#include "src/base/log.hpp"
#include "src/base/numbers.hpp"
#include "src/mask/number.hpp"

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
         a.contrast == b.contrast &&
         (a.border != Border::constant || a.border_value == b.border_value) &&
         filter_alike(a.mask, b.mask);
}

/// The problem, with a contrast that most pictures have where it is not known.
Problem likely(Problem problem) {
  if (problem.contrast == 0) problem.contrast = 1;
  return problem;
}

}  // namespace

Convolver::Convolver(ConvolverOptions options, Machine machine)
    : options_(std::move(options)), machine_(std::move(machine)) {}

Choice Convolver::chosen(const Problem& problem, int runs) const {
  if (gpu_why_.empty()) return choose(problem, runs, options_.request, machine_);
  Request request = options_.request;
  request.device = name_of(DeviceKind::cuda);
  request.why = gpu_why_;
  return choose(problem, runs, request, machine_);
}

bool Convolver::take_gpu(const std::vector<MaskJob>& masks, const Shape& in, const Shape& out) {
  if (!gpu_why_.empty()) return false;
  gpu_why_ = gpu_pays_for_all(masks, double(bytes_of(in)), double(bytes_of(out)), options_.request,
                              machine_);
  return !gpu_why_.empty();
}

Convolver::Prepared& Convolver::prepared(const Problem& problem, int runs) {
  const auto found = std::find_if(prepared_.begin(), prepared_.end(), [&](const Prepared& p) {
    return p.on_gpu == !gpu_why_.empty() && same(p.problem, problem);
  });
  if (found != prepared_.end()) {
    std::rotate(found, found + 1, prepared_.end());
    return prepared_.back();
  }

  const Choice choice = chosen(problem, runs);
  if (!choice.notice.empty() && choice.notice != report_.choice.notice) log_note(choice.notice);
  if (prepared_.size() == kMaxPlans) prepared_.erase(prepared_.begin());
  PlanOptions how = plan_options(choice, options_);
  how.transforms = transforms_;
  report_.choice = choice;
  prepared_.push_back(
      {problem, !gpu_why_.empty(), choice, choice.strategy->prepare(problem, choice.device, how)});
  return prepared_.back();
}

void Convolver::share_transforms() {
  if (!transforms_) transforms_ = std::make_shared<SharedTransforms>();
}

Convolver::OnePicture::OnePicture(Convolver& convolver) : convolver_(convolver) {
  convolver_.share_transforms();
  convolver_.transforms_->next_picture();
  convolver_.is_one_picture_ = true;
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

std::int64_t Convolver::plan_bytes(const Problem& problem, int runs) {
  // A plan for a GPU keeps its pictures there, and is costly to make.
  if (chosen(likely(problem), runs).device == DeviceKind::cuda) return 0;
  return prepared(expected(problem, runs), runs).plan->host_bytes();
}

Problem Convolver::expected(const Problem& problem, int runs) const {
  const Problem other = likely(problem);
  const bool transforms =
      problem.depth == Depth::f32 &&
      chosen(other, runs).strategy->family_of(options_.request.tuning) == Family::transform;
  return transforms ? other : problem;
}

void Convolver::drop_large_plans() {
  std::erase_if(prepared_, [](const Prepared& each) { return each.plan->host_bytes() > 0; });
}

void Convolver::run(const Problem& problem, int runs, PictureView<const std::byte> in,
                    PictureView<std::byte> out) {
  Problem seen = expected(problem, runs);
  if (seen.contrast != problem.contrast)
    seen.contrast = contrast_of(problem, in, options_.request.threads);
  const Prepared& found = prepared(seen, runs);
  if (transforms_ && !is_one_picture_) transforms_->next_picture();
  run(*found.plan, found.choice, in, out);
  note(problem);
}

void Convolver::run(const std::string& text, const Shape& shape,
                    const std::function<ResidentPlan()>& make, PictureView<const std::byte> in,
                    PictureView<std::byte> out) {
  if (!joint_.made.plan || joint_.text != text || joint_.shape != shape) {
    joint_ = {};  // never two at a time
    joint_ = {text, shape, make()};
  }
  run(*joint_.made.plan, joint_.made.choice, in, out);
}

void Convolver::run(Plan& plan, const Choice& choice, PictureView<const std::byte> in,
                    PictureView<std::byte> out) {
  const Timing timing = plan.run(in, out);
  report_.choice = choice;
  report_.timing.upload_ms += timing.upload_ms;
  report_.timing.kernel_ms += timing.kernel_ms;
  report_.timing.download_ms += timing.download_ms;
  report_.timing.bands = std::max(report_.timing.bands, timing.bands);
  add(report_.counts, plan.counts());
  ++report_.runs;
}

void Convolver::note(const Problem& problem) {
  const std::string line = to_string(problem);
  std::vector<std::string>& lines = report_.problems;
  if (std::ranges::count(lines, line) > 0) return;
  if (lines.size() == kMaxNotes) lines.erase(lines.begin());
  lines.push_back(line);
}

const Choice& Convolver::choice_for(const Problem& problem, int runs) {
  const Choice choice = chosen(likely(problem), runs);
  if (!choice.notice.empty() && choice.notice != report_.choice.notice) log_note(choice.notice);
  report_.choice = choice;
  return report_.choice;
}

void Convolver::add_bands(double kernel_ms, int bands) {
  report_.timing.kernel_ms += kernel_ms;
  report_.timing.bands = std::max(report_.timing.bands, bands);
  ++report_.runs;
}

void Convolver::check_border_value(Depth depth) const {
  if (options_.border != Border::constant) return;
  const std::string refusal = border_value_refuses(options_.border_value, depth);
  if (refusal.empty()) return;
  throw UsageError("--border-value " + print_number(options_.border_value) +
                   ": samples of this picture are " + refusal);
}

PlanOptions plan_options(const Choice& choice, const ConvolverOptions& options) {
  PlanOptions how;
  how.device = choice.ordinal;
  how.threads = options.request.threads;
  how.padded_pitch = options.padded_pitch;
  how.tuning = options.request.tuning;
  return how;
}

}  // namespace convfilt
