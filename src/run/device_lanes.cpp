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

std::int64_t pixels_of(const DeviceJob& job) {
  const Header& header = job.reader->header();
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

DeviceLanes::DeviceLanes(const std::vector<MakeBatchDevice>& lanes, const Options& options,
                         Events events)
    : options_(options), events_(std::move(events)), alive_(lanes.size()) {
  for (const MakeBatchDevice& make : lanes) {
    lanes_.push_back(std::make_unique<Lane>());
    lanes_.back()->make = make;
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
  for (const DeviceJob& job : waiting_) bytes_ -= job.memory;
  waiting_.clear();
}

/// Needs the lock. One picture alone has room, whatever it takes.
bool DeviceLanes::has_room(std::int64_t bytes) const {
  return waiting_.size() < options_.most_waiting * lanes_.size() &&
         (bytes_ == 0 || bytes_ + bytes <= options_.most_bytes);
}

void DeviceLanes::take(DeviceJob job) {
  {
    std::unique_lock lock(mutex_);
    while (alive_ > 0 && !has_room(job.memory) && !is_stopped()) changed_.wait_for(lock, kGlance);
    if (is_stopped()) return;
    if (alive_ > 0) {
      const std::int64_t bytes = job.memory;
      waiting_.push_back(std::move(job));
      bytes_ += bytes;
      changed_.notify_all();
      return;
    }
  }
  events_.give_back(std::move(job));
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

std::vector<DeviceJob> DeviceLanes::next_jobs(std::int64_t most_pixels) {
  std::unique_lock lock(mutex_);
  std::vector<DeviceJob> jobs;
  while (jobs.empty() && !ends_) {
    if (is_stopped()) drop_waiting();
    // Lanes share what waits, so that none stands still while another has all of it.
    const std::size_t share = (waiting_.size() + alive_ - 1) / std::max(alive_, std::size_t{1});
    std::int64_t pixels = 0;
    // What is taken from the queue must not be lost.
    const std::size_t most = std::min(options_.most_pictures, share);
    jobs.reserve(most);
    while (!waiting_.empty() && jobs.size() < most) {
      pixels += pixels_of(waiting_.front());
      if (!jobs.empty() && pixels > most_pixels) break;
      jobs.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    if (jobs.empty()) changed_.wait_for(lock, kGlance);
  }
  under_way_ += jobs.size();
  changed_.notify_all();
  return jobs;
}

void DeviceLanes::work(Lane& lane) {
  Batch batch;
  while (do_batch(lane, batch)) settle(std::exchange(batch, {}), lane.device->name());
  settle(std::move(batch), "");
}

/// Has a batch done by the lane's device; false where the lane has come to its end.
bool DeviceLanes::do_batch(Lane& lane, Batch& batch) {
  const std::lock_guard lock(lane.mutex);
  if (lane.has_failed) return false;
  try {
    batch.jobs = next_jobs(lane.most_pixels);
    if (batch.jobs.empty()) return false;
    // No device is made before there is something to do for it.
    if (!lane.device) lane.device = lane.make();
    batch.results.resize(batch.jobs.size());
    const std::int64_t most_before = lane.most_pixels;
    run(lane, batch.jobs, batch.results);
    // Memory that was short may be there again, and a batch that is too large costs little.
    if (lane.most_pixels == most_before)
      lane.most_pixels = std::min(options_.most_pixels, most_before + most_before / kGrowth + 1);
    return true;
  } catch (...) {
    // Beside a DeviceError this is what making the device throws.
    const std::string why = message_of_exception();
    // Nothing counts that a device made before it failed.
    batch.results = std::vector<DeviceResult>(batch.jobs.size());
    lane.has_failed = true;
    end_lane((lane.device ? lane.device->name() + ": " : "") + why);
    return false;
  }
}

/// Throws DeviceError where the device has failed.
void DeviceLanes::run(Lane& lane, std::span<DeviceJob> jobs, std::span<DeviceResult> results) {
  try {
    std::ranges::move(lane.device->run(jobs), results.begin());
  } catch (const DeviceMemoryError&) {
    if (jobs.size() == 1) return;
    // These are more pixels than fit, so half of them are at least half of what fits.
    std::int64_t pixels = 0;
    for (const DeviceJob& job : jobs) pixels += pixels_of(job);
    lane.most_pixels = std::min(lane.most_pixels, pixels / 2);
    return run_halves(lane, jobs, results);
  } catch (const DeviceError&) {
    throw;
  } catch (...) {
    if (jobs.size() > 1) return run_halves(lane, jobs, results);
    results.front().failure = std::current_exception();
    return;
  }
  if (jobs.size() == 1) return;
  // Pictures that fail may do so for another's sake, or for want of memory, so that each is tried
  // alone in the end, and those that are good go in few batches.
  std::size_t done = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (results[i].file.empty()) continue;
    std::swap(jobs[i], jobs[done]);
    std::swap(results[i], results[done]);
    ++done;
  }
  if (done == 0) return run_halves(lane, jobs, results);
  if (done < jobs.size()) run(lane, jobs.subspan(done), results.subspan(done));
}

void DeviceLanes::run_halves(Lane& lane, std::span<DeviceJob> jobs,
                             std::span<DeviceResult> results) {
  const std::size_t half = jobs.size() / 2;
  run(lane, jobs.first(half), results.first(half));
  run(lane, jobs.subspan(half), results.subspan(half));
}

void DeviceLanes::settle(Batch batch, const std::string& device) {
  for (std::size_t i = 0; i < batch.jobs.size(); ++i) {
    std::exception_ptr broken;
    const std::int64_t bytes = batch.jobs[i].memory;
    try {
      DeviceResult& result = batch.results[i];
      if (result.file.empty() && !result.failure)
        events_.give_back(std::move(batch.jobs[i]));
      else
        events_.done(std::move(batch.jobs[i]), std::move(result), device);
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
  Batch left;
  {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(failures_, why) == failures_.end()) failures_.push_back(why);
    if (--alive_ == 0) {
      std::ranges::move(waiting_, std::back_inserter(left.jobs));
      waiting_.clear();
    }
    under_way_ += left.jobs.size();
  }
  left.results.resize(left.jobs.size());
  settle(std::move(left), "");
}

}  // namespace convfilt
