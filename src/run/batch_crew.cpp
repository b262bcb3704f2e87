#include "src/run/crew.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "src/base/errors.hpp"
#include "src/base/log.hpp"
#include "src/picture/codecs/jpeg/device.hpp"
#include "src/run/codec_choice.hpp"
#include "src/run/device_pictures.hpp"

namespace convfilt {
namespace {

/// While one lane of a GPU decodes, another walks over codes, filters and encodes.
constexpr std::size_t kLanesOfDevice = 2;

class BatchCrew : public Crew {
 public:
  BatchCrew(const Batch& batch, std::size_t of_all_shards)
      : batch_(batch), machine_(this_machine()), options_(batch.convolver) {
    if (batch.codec == CodecKind::gpu) take_gpus();
    // A device that is not there is refused at once; one that fails later leaves its work to the
    // CPU.
    if (!batch.selection.is_one) wanted_device(options_.request.device, machine_);
    // Shards and the rest of a run choose devices as the whole would.
    constexpr std::size_t kMost = 1 << 30;
    options_.request.pictures = int(std::min(of_all_shards, kMost));
    if (batch.devices.empty()) return;
    if (has_cuda(machine_))
      options_.request.ordinals = device_ordinals(batch.devices, machine_);
    else
      log_warning("--devices: there is no CUDA device here; the CPU does all");
  }

  std::unique_ptr<Lane> make_lane(const LaneRequest& asked) override {
    ConvolverOptions own = options_;
    own.request.threads = asked.threads;
    own.request.lane = lanes_++;
    bool on_cpu = asked.on_cpu;
    if (!asked.failed.empty()) {
      own.request.ordinals = shared_gpus(options_.request, machine_);
      std::erase_if(own.request.ordinals,
                    [&](int ordinal) { return asked.failed.contains(ordinal); });
      on_cpu = on_cpu || own.request.ordinals.empty();
    }
    if (on_cpu) own.request.device = name_of(DeviceKind::cpu);
    return std::make_unique<PictureLane>(batch_, std::move(own));
  }

  std::size_t device_lanes() const override { return gpus_.size() * kLanesOfDevice; }

  std::unique_ptr<BatchDevice> make_device(std::size_t lane) override {
    // Threads of codecs wait for the device most of the time, and take turns with those that read
    // and check the next files.
    constexpr int kThreadsPerDevice = 8;
    const int asked = batch_.convolver.request.threads;
    const int cores = (asked > 0 ? asked : machine_.cores) / int(gpus_.size());
    const std::size_t gpu = lane / kLanesOfDevice;
    std::shared_ptr<SharedCodec> codec;
    {
      const std::lock_guard lock(making_codec_[gpu]);
      std::shared_ptr<SharedCodec>& shared = codecs_[gpu];
      if (!shared)
        shared = std::make_shared<SharedCodec>(gpus_[gpu], std::clamp(cores, 1, kThreadsPerDevice));
      codec = shared;
    }
    return device_pictures(gpus_[gpu], batch_, std::move(codec));
  }

  std::string decoders() override { return gpus_.empty() ? "" : DeviceJpeg::decoders(); }
  void keep_to(const std::string& decoders) override {
    if (!gpus_.empty()) DeviceJpeg::keep_to(decoders);
  }

 private:
  void take_gpus() {
    if (const std::string why = gpu_codec_refuses(batch_); !why.empty())
      throw UsageError("--codec=gpu: " + why + "; use --codec=cpu");
    if (const std::string missing = gpu_codec_missing(machine_); !missing.empty())
      throw DeviceError("--codec=gpu: " + missing);
    std::string devices = batch_.devices;
    if (devices.empty()) {
      // --device=cuda:1 names one, and cuda alone any.
      const std::string& device = options_.request.device;
      const std::size_t colon = device.find(':');
      devices = colon == device.npos ? "all" : device.substr(colon + 1);
    }
    gpus_ = device_ordinals(devices, machine_);
    DeviceJpeg::keep_to(decoders_for(gpus_, machine_));
    codecs_.resize(gpus_.size());
    making_codec_ = std::vector<std::mutex>(gpus_.size());
  }

  const Batch& batch_;
  const Machine machine_;
  ConvolverOptions options_;
  std::vector<int> gpus_;                             ///< CUDA devices that decode and encode, too
  std::vector<std::shared_ptr<SharedCodec>> codecs_;  ///< of each; null until a lane is made
  std::vector<std::mutex> making_codec_;
  std::atomic<int> lanes_{0};
};

}  // namespace

std::unique_ptr<Crew> crew_for(const Batch& batch, std::size_t of_all_shards) {
  return std::make_unique<BatchCrew>(batch, of_all_shards);
}

}  // namespace convfilt
