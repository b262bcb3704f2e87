/// Choose a strategy and a device, prepare once, run many.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"
#include "src/auto/choice.hpp"
#include "src/filter/shape.hpp"

namespace convfilt {

struct ConvolverOptions {
  Request request;
  Border border = Border::replicate;
  double border_value = 0;  ///< for Border::constant, in sample units
  bool padded_pitch = true;
  Mode mode = Mode::same;
};

/// The work done so far.
struct Report {
  Choice choice;    ///< the latest run's
  std::string job;  ///< what the runs are for, where there are several; else empty
  std::vector<std::string> problems;  ///< what was filtered last, a line each, each once
  Timing timing;                      ///< milliseconds of all runs; bands: the most of any run
  Counts counts;                      ///< what the emulator counted in all runs
  int runs = 0;
};

/// How a plan on a device filters pictures that lie there.
struct ResidentPlan {
  Choice choice;  ///< of the strategy; of several masks' the first one's, of a chain's the last's
  std::unique_ptr<Plan> plan;
  Shape result{};
};

/// Chooses strategies, and keeps prepared plans for whole pictures, so that a second picture of the
/// same shape costs no preparation. Not thread-safe.
class Convolver {
 public:
  explicit Convolver(ConvolverOptions options, Machine machine = this_machine());

  Problem problem_of(const Shape& in, const Mask& mask, double border_value) const;

  /// The border value as a sample of a picture of this depth; throws UsageError where it is none:
  /// out of range, or not whole for an integer depth. border_value_refuses() has the rule.
  void check_border_value(Depth depth) const;

  /// The choice for `runs` such pictures. It goes into the report. Throws as choose() does.
  const Choice& choice_for(const Problem& problem, int runs);

  /// Has a GPU take all masks of the picture's filter, if together they take less time there: a
  /// picture of that shape goes there, and one of `out` comes back. Until next_filter(), choices
  /// are for it then. False where they are not, or were before.
  bool take_gpu(const std::vector<MaskJob>& masks, const Shape& in, const Shape& out);

  /// Says that a filter begins on a picture.
  void next_filter() { gpu_why_.clear(); }

  /// Filters a picture; alpha as any other channel. `runs` says how many such pictures the job has
  /// in all, for the choice of the device.
  void run(const Problem& problem, int runs, PictureView<const std::byte> in,
           PictureView<std::byte> out);

  /// Filters a picture of that shape by a plan that takes all masks of a filter, which `text` tells
  /// from others. `make` makes it, unless the latest such plan is for the same.
  void run(const std::string& text, const Shape& shape, const std::function<ResidentPlan()>& make,
           PictureView<const std::byte> in, PictureView<std::byte> out);

  /// Host memory that the plan for such pictures keeps. Throws as choose() does.
  std::int64_t plan_bytes(const Problem& problem, int runs);

  /// Gives back the plans that keep pictures in host memory.
  void drop_large_plans();

  /// Has masks that filter one picture share its transforms from now on. Call it before
  /// plan_bytes(), too.
  void share_transforms();

  /// Tells the convolver that all runs filter the same picture, until it is destroyed. Otherwise
  /// each run counts as a new picture.
  class OnePicture {
   public:
    explicit OnePicture(Convolver& convolver);
    OnePicture(const OnePicture&) = delete;
    OnePicture& operator=(const OnePicture&) = delete;
    ~OnePicture() { convolver_.is_one_picture_ = false; }

   private:
    Convolver& convolver_;
  };

  /// Names in the report a problem that is filtered. It keeps the latest ones, so that a folder of
  /// pictures of any sizes costs no more a picture than one of equal sizes.
  void note(const Problem& problem);

  /// Names in the report what bands were filtered by.
  void report_choice(const Choice& choice) { report_.choice = choice; }

  /// Adds to the report what bands took.
  void add_bands(double kernel_ms, int bands);

  /// Says in the report what several runs are for.
  void set_job(std::string job) { report_.job = std::move(job); }

  const ConvolverOptions& options() const { return options_; }
  const Report& report() const { return report_; }

 private:
  struct Prepared {
    Problem problem;
    bool on_gpu = false;  ///< by take_gpu()
    Choice choice;
    std::unique_ptr<Plan> plan;
  };

  /// A plan for all masks of a filter.
  struct Joint {
    std::string text;
    Shape shape;
    ResidentPlan made{};
  };

  Choice chosen(const Problem& problem, int runs) const;

  /// The problem, with a likely contrast if it would be transformed then.
  Problem expected(const Problem& problem, int runs) const;

  Prepared& prepared(const Problem& problem, int runs);
  void run(Plan& plan, const Choice& choice, PictureView<const std::byte> in,
           PictureView<std::byte> out);

  ConvolverOptions options_;
  Machine machine_;
  std::string gpu_why_{};           ///< why a GPU takes all masks; empty where each is weighed
  std::vector<Prepared> prepared_;  ///< the latest used last
  Joint joint_{};
  std::shared_ptr<SharedTransforms> transforms_;
  bool is_one_picture_ = false;
  Report report_;
};

/// The options of a plan, by a choice and the convolver's options.
PlanOptions plan_options(const Choice& choice, const ConvolverOptions& options);

}  // namespace convfilt
