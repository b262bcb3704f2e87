/// A filter prepared for pictures of one shape that other programs hold in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/filter/filter.hpp"
#include "src/filter/mapped.hpp"

namespace convfilt {

/// Samples in memory, with any strides: that of row y, column x and channel c lies
/// y * row + x * pixel + c * channel bytes behind `data`.
template <class Byte>
struct ArrayView {
  Byte* data = nullptr;
  std::ptrdiff_t row = 0, pixel = 0, channel = 0;
};

/// The order of colours in memory.
enum class ChannelOrder { rgb, bgr };

/// Only one thread at a time may use it.
class ArrayFilter {
 public:
  /// For arrays in host memory, or with `gpu` for those that lie on that CUDA device. Throws
  /// UsageError where the filter does not take the shape, and DeviceError.
  ArrayFilter(FilterPtr filter, const Mapping& mapping, const Shape& in, ConvolverOptions options,
              ChannelOrder order, std::optional<int> gpu);

  const Shape& picture() const { return in_; }
  const Shape& result() const { return out_; }

  /// "separable on cpu".
  const std::string& text() const { return text_; }

  /// Filters an array in host memory; `in` and `out` must not overlap. Throws DeviceError.
  void run(ArrayView<const std::byte> in, ArrayView<std::byte> out);

  /// Filters an array on the GPU, as Plan::run_resident() does. Throws UsageError where pixels or
  /// channels do not lie side by side.
  void run_on_gpu(ArrayView<const std::byte> in, ArrayView<std::byte> out, void* stream);

 private:
  void run_whole(ArrayView<const std::byte> in, ArrayView<std::byte> out);
  void run_bands(const Work& work, ArrayView<const std::byte> in, ArrayView<std::byte> out,
                 bool swaps);

  FilterPtr filter_;
  Convolver convolver_;
  Shape in_, out_;
  bool swaps_ = false;          ///< whether the filter needs blue first, and arrays have red first
  std::unique_ptr<Work> work_;  ///< in host memory
  std::vector<std::unique_ptr<Worker>> workers_;  ///< of bands, one for each thread
  ResidentPlan resident_{};                       ///< on a GPU
  std::string text_;
};

}  // namespace convfilt
