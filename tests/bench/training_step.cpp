// The three convolutions of a training step, with and without kept transforms.
//
//   A layer has C input channels I_c, K output channels O_k, and a mask W_kc for each pair.
//     forward    O_k += I_c * W_kc       valid: an output where the mask lies inside
//     to inputs  dI_c += dE/dO_k * W_kc  full, with the mask turned
//     to masks   dW_kc = I_c * dE/dO_k   valid, with dE/dO_k as the mask, which in-parts cuts
//
// Each of the 3 * K * C convolutions transforms its picture's blocks, unless those of one picture
// share a SharedTransforms: then each I_c and each dE/dO_k is transformed once, C + K in all. Masks
// are transformed before, by their plans, and are not timed.
//
//   convfilt_training_step [DEVICE [SIZE [SIDE]]], by default cpu 256 9
//
// It checks that all results have the same bytes, and prints milliseconds, each the least of 5
// steps: of all cores together, or of the wall's clock for a GPU.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/registry.hpp"

namespace {

using namespace convfilt;

struct Plane {
  int width, height;
  std::vector<float> samples;

  Plane(int w, int h) : width(w), height(h), samples(std::size_t(w) * std::size_t(h)) {}
  template <class Byte>
  PictureView<Byte> view() {
    return {reinterpret_cast<Byte*>(samples.data()), width, height, 1,
            std::ptrdiff_t(width) * std::ptrdiff_t(sizeof(float))};
  }
};

Plane noise(int width, int height, unsigned seed) {
  Plane plane(width, height);
  for (float& sample : plane.samples)
    sample = float((seed = seed * 1664525u + 1013904223u) >> 8) / float(1 << 24) - 0.5f;
  return plane;
}

Mask mask_of(const Plane& plane) {
  Mask mask{"weights", plane.width, plane.height, 0, 0, {}};
  mask.weights.assign(plane.samples.begin(), plane.samples.end());
  return mask;
}

constexpr int kBlock = 64;  // samples of a block, and weights of a part, along an axis

enum Of { kForward, kToInputs, kToMasks };

struct Convolution {
  Of of;
  Plane* picture;
  std::unique_ptr<Plan> plan;
  Plane result;
};

class Step {
 public:
  Step(DeviceKind device, int size, int side, int inputs, int outputs, bool sharing)
      : device_(device), sharing_(sharing) {
    const int kept = size - side + 1;
    for (int c = 0; c < inputs; ++c) add_picture(noise(size, size, unsigned(c + 1)));
    for (int k = 0; k < outputs; ++k) add_picture(noise(kept, kept, unsigned(k + 100)));
    for (int k = 0; k < outputs; ++k) {
      for (int c = 0; c < inputs; ++c) {
        const Mask weights = mask_of(noise(side, side, unsigned(200 + k * inputs + c)));
        add(kForward, c, weights, Mode::valid);
        add(kToInputs, inputs + k, flipped(weights), Mode::full);
        add(kToMasks, c, mask_of(*pictures_[std::size_t(inputs + k)]), Mode::valid);
      }
    }
  }

  /// Of this process's cores, on which other programs may run, or of the wall's clock for a GPU.
  double milliseconds() const {
    if (device_ != DeviceKind::cuda) return 1000.0 * double(std::clock()) / CLOCKS_PER_SEC;
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(now).count();
  }

  /// Milliseconds of the three kinds of convolutions.
  std::vector<double> run() {
    std::vector<double> taken(3);
    for (const auto& transforms : transforms_) transforms->next_picture();
    for (const Of of : {kForward, kToInputs, kToMasks}) {
      const double begin = milliseconds();
      for (Convolution& each : convolutions_)
        if (each.of == of)
          each.plan->run(each.picture->view<const std::byte>(), each.result.view<std::byte>());
      taken[of] = milliseconds() - begin;
    }
    return taken;
  }

  /// How many pictures were transformed in all runs.
  int made() const {
    int made = 0;
    for (const auto& transforms : transforms_) made += transforms->made;
    return made;
  }
  int convolutions() const { return int(convolutions_.size()); }

  bool same(const Step& other) const {
    for (std::size_t n = 0; n < convolutions_.size(); ++n) {
      const auto &a = convolutions_[n].result.samples, &b = other.convolutions_[n].result.samples;
      if (std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) != 0) return false;
    }
    return true;
  }

 private:
  void add_picture(Plane plane) {
    pictures_.push_back(std::make_unique<Plane>(std::move(plane)));
    transforms_.push_back(std::make_shared<SharedTransforms>());
  }

  void add(Of of, int picture, const Mask& mask, Mode mode) {
    Plane& in = *pictures_[std::size_t(picture)];
    const Problem p{in.width, in.height, 1, Depth::f32, Border::constant, 0, mask, mode};
    PlanOptions how;
    // All masks are cut into parts of one side, so that all frames have one size.
    how.tuning[Setting::part] = how.tuning[Setting::block] = kBlock;
    if (sharing_) how.transforms = transforms_[std::size_t(picture)];
    const Strategy& strategy = *find_strategy("in-parts");
    if (const std::string refusal = strategy.refusal(p, how.tuning); !refusal.empty()) {
      std::fprintf(stderr, "convfilt_training_step: %s\n", refusal.c_str());
      std::exit(2);
    }
    convolutions_.push_back(
        {of, &in, strategy.prepare(p, device_, how), Plane(p.out_width(), p.out_height())});
  }

  const DeviceKind device_;
  const bool sharing_;
  std::vector<std::unique_ptr<Plane>> pictures_;
  std::vector<std::shared_ptr<SharedTransforms>> transforms_;
  std::vector<Convolution> convolutions_;
};

bool measure(DeviceKind device, int size, int side, int inputs, int outputs) {
  Step alone(device, size, side, inputs, outputs, false);
  Step sharing(device, size, side, inputs, outputs, true);
  alone.run();
  sharing.run();
  const int made = sharing.made();
  std::vector<double> best[2];
  const auto sum = [](const std::vector<double>& t) { return t[0] + t[1] + t[2]; };
  for (int n = 0; n < 5; ++n) {
    for (int shared = 0; shared < 2; ++shared) {
      const std::vector<double> taken = (shared ? sharing : alone).run();
      if (best[shared].empty()) best[shared] = taken;
      for (int of = 0; of < 3; ++of) best[shared][of] = std::min(best[shared][of], taken[of]);
    }
  }
  for (int shared = 0; shared < 2; ++shared) {
    const std::vector<double>& t = best[shared];
    std::printf("%8d %8d  %-8s %10d %10.2f %10.2f %10.2f %10.2f\n", inputs, outputs,
                shared ? "shared" : "alone", shared ? made : alone.convolutions(), t[0], t[1], t[2],
                sum(t));
  }
  const bool same = alone.same(sharing);
  if (!same) std::fprintf(stderr, "convfilt_training_step: results differ\n");
  return same;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "cpu";
  const int size = argc > 2 ? std::atoi(argv[2]) : 256, side = argc > 3 ? std::atoi(argv[3]) : 9;
  const DeviceKind device = name == "cuda"       ? DeviceKind::cuda
                            : name == "emulator" ? DeviceKind::emulator
                                                 : DeviceKind::cpu;
  if (side < 2 || side > kBlock || size < 2 * side ||
      (name != "cuda" && name != "emulator" && name != "cpu")) {
    std::fprintf(
        stderr,
        "usage: convfilt_training_step [cpu|emulator|cuda [SIZE [SIDE]]], where SIZE is at "
        "least 2 * SIDE, and SIDE is 2 to %d\n",
        kBlock);
    return 2;
  }
  std::printf("in-parts, %s, pictures of %dx%d, masks of %dx%d, f32; milliseconds\n", name.c_str(),
              size, size, side, side);
  std::printf("%8s %8s  %-8s %10s %10s %10s %10s %10s\n", "inputs", "outputs", "spectra",
              "pictures", "forward", "to inputs", "to masks", "step");
  bool same = true;
  for (const auto& [inputs, outputs] : {std::pair{1, 1}, {1, 4}, {3, 4}})
    same = measure(device, size, side, inputs, outputs) && same;
  return same ? 0 : 1;
}
