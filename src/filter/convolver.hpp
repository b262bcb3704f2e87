/// Choose a strategy and a device, prepare once, run many.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/problem.hpp"
#include "kernels/strategy.hpp"
#include "src/auto/choice.hpp"
#include "src/filter/bands.hpp"
#include "src/picture/image.hpp"

namespace convfilt {

/// Whether the mask's gain is 1 but for the rounding of its weights: brightness and alpha are
/// preserved then.
bool has_unit_gain(const Mask& mask);

struct ConvolverOptions {
  Request request;
  Border border = Border::replicate;
  double border_value = 0;  ///< for Border::constant, in sample units
  bool padded_pitch = true;
  Mode mode = Mode::same;
};

/// What was done so far.
struct Report {
  Choice choice;    ///< the latest run's
  std::string job;  ///< what the runs are for, where there are several; else empty
  std::vector<std::string> problems;  ///< what was filtered last, a line each, each once
  Timing timing;                      ///< milliseconds of all runs; bands: the most of any run
  Counts counts;                      ///< what the emulator counted in all runs
  int runs = 0;
};

/// What filtering a whole picture gives and takes.
struct WholeNeeds {
  Shape result;
  std::int64_t bytes = 0;  ///< of host memory beside the input, the result included, at most
};

/// Keeps prepared plans, so that a second picture of the same shape costs no preparation. Not
/// thread-safe.
class Convolver {
 public:
  explicit Convolver(ConvolverOptions options, Machine machine = this_machine());

  /// Filters every channel with the mask, border and offset applied; the result has the input's
  /// depth and channels, and the size that the mode says. Alpha is filtered with the colours where
  /// the mask's gain is 1, and kept where it is not (an edge has no transparency of its own). In
  /// rows of the result for which all rows under the mask are opaque, colours get exactly the bytes
  /// they get without alpha, and alpha stays opaque. A ghost cell of border constant is opaque.
  /// Throws UsageError and DeviceError as choose() does.
  Image convolve(const Image& in, const Mask& mask);

  /// What convolve() takes for pictures of this shape. Throws as convolve() does.
  WholeNeeds needs(const Shape& in, const Mask& mask);

  /// What the plan for such pictures keeps of host memory. Throws as choose() does.
  std::int64_t plan_bytes(const Shape& in, const Mask& mask, double border_value, int runs);

  /// Gives back the plans that keep pictures in host memory.
  void drop_large_plans();

  /// The same for a picture that comes in bands, which gets the same bytes. Null where bands cannot
  /// have them: then why_whole() says why. Throws as convolve() does.
  std::unique_ptr<BandFilter> in_bands(const Shape& in, const Mask& mask);

  /// What run() takes for `runs` pictures of this shape. It goes into the report.
  const Choice& choice_for(const Shape& in, const Mask& mask, double border_value, int runs);

  /// Whether this choice gives bands the bytes of whole pictures; if not, why_whole() says why.
  bool suits_bands(const Choice& choice, const Problem& problem);
  const std::string& why_whole() const { return why_whole_; }
  std::unique_ptr<BandFilter> keep_whole(std::string why) {
    why_whole_ = std::move(why);
    return nullptr;
  }

  /// Names in the report a problem that is filtered. It keeps the latest ones, so that a folder of
  /// pictures of any sizes costs no more a picture than one of equal sizes.
  void note(const Problem& problem);

  /// Adds to the report what bands took.
  void add_bands(double kernel_ms, int bands);

  /// Filters the picture with the mask and this border value into `out`, which has the shape of
  /// result_like(in, mask). Alpha is filtered as any other channel. `runs` says how many such
  /// pictures the job has in all, for the choice of the device.
  void run(const Image& in, const Mask& mask, double border_value, int runs, Image& out);

  /// A picture like `in`, of the size that the mode gives its result; not initialised. Throws
  /// UsageError where there is no result.
  Image result_like(const Image& in, const Mask& mask) const;
  Shape result_of(const Shape& in, const Mask& mask) const;

  /// How far the result's pixel (0, 0) lies from the input's, in pixels.
  struct Offset {
    int x = 0, y = 0;
  };
  Offset offset_of(const Mask& mask) const;

  /// Takes the report of another convolver, which did the work.
  void adopt(const Report& report);

  /// Says that the next run has another picture than the one before. From the first call on, masks
  /// that filter one picture share its transforms. Call it before plan_bytes(), too.
  void next_picture();

  /// Says in the report what several runs are for.
  void describe(std::string job) { report_.job = std::move(job); }

  /// The border value as a sample of a picture of this depth; throws UsageError where it is none:
  /// out of range, or not whole for an integer depth. border_value_refuses() has the rule.
  void check_border_value(Depth depth) const;

  Problem problem_of(const Shape& in, const Mask& mask, double border_value) const;

  const ConvolverOptions& options() const { return options_; }
  const Report& report() const { return report_; }

 private:
  struct Prepared {
    Problem problem;
    bool finite;  ///< Request::finite
    Choice choice;
    std::unique_ptr<Plan> plan;
  };

  Prepared& prepared(const Problem& problem, int runs, bool finite);
  void convolve_premultiplied(const Image& in, const Mask& mask, Image& out);
  std::unique_ptr<BandFilter> in_bands_with_alpha(const Shape& in, const Mask& mask);

  ConvolverOptions options_;
  Machine machine_;
  std::vector<Prepared> prepared_;  ///< the latest used last
  std::shared_ptr<SharedTransforms> transforms_;
  Report report_;
  std::string why_whole_;
};

}  // namespace convfilt
