// Chains of 8-bit pictures on a device: filters one behind the other, with floats between
// (registry.hpp).

#include "kernels/plan/chain.hpp"
#include "kernels/plan/joint_plan.hpp"

namespace convfilt::CONVFILT_BACKEND {
namespace {

__global__ void to_floats_kernel(PlaneView<const std::uint8_t> bytes, PlaneView<float> floats) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = blockIdx.y * kBlockRows + threadIdx.y;
  if (x < bytes.width && y < bytes.height) floats.row(y)[x] = float(bytes.row(y)[x]);
}

__global__ void to_bytes_kernel(PlaneView<const float> floats, PlaneView<std::uint8_t> bytes) {
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = blockIdx.y * kBlockRows + threadIdx.y;
  if (x < bytes.width && y < bytes.height) bytes.row(y)[x] = to_byte(floats.row(y)[x]);
}

class ChainPlan final : public JointPlan {
 public:
  ChainPlan(std::vector<std::unique_ptr<Plan>> steps, std::vector<StepResult> results,
            const PlanOptions& options)
      : JointPlan(std::move(steps), 1, options), results_(std::move(results)) {}

 private:
  void filter(PictureView<const std::byte> in, PictureView<std::byte> out) override {
    pictures_[0].shape(in.width, in.height, in.channels, sizeof(float));
    to_floats(samples_of<const std::uint8_t>(in), samples_of<float>(pictures_[0].view), stream_);
    for (std::size_t step = 0; step < plans_.size(); ++step) {
      OwnPicture& result = pictures_[(step + 1) % 2];
      const auto& [width, height, channels] = results_[step];
      result.shape(width, height, channels, sizeof(float));
      queue(*plans_[step], pictures_[step % 2].view, result.view);
    }
    const auto floats = samples_of<const float>(pictures_[plans_.size() % 2].view);
    const auto bytes = samples_of<std::uint8_t>(out);
    for_launches(bytes.width, bytes.height, [&](dim3 grid, int first, int rows) {
      launch(grid, dim3(kBlockColumns, kBlockRows), stream_, to_bytes_kernel,
             floats.rows(first, rows), bytes.rows(first, rows));
    });
  }

  const std::vector<StepResult> results_;
  OwnPicture pictures_[2];  ///< a step's picture and its result, by turns
};

}  // namespace

void to_floats(PlaneView<const std::uint8_t> bytes, PlaneView<float> floats, const Stream& stream) {
  for_launches(floats.width, floats.height, [&](dim3 grid, int first, int rows) {
    launch(grid, dim3(kBlockColumns, kBlockRows), stream, to_floats_kernel, bytes.rows(first, rows),
           floats.rows(first, rows));
  });
}

std::unique_ptr<Plan> make_chain_plan(std::vector<std::unique_ptr<Plan>> steps,
                                      std::vector<StepResult> results, const PlanOptions& options) {
  return std::make_unique<ChainPlan>(std::move(steps), std::move(results), options);
}

}  // namespace convfilt::CONVFILT_BACKEND
