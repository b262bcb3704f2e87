/// Filters pictures that lie in the memory of a CUDA device.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kernels/backend/device_queue.hpp"
#include "src/filter/convolver.hpp"

namespace convfilt {

/// What is done to pictures of a shape.
struct ResidentPlan {
  Choice choice;  ///< of the strategy, or of the one for the first of several masks
  std::unique_ptr<Plan> plan;
};

/// A filter, for pictures of any shape whose channels lie side by side. Both functions throw as
/// Convolver::convolve() does; what can be told from the shape and the masks, result_of()
/// refuses, before anything is decoded.
struct ResidentWork {
  std::function<Shape(const Shape& in, const Convolver&)> result_of;
  std::function<ResidentPlan(const Shape& in, Convolver&)> plan_for;
  std::size_t most_plans = 8;  ///< that are kept; each holds device memory, some pictures' worth
};

/// What a choice and the options say to a plan.
PlanOptions plan_options(const Choice& choice, const ConvolverOptions& options);

/// One mask.
ResidentWork resident_mask(Mask mask);

/// Filters pictures of any shapes, and keeps the plans of the latest. The bytes are those that a
/// Convolver gives. Only one thread at a time may use it.
class ResidentFilter {
 public:
  /// The options' device is a CUDA device by its number, "cuda:N", which is the queue's; the queue
  /// must outlive the filter.
  ResidentFilter(const ConvolverOptions& options, ResidentWork work, DeviceQueue& queue,
                 Machine machine = this_machine());

  /// The shape of the result. Throws UsageError where there is none.
  Shape result_of(const Shape& in) const;

  /// Queues the work behind what the stream has. Pictures have 1 or 3 channels. `out` has the shape
  /// of result_of(in). Says which strategy does it. Throws as Convolver::convolve() does.
  const Strategy& run(PictureView<const std::byte> in, Depth depth, PictureView<std::byte> out);

  /// Gives back the plans, and with them their memory, once the stream has done what it was given.
  void release();

 private:
  struct Prepared {
    Shape shape;
    ResidentPlan made;
  };

  Prepared& prepared_for(const Shape& shape);

  Convolver convolver_;
  ResidentWork work_;
  DeviceQueue& queue_;
  std::vector<Prepared> prepared_;  ///< the latest used last
};

}  // namespace convfilt
