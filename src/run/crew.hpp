/// Who does the work of a run: lanes of cores and of GPUs.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "src/run/passage.hpp"

namespace convfilt {

/// Filters one picture at a time, and keeps what was prepared for the shapes that it met.
class Lane {
 public:
  virtual ~Lane() = default;

  /// Filters a picture from file to file. The result is complete but has no name until
  /// Passage::commit is called; it appears whole or not at all. Throws IoError, UsageError,
  /// Stopped, and what the filter throws; Passage::commit throws likewise, but never Stopped.
  virtual FileReport filter(Passage& passage) = 0;

  /// The number of the CUDA device that pictures which take one take here; none where the CPU does
  /// all of them.
  virtual std::optional<int> gpu() const { return std::nullopt; }
};

/// Filters pictures with one convolver, which keeps its plans. A picture is decoded, filtered and
/// encoded at the same time, in bands of rows.
class PictureLane : public Lane {
 public:
  /// The options are those of the batch, with the lane's own threads and number.
  PictureLane(const Batch& batch, ConvolverOptions options);

  FileReport filter(Passage& passage) override;
  std::optional<int> gpu() const override;

  struct Busy;  ///< the times of a file's stages

 private:
  /// The reader's next picture, into the file of the writer, which the first picture begins.
  std::unique_ptr<Work> filter_picture(Passage& passage, PictureReader& reader,
                                       std::shared_ptr<PictureWriter>& writer, Busy& busy,
                                       FileReport& report);

  const Batch& batch_;
  Convolver convolver_;
};

struct LaneRequest {
  int threads = 0;         ///< it may take that many for a picture that must be filtered whole
  bool on_cpu = false;     ///< it computes on the CPU, whatever device was asked for
  std::set<int> failed{};  ///< CUDA devices that it must not take; the CPU where no other is left
};

/// A GPU's result for a picture.
struct DeviceResult {
  std::vector<unsigned char> file;  ///< as it leaves the encoder; empty where the GPU has none
  Shape shape;                      ///< of the picture in it
  StageTimes ms;
  std::string strategy;
  std::exception_ptr failure;  ///< what was thrown for this picture alone; mostly null
  std::string why_cpu;         ///< why it is none for a GPU; empty where it is, or nobody knows
};

/// A GPU with codecs. One thread at a time uses it; several may make one each.
class BatchDevice {
 public:
  virtual ~BatchDevice() = default;

  /// Its name in messages, such as "cuda:0".
  virtual std::string name() const = 0;

  /// A result for each picture. Throws DeviceMemoryError where fewer at a time may do, and
  /// DeviceError where the device has failed: nothing that it made meanwhile counts. Anything else
  /// that it throws is the failure of the picture for which it is thrown when that is alone.
  virtual std::vector<DeviceResult> run(std::span<const PassagePtr> pictures) = 0;
};

/// Makes lanes. Several threads may ask at once.
class Crew {
 public:
  virtual ~Crew() = default;

  virtual std::unique_ptr<Lane> make_lane(const LaneRequest& request) = 0;

  /// How many lanes there are of GPUs that decode and encode, too, and the device of one of them.
  virtual std::size_t device_lanes() const { return 0; }
  virtual std::unique_ptr<BatchDevice> make_device(std::size_t /*lane*/) { return nullptr; }

  /// The kind of the GPUs' decoders, empty until one is there. Each kind rounds differently, so a
  /// run keeps to one, as does the run that resumes it.
  virtual std::string decoders() { return ""; }
  virtual void keep_to(const std::string& /*decoders*/) {}
};

/// The lanes of this machine for a batch, whose codec is chosen. `of_all_shards` is the number of
/// pictures. Throws UsageError and DeviceError where the batch asks for GPUs and can have none. The
/// batch must outlive the crew.
std::unique_ptr<Crew> crew_for(const Batch& batch, std::size_t of_all_shards);

}  // namespace convfilt
