/// Filters by plans on a device that do all that a picture needs: of pictures in host memory, or of
/// those that lie in the memory of a CUDA device.
#pragma once

#include <memory>
#include <vector>

#include "kernels/backend/device_queue.hpp"
#include "src/filter/filter.hpp"

namespace convfilt {

/// Throws UsageError unless the choice is for a device, and for the same one as `first`.
void require_device(const Choice& choice, const Choice& first);

/// The filter's work on 8-bit pictures: by its plan for a device where all masks of the work are
/// for one, and by the work itself elsewhere, as where the device lacks memory.
std::unique_ptr<Work> by_device_plan(std::unique_ptr<Work> work, const Filter& filter,
                                     const Place& place);

/// Filters pictures of any shapes, and keeps the plans of the latest. The bytes are those that the
/// filter gives on the CPU. Only one thread at a time may use it.
class ResidentFilter {
 public:
  /// The options' device is a CUDA device by its number, "cuda:N", which is the queue's; the queue
  /// must outlive the filter.
  ResidentFilter(const ConvolverOptions& options, FilterPtr filter, DeviceQueue& queue,
                 Machine machine = this_machine());

  /// The shape of the result. Throws UsageError where there is none.
  Shape result_of(const Shape& in);

  /// Queues the work behind what the stream has. Pictures have 1 or 3 channels. `out` has the shape
  /// of result_of(in). Says which strategy does it. Throws as Filter::begin() does.
  const Strategy& run(PictureView<const std::byte> in, Depth depth, PictureView<std::byte> out);

  /// Gives back the plans, and with them their memory, once the stream has done what it was given.
  void release();

 private:
  struct Prepared {
    Shape shape, result;
    ResidentPlan made;
  };

  Prepared& prepared_for(const Shape& shape);

  Convolver convolver_;
  FilterPtr filter_;
  DeviceQueue& queue_;
  std::vector<Prepared> prepared_;  ///< the latest used last
};

}  // namespace convfilt
