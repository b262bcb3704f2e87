/// Pictures in batches on devices that decode, filter and encode them, beside those that the CPU
/// takes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "src/run/picture_file.hpp"

namespace convfilt {

/// A picture on its way through a device.
struct DeviceJob {
  std::size_t job = 0;  ///< of the list
  std::unique_ptr<PictureReader> reader;
  FileJob file;
  double read_ms = 0;
  std::int64_t memory = 0;  ///< bytes of host memory that it was given
};

/// What a device made of it.
struct DeviceResult {
  std::vector<unsigned char> file;  ///< as it leaves the encoder; empty where the device has none
  Shape shape;                      ///< of the picture in it
  double decode_ms = 0, filter_ms = 0, encode_ms = 0;
  std::string strategy;
  std::exception_ptr failure;  ///< what was thrown for this picture alone; mostly null
};

/// A device with codecs of its own. One thread at a time uses it; several may make one each.
class BatchDevice {
 public:
  virtual ~BatchDevice() = default;

  /// What is said of it, such as "cuda:0".
  virtual std::string name() const = 0;

  /// A result for each picture. Throws DeviceMemoryError where fewer at a time may do, and
  /// DeviceError where the device has failed: nothing that it made meanwhile counts. Anything else
  /// that it throws is the failure of the picture for which it is thrown when that is alone.
  virtual std::vector<DeviceResult> run(std::span<const DeviceJob> jobs) = 0;
};

using MakeBatchDevice = std::function<std::unique_ptr<BatchDevice>()>;

/// Lanes that each have a device of their own and take batches from one queue. While a lane's
/// device works on one batch, the results of others are written.
class DeviceLanes {
 public:
  struct Options {
    std::size_t most_pictures = 64;                    ///< of a batch
    std::int64_t most_pixels = std::int64_t{1} << 29;  ///< of a batch, unless it is one picture
    std::size_t most_waiting = 128;                    ///< pictures in the queue, for each lane
    std::int64_t most_bytes = std::int64_t{1} << 33;   ///< of pictures that wait or are under way,
                                                       ///< unless it is one picture
    const std::atomic<bool>* stop = nullptr;  ///< what waits is dropped when it becomes true
  };

  /// Lanes call them, several at once. A picture comes to one of them, unless it is dropped.
  struct Events {
    /// The result has a file, or a failure.
    std::function<void(DeviceJob, DeviceResult, const std::string& device)> done;
    std::function<void(DeviceJob)> give_back;  ///< no device has a result for it
  };

  DeviceLanes(const std::vector<MakeBatchDevice>& lanes, const Options& options, Events events);

  /// Drops what waits, and waits for what is under way.
  ~DeviceLanes();
  DeviceLanes(const DeviceLanes&) = delete;
  DeviceLanes& operator=(const DeviceLanes&) = delete;

  /// Takes the picture, as soon as there is room. It is given back at once where no lane is left.
  void take(DeviceJob job);

  /// Whether any lane is left.
  bool is_alive();

  /// Whether take() would wait for room.
  bool is_full();

  /// Drops what waits: it comes to no end.
  void drop();

  /// Waits until all pictures have come to an end. Throws what an event has thrown.
  void wait();

  /// Why lanes ended, a sentence each, each once.
  std::vector<std::string> failures();

 private:
  /// A device, and whose turn it is.
  struct Lane {
    MakeBatchDevice make;
    std::mutex mutex;  // guards what follows
    std::unique_ptr<BatchDevice> device;
    bool has_failed = false;
    std::int64_t most_pixels = 0;  ///< of a batch; fewer for a while when memory was short
  };

  /// A batch that has come to its end.
  struct Batch {
    std::vector<DeviceJob> jobs;
    std::vector<DeviceResult> results;
  };

  void work(Lane& lane);
  bool do_batch(Lane& lane, Batch& batch);
  std::vector<DeviceJob> next_jobs(std::int64_t most_pixels);
  static void run(Lane& lane, std::span<DeviceJob> jobs, std::span<DeviceResult> results);
  static void run_halves(Lane& lane, std::span<DeviceJob> jobs, std::span<DeviceResult> results);
  void settle(Batch batch, const std::string& device);
  void end_lane(const std::string& why);
  void end_threads();
  bool is_stopped() const { return options_.stop && options_.stop->load(); }
  void drop_waiting();
  bool has_room(std::int64_t bytes = 1) const;

  const Options options_;
  const Events events_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<DeviceJob> waiting_;
  std::size_t under_way_ = 0;  ///< pictures in the hands of lanes
  std::int64_t bytes_ = 0;     ///< of host memory, of these and of those that wait
  std::size_t alive_ = 0;      ///< lanes
  bool ends_ = false;
  std::vector<std::string> failures_;
  std::exception_ptr broken_;  ///< what an event has thrown first

  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::thread> threads_;
};

}  // namespace convfilt
