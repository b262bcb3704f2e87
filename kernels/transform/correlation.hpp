/// A plan that correlates blocks of samples with the mask through Fourier transforms. The
/// strategies fft and overlap-save say which blocks.
#pragma once

#include <map>
#include <vector>

#include "kernels/backend/libraries.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/transform/tiling.hpp"

namespace convfilt::CONVFILT_BACKEND::transform {

using namespace convfilt::transform;

/// Blocks of columns x rows samples, which follow each other without gaps. The number of columns is
/// even.
struct Blocks {
  int columns = 0, rows = 0, batch = 0;

  std::size_t samples() const { return std::size_t(columns) * rows * batch; }
  int half() const { return columns / 2 + 1; }  ///< columns of a half spectrum
  std::size_t frequencies() const { return std::size_t(half()) * rows * batch; }
  Blocks one() const { return {columns, rows, 1}; }
  std::size_t bytes() const { return samples() * sizeof(float) + frequencies() * sizeof(Complex); }
  auto operator<=>(const Blocks&) const = default;
};

/// Multiplies every block's spectrum by the conjugate of the mask's, which gives the spectrum of
/// their correlation.
void multiply_conjugate(Complex* spectra, const Complex* mask, const Blocks&, const Stream&);

/// The mask's weights divided by its divisor, row-major.
std::vector<float> float_weights(const Mask& mask);

class CorrelationPlan : public DevicePlan {
 public:
  CorrelationPlan(const Problem& problem, const PlanOptions& options);

 protected:
  /// The tiles of a plane of so many outputs. A block must be at least as large as the mask.
  virtual Tiling tiling_for(int out_width, int out_height) const = 0;

  /// How many blocks of all planes are transformed at a time, if one takes that many bytes.
  virtual int batch_for(const Tiling& tiling, std::size_t block_bytes) const = 0;

  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    filter_planes(in, out, 1, shift);
  }
  void filter_planes(const DevicePlane& in, const DevicePlane& out, int planes,
                     Shift shift) override;

  /// Those of blocks, spectra, the mask's spectrum and the library's work area.
  std::size_t scratch_bytes(int, int out_width, int out_height) const override;

  /// Allocates blocks, and transforms the mask if the last blocks had another size.
  void allocate_scratch(int, int out_width, int out_height) override;

 private:
  Blocks blocks_for(int out_width, int out_height) const;

  /// Correlates every block with the mask cyclically. Sample (x, y) becomes the sum of weight(i,
  /// j) * sample(x + i, y + j).
  void correlate();

  /// The first block's samples. Those of the other blocks follow.
  PlaneView<float> samples() const {
    return view_of<float>(samples_, blocks_.columns, blocks_.rows);
  }
  Fft& fft(const Blocks& blocks);
  void transform_mask();

  Blocks blocks_, mask_blocks_;
  DeviceBuffer samples_, spectra_, mask_spectrum_, workspace_;
  std::map<Blocks, Fft> ffts_;  ///< one for each size, since windows at the edge are smaller
};

}  // namespace convfilt::CONVFILT_BACKEND::transform
