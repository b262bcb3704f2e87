/// Filters pictures that lie in the memory of a CUDA device.
#pragma once

#include <memory>
#include <vector>

#include "kernels/backend/device_queue.hpp"
#include "src/filter/convolver.hpp"

namespace convfilt {

/// Applies one mask to pictures of any shapes, and keeps the plans of the latest. The bytes are
/// those that a Convolver gives. Only one thread at a time may use it.
class ResidentFilter {
 public:
  /// The options' device is a CUDA device by its number, "cuda:N", which is the queue's; the queue
  /// must outlive the filter.
  ResidentFilter(const ConvolverOptions& options, const Mask& mask, DeviceQueue& queue,
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
    Choice choice;
    std::unique_ptr<Plan> plan;
  };

  Prepared& prepared_for(const Shape& shape);

  Convolver convolver_;
  Mask mask_;
  DeviceQueue& queue_;
  std::vector<Prepared> prepared_;  ///< the latest used last
};

}  // namespace convfilt
