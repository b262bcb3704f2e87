#include "src/run/device_lanes.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "kernels/backend/device_errors.hpp"

namespace convfilt {
namespace {

/// How often a thread that waits looks whether it is to stop.
constexpr std::chrono::milliseconds kGlance{100};

/// One has the device, and the others write.
constexpr int kThreadsOfLane = 6;

/// A batch that fits lets the next have this part of its pixels more.
constexpr int kGrowth = 16;

std::int64_t pixels_of(const PassagePtr& picture) {
  const Header& header = picture->reader->header();
  return std::int64_t{header.width} * header.height;
}

/// Needs an exception in flight.
std::string message_of_exception() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an error without a message";
  }
}

}  // namespace

DeviceLanes::DeviceLanes(Crew& crew, const Options& options, AfterDevices& after)
    : options_(options), crew_(crew), after_(after), alive_(crew.device_lanes()) {
  for (std::size_t i = 0; i < alive_; ++i) {
    lanes_.push_back(std::make_unique<Lane>());
    lanes_.back()->number = i;
    lanes_.back()->most_pixels = options.most_pixels;
  }
  try {
    for (const std::unique_ptr<Lane>& lane : lanes_)
      for (int i = 0; i < kThreadsOfLane; ++i)
        threads_.emplace_back([this, &lane = *lane] { work(lane); });
  } catch (const std::exception& error) {
    // Lanes that have a thread do the work of the others.
    const std::lock_guard lock(mutex_);
    alive_ = (threads_.size() + kThreadsOfLane - 1) / kThreadsOfLane;
    if (alive_ == 0) failures_.push_back(std::string("no thread can be started: ") + error.what());
  }
}

DeviceLanes::~DeviceLanes() {
  end_threads();
}

void DeviceLanes::end_threads() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    drop_waiting();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool DeviceLanes::is_alive() {
  const std::lock_guard lock(mutex_);
  return alive_ > 0;
}

bool DeviceLanes::is_full() {
  const std::lock_guard lock(mutex_);
  return alive_ > 0 && !has_room();
}

void DeviceLanes::drop() {
  const std::lock_guard lock(mutex_);
  drop_waiting();
  changed_.notify_all();
}

/// Needs the lock.
void DeviceLanes::drop_waiting() {
  for (const PassagePtr& picture : waiting_) bytes_ -= picture->memory;
  waiting_.clear();
}

/// Needs the lock. One picture alone has room, whatever it takes.
bool DeviceLanes::has_room(std::int64_t bytes) const {
  return waiting_.size() < options_.most_waiting * lanes_.size() &&
         (bytes_ == 0 || bytes_ + bytes <= options_.most_bytes);
}

void DeviceLanes::take(PassagePtr& picture) {
  {
    std::unique_lock lock(mutex_);
    while (alive_ > 0 && !has_room(picture->memory) && !is_stopped())
      changed_.wait_for(lock, kGlance);
    if (is_stopped()) return picture.reset();
    if (alive_ > 0) {
      const std::int64_t bytes = picture->memory;
      waiting_.push_back(std::move(picture));
      bytes_ += bytes;
      changed_.notify_all();
      return;
    }
  }
  after_.take_back(std::move(picture));
}

void DeviceLanes::wait() {
  std::unique_lock lock(mutex_);
  while (!waiting_.empty() || under_way_ > 0) {
    if (is_stopped()) drop_waiting();
    changed_.wait_for(lock, kGlance);
  }
  if (broken_) std::rethrow_exception(broken_);
}

std::vector<std::string> DeviceLanes::failures() {
  const std::lock_guard lock(mutex_);
  return failures_;
}

std::vector<PassagePtr> DeviceLanes::next_pictures(std::int64_t most_pixels) {
  std::unique_lock lock(mutex_);
  std::vector<PassagePtr> pictures;
  while (pictures.empty() && !ends_) {
    if (is_stopped()) drop_waiting();
    // Lanes share what waits, so that none stands still while another has all of it.
    const std::size_t share = (waiting_.size() + alive_ - 1) / std::max(alive_, std::size_t{1});
    std::int64_t pixels = 0;
    // Pictures that are taken from the queue must not be lost.
    const std::size_t most = std::min(options_.most_pictures, share);
    pictures.reserve(most);
    while (!waiting_.empty() && pictures.size() < most) {
      pixels += pixels_of(waiting_.front());
      if (!pictures.empty() && pixels > most_pixels) break;
      pictures.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    if (pictures.empty()) changed_.wait_for(lock, kGlance);
  }
  under_way_ += pictures.size();
  changed_.notify_all();
  return pictures;
}

void DeviceLanes::work(Lane& lane) {
  LaneBatch batch;
  while (do_batch(lane, batch)) settle(std::exchange(batch, {}), lane.device->name());
  settle(std::move(batch), "");
}

/// Has a batch done by the lane's device; false where the lane has come to its end.
bool DeviceLanes::do_batch(Lane& lane, LaneBatch& batch) {
  const std::lock_guard lock(lane.mutex);
  if (lane.has_failed) return false;
  try {
    batch.pictures = next_pictures(lane.most_pixels);
    if (batch.pictures.empty()) return false;
    // No device is made before there is something to do for it.
    if (!lane.device) lane.device = crew_.make_device(lane.number);
    batch.results.resize(batch.pictures.size());
    const std::int64_t most_before = lane.most_pixels;
    run(lane, batch.pictures, batch.results);
    // Memory that was short may be there again, and a batch that is too large costs little.
    if (lane.most_pixels == most_before)
      lane.most_pixels = std::min(options_.most_pixels, most_before + most_before / kGrowth + 1);
    return true;
  } catch (...) {
    // Beside a DeviceError this is what making the device throws.
    const std::string why = message_of_exception();
    // Nothing counts that a device made before it failed.
    batch.results = std::vector<DeviceResult>(batch.pictures.size());
    lane.has_failed = true;
    end_lane((lane.device ? lane.device->name() + ": " : "") + why);
    return false;
  }
}

/// Throws DeviceError where the device has failed.
void DeviceLanes::run(Lane& lane, std::span<PassagePtr> pictures, std::span<DeviceResult> results) {
  try {
    std::ranges::move(lane.device->run(pictures), results.begin());
  } catch (const DeviceMemoryError&) {
    if (pictures.size() == 1) return;
    // These are more pixels than fit, so half of them are at least half of what fits.
    std::int64_t pixels = 0;
    for (const PassagePtr& picture : pictures) pixels += pixels_of(picture);
    lane.most_pixels = std::min(lane.most_pixels, pixels / 2);
    return run_halves(lane, pictures, results);
  } catch (const DeviceError&) {
    throw;
  } catch (...) {
    if (pictures.size() > 1) return run_halves(lane, pictures, results);
    results.front().failure = std::current_exception();
    return;
  }
  if (pictures.size() == 1) return;
  // Pictures that fail may do so for another's sake, or for want of memory, so that each is tried
  // alone in the end, and those that are good go in few batches.
  std::size_t done = 0;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (results[i].file.empty()) continue;
    std::swap(pictures[i], pictures[done]);
    std::swap(results[i], results[done]);
    ++done;
  }
  if (done == 0) return run_halves(lane, pictures, results);
  if (done < pictures.size()) run(lane, pictures.subspan(done), results.subspan(done));
}

void DeviceLanes::run_halves(Lane& lane, std::span<PassagePtr> pictures,
                             std::span<DeviceResult> results) {
  const std::size_t half = pictures.size() / 2;
  run(lane, pictures.first(half), results.first(half));
  run(lane, pictures.subspan(half), results.subspan(half));
}

void DeviceLanes::settle(LaneBatch batch, const std::string& device) {
  for (std::size_t i = 0; i < batch.pictures.size(); ++i) {
    std::exception_ptr broken;
    const std::int64_t bytes = batch.pictures[i]->memory;
    try {
      DeviceResult& result = batch.results[i];
      if (result.file.empty() && !result.failure)
        after_.take_back(std::move(batch.pictures[i]));
      else
        after_.finish(std::move(batch.pictures[i]), std::move(result), device);
    } catch (...) {
      broken = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    if (broken && !broken_) broken_ = broken;
    --under_way_;
    bytes_ -= bytes;
    changed_.notify_all();
  }
}

void DeviceLanes::end_lane(const std::string& why) {
  LaneBatch left;
  {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(failures_, why) == failures_.end()) failures_.push_back(why);
    if (--alive_ == 0) {
      std::ranges::move(waiting_, std::back_inserter(left.pictures));
      waiting_.clear();
    }
    under_way_ += left.pictures.size();
  }
  left.results.resize(left.pictures.size());
  settle(std::move(left), "");
}

}  // namespace convfilt
