/// Pictures in batches on devices that decode, filter and encode them, beside those that the CPU
/// takes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "src/run/crew.hpp"

namespace convfilt {

/// Where pictures go when lanes are done with them; several lanes call at once. A picture comes to
/// one of these, unless it is dropped.
class AfterDevices {
 public:
  /// The result has a file, or a failure.
  virtual void finish(PassagePtr picture, DeviceResult result, const std::string& device) = 0;

  /// No device has a result for it.
  virtual void take_back(PassagePtr picture) = 0;

 protected:
  ~AfterDevices() = default;
};

/// Lanes that have a device each and take batches from one queue. While a lane's
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

  DeviceLanes(Crew& crew, const Options& options, AfterDevices& after);

  /// Drops what waits, and waits for what is under way.
  ~DeviceLanes();
  DeviceLanes(const DeviceLanes&) = delete;
  DeviceLanes& operator=(const DeviceLanes&) = delete;

  /// Takes the picture, as soon as there is room. It is given back at once where no lane is left,
  /// and dropped after a stop.
  void take(PassagePtr& picture);

  /// Whether any lane is left.
  bool is_alive();

  /// Whether take() would wait for room.
  bool is_full();

  /// Drops what waits: it comes to no end.
  void drop();

  /// Waits until all pictures have come to an end. Throws what AfterDevices throws.
  void wait();

  /// Why lanes ended, a sentence each, each once.
  std::vector<std::string> failures();

 private:
  /// A device, and whose turn it is.
  struct Lane {
    std::size_t number = 0;
    std::mutex mutex;  // guards what follows
    std::unique_ptr<BatchDevice> device;
    bool has_failed = false;
    std::int64_t most_pixels = 0;  ///< of a batch; fewer for a while when memory was short
  };

  /// A batch that has come to its end.
  struct LaneBatch {
    std::vector<PassagePtr> pictures;
    std::vector<DeviceResult> results;
  };

  void work(Lane& lane);
  bool do_batch(Lane& lane, LaneBatch& batch);
  std::vector<PassagePtr> next_pictures(std::int64_t most_pixels);
  static void run(Lane& lane, std::span<PassagePtr> pictures, std::span<DeviceResult> results);
  static void run_halves(Lane& lane, std::span<PassagePtr> pictures,
                         std::span<DeviceResult> results);
  void settle(LaneBatch batch, const std::string& device);
  void end_lane(const std::string& why);
  void end_threads();
  bool is_stopped() const { return options_.stop && options_.stop->load(); }
  void drop_waiting();
  bool has_room(std::int64_t bytes = 1) const;

  const Options options_;
  Crew& crew_;
  AfterDevices& after_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<PassagePtr> waiting_;
  std::size_t under_way_ = 0;  ///< pictures in the hands of lanes
  std::int64_t bytes_ = 0;     ///< of host memory, of these and of those that wait
  std::size_t alive_ = 0;      ///< lanes
  bool ends_ = false;
  std::vector<std::string> failures_;
  std::exception_ptr broken_;  ///< what AfterDevices throws first

  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::thread> threads_;
};

}  // namespace convfilt
