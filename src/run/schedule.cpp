#include "src/run/schedule.hpp"

#include <malloc.h>
#include <oneapi/tbb/task_group.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "kernels/backend/device_errors.hpp"
#include "kernels/backend/host/parallel.hpp"
#include "src/base/clock.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/run/device_pictures.hpp"

namespace convfilt {
namespace {

/// How often a thread that waits looks whether it is to stop.
constexpr std::chrono::milliseconds kGlance{100};

/// I/O threads for each GPU lane: one has the device, and the others write.
constexpr std::size_t kThreadsOfLane = 6;

/// Batches of each GPU lane whose results may wait for the disk when the next one begins.
constexpr std::size_t kBatchesForDisk = 4;

/// A batch that fits lets the next have this part of its pixels more.
constexpr int kGrowth = 16;

/// A picture waits until others have given their memory back.
struct Postponed {};

/// Bytes. Some virtual machines have more than they say at first.
std::int64_t memory_of_machine() {
  return std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGE_SIZE);
}

/// The most bytes that a thread keeps of the buffers that pictures gave back.
constexpr std::int64_t kMostFree = 16 << 20;

/// Each picture takes buffers of the sizes that the one before it gave back. As it is set up,
/// malloc returns them to the kernel in between, which then clears every page anew: a tenth of all
/// time.
void keep_freed_buffers(int threads, bool has_limit) {
#ifdef __GLIBC__
  constexpr int kLargestBuffer = 4 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kLargestBuffer);
  ::mallopt(M_TRIM_THRESHOLD, int(kMostFree));
  // Threads of lanes and codecs would wait for each other's arenas, so only a limit makes them few.
  if (has_limit) ::mallopt(M_ARENA_MAX, threads);
#endif
}

std::string mebibytes(std::int64_t bytes) {
  constexpr std::int64_t kMebibyte = 1 << 20;
  return std::to_string((bytes + kMebibyte - 1) / kMebibyte) + " MiB";
}

/// The message for a picture that takes more memory than there may be.
std::string takes_too_much(const std::string& in, std::int64_t bytes, bool all, std::int64_t most) {
  return "cannot filter " + quoted_name(in) + ": it takes " + (all ? "" : "more than ") +
         mebibytes(bytes) + " of memory, and --max-memory allows " +
         (most < 1 << 20 ? std::to_string(most) + " bytes" : mebibytes(most));
}

/// Among many pictures a reason says which one it is about.
std::string with_name(const Job& job, const std::string& why) {
  const bool is_named =
      why.find(quoted_name(job.in)) != why.npos || why.find(quoted_name(job.out)) != why.npos;
  return is_named ? why : quoted_name(job.in) + ": " + why;
}

/// Raises the process's limit of open files to that many, or as far as it may be raised.
void allow_open_files(rlim_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
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

std::int64_t pixels_of(const PassagePtr& picture) {
  const Header& header = picture->reader->header();
  return std::int64_t{header.width} * header.height;
}

constexpr const char* kNoResult = "no GPU had a result for it";

/// A GPU with codecs: a place where batches are decoded, filtered and encoded.
struct GpuLane {
  std::unique_ptr<BatchDevice> device{};
  std::int64_t most_pixels = 0;  ///< of a batch; fewer for a while when memory was short
  bool is_free = true;           ///< neither at work, nor given up
};

void run_batch(GpuLane& lane, std::span<PassagePtr> pictures, std::span<DeviceResult> results);

void run_halves(GpuLane& lane, std::span<PassagePtr> pictures, std::span<DeviceResult> results) {
  const std::size_t half = pictures.size() / 2;
  run_batch(lane, pictures.first(half), results.first(half));
  run_batch(lane, pictures.subspan(half), results.subspan(half));
}

/// Throws DeviceError where the device has failed.
void run_batch(GpuLane& lane, std::span<PassagePtr> pictures, std::span<DeviceResult> results) {
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
    if (results[i].file.empty() && results[i].why_cpu.empty()) continue;
    std::swap(pictures[i], pictures[done]);
    std::swap(results[i], results[done]);
    ++done;
  }
  if (done == 0) return run_halves(lane, pictures, results);
  if (done < pictures.size()) run_batch(lane, pictures.subspan(done), results.subspan(done));
}

/// Takes pictures through the stages of a run, each of which has its places. Cores open, decode,
/// filter and encode pictures, as tasks of an arena. GPU lanes do the same for batches of those
/// that are theirs. The disk gives results their names. For lanes and the disk there are I/O
/// threads: a task that waits would hold the place of a core.
class Schedule : public Admission {
 public:
  Schedule(const JobSource& jobs, const Batch& batch, Crew& crew, JobEvents& events,
           const LaneLimits& limits)
      : jobs_(jobs),
        batch_(batch),
        crew_(crew),
        events_(events),
        limits_(limits),
        threads_(cpu::threads_or_all(batch.convolver.request.threads)),
        // Queued commits fragment the heap: 84 MiB were used under a limit of 64 MiB. So a limit
        // turns their queue off.
        queues_commits_(batch.max_memory == 0 && jobs.count > 1),
        gpu_lanes_(crew.device_lanes()),
        lanes_left_(gpu_lanes_.size()),
        is_begun_(jobs.count, false) {
    // A picture alone starts threads where its bands need them, which a small one need not.
    if (jobs.count > 1) arena_.emplace(threads_);
    for (GpuLane& lane : gpu_lanes_) lane.most_pixels = limits.most_pixels;
    limits_.most_bytes = std::min(limits_.most_bytes, memory_of_machine() / 4);
    // Handing a picture on must not allocate.
    io_threads_.reserve(most_io_threads());
    for_lanes_.reserve(most_for_lanes());
    for_disk_.reserve(most_io_threads() + most_results() + limits.most_pictures * lanes_left_);
    if (lanes_left_ > 0) returned_.reserve(jobs.count);
    for (auto& lanes : idle_lanes_) lanes.reserve(std::size_t(threads_));
    if (jobs.count > 1) keep_freed_buffers(threads_, batch.max_memory > 0);
    if (!gpu_lanes_.empty()) {
      // A worker reads one file and writes another, and so do the threads of lanes. What a device
      // and its codecs have open comes on top, so this is generous.
      constexpr rlim_t kOthers = 256, kFilesOfLane = 128, kFilesOfThread = 4;
      allow_open_files(kOthers + kFilesOfLane * gpu_lanes_.size() +
                       kFilesOfThread * rlim_t(threads_));
    }
    if (arena_) arena_->grow(int(std::min(jobs.count, std::size_t(threads_))));
  }
  ~Schedule() { end_io_threads(); }
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /// Has workers take pictures, until there are none for them.
  void run_workers() {
    arena_->execute([this] {
      {
        const std::lock_guard lock(mutex_);
        start_workers();
      }
      workers_.wait();
    });
  }

  /// The next picture; null where the worker is to end, which leaves its core to pictures that are
  /// cut into bands.
  PassagePtr take() {
    const std::lock_guard lock(mutex_);
    // Pictures begin in their order, so that many small ones cannot hold back a large one.
    if (has_more() && !is_trying_) {
      if (!postponed_.empty()) {
        is_trying_ = true;
        return std::move(postponed_.begin()->second);
      }
      if (returned_.empty()) return begin_next();
      PassagePtr picture = std::move(returned_.back());
      returned_.pop_back();
      return picture;
    }
    --active_;
    return nullptr;
  }

  /// Filters a picture and commits its result, unless a GPU lane or the disk takes it. False where
  /// the worker is to end.
  bool filter(PassagePtr picture) {
    try {
      events_.before(picture->outcome);
      picture->threads = others_wait(*picture) ? 1 : threads_;
      if (hand_over(picture)) return true;
      FileReport report;
      {
        LanePtr lane = lane_for_this(false);
        try {
          report = lane->filter(*picture);
        } catch (const DeviceError& error) {
          const std::unique_ptr<Lane> failed(lane.release());
          report = filter_again(*picture, *failed, error);
        }
      }
      report.why_cpu = std::move(picture->outcome.report.why_cpu);
      picture->outcome.report = std::move(report);
      if (commit_elsewhere(picture)) return true;
      commit(*picture);
    } catch (const Postponed&) {
      const std::lock_guard lock(mutex_);
      if (postponed_.contains(picture->outcome.number)) is_trying_ = false;
      postponed_[picture->outcome.number] = std::move(picture);
      if (memory_ == 0) return true;
      // Whoever gives memory back starts workers again.
      --active_;
      return false;
    } catch (const Stopped&) {
      const std::lock_guard lock(mutex_);
      leave(*picture, false);
      return true;
    } catch (...) {
      fail(picture.get());
    }
    if (picture) end(std::move(picture), false);
    return true;
  }

  /// Waits, while no worker has anything to do, for pictures that lanes give back, memory that they
  /// free, and results that are being committed. False where nothing is to come.
  bool waits_for_more() {
    std::unique_lock lock(mutex_);
    while (elsewhere_ > 0 && !has_ended() && !(has_news_ && has_more()))
      changed_.wait_for(lock, kGlance);
    has_news_ = false;
    return has_more();
  }

  /// Waits for the disk. Says why GPUs were given up; throws the first error that is no picture's.
  std::vector<std::string> end() {
    end_io_threads();
    if (broken_) std::rethrow_exception(broken_);
    return gpu_failures_;
  }

 private:
  bool has_ended() const { return ends_ || batch_.is_stopped(); }

  // The cores.

  bool has_more() const {
    return !has_ended() && (!returned_.empty() || !postponed_.empty() || next_ < jobs_.count);
  }

  /// Needs the lock.
  void start_workers() {
    while (active_ < threads_ && has_more()) {
      workers_.run([this] {
        for (PassagePtr picture = take(); picture && filter(std::move(picture));) picture = take();
      });
      ++active_;
      // One tries whether a postponed picture fits, and its end starts the rest.
      if (!postponed_.empty()) return;
    }
  }

  /// The next in their order; while GPU lanes have as much as they can take, the next that is none
  /// of theirs, so that no core waits for them before it must. Needs the lock.
  PassagePtr begin_next() {
    std::size_t job = next_;
    if (lanes_left_ > 0 && !lanes_take(1)) {
      next_for_cpu_ = std::max(next_for_cpu_, next_);
      while (next_for_cpu_ < jobs_.count && stays_jpeg(jobs_.job(next_for_cpu_), batch_.write))
        ++next_for_cpu_;
      if (next_for_cpu_ < jobs_.count) job = next_for_cpu_++;
    }
    auto picture = std::make_unique<Passage>(batch_, jobs_.job(job), *this, events_);
    picture->outcome.number = job;
    picture->arena = arena_ ? &*arena_ : nullptr;
    is_begun_[job] = true;
    while (next_ < jobs_.count && is_begun_[next_]) ++next_;
    return picture;
  }

  /// Whether enough pictures wait to keep every core busy with one of its own. One that has waited
  /// for memory shows that cores are idle.
  bool others_wait(const Passage& picture) {
    const std::lock_guard lock(mutex_);
    return !postponed_.contains(picture.outcome.number) &&
           jobs_.count - next_ >= std::size_t(threads_);
  }

  /// Puts a lane back for the next picture, unless its device has failed.
  struct PutBack {
    Schedule* schedule = nullptr;
    bool on_cpu = false;

    void operator()(Lane* lane) const noexcept {
      std::unique_ptr<Lane> owned(lane);
      const std::lock_guard lock(schedule->mutex_);
      try {
        if (on_cpu || !schedule->has_failed(*owned))
          schedule->idle_lanes_[on_cpu].push_back(std::move(owned));
      } catch (const std::exception&) {
        // The lane cannot say which device it has, for lack of memory: the next picture gets
        // another.
      }
    }
  };
  using LanePtr = std::unique_ptr<Lane, PutBack>;

  LanePtr lane_for_this(bool on_cpu) {
    LaneRequest request{.on_cpu = on_cpu};
    {
      const std::lock_guard lock(mutex_);
      if (std::vector<std::unique_ptr<Lane>>& idle = idle_lanes_[on_cpu]; !idle.empty()) {
        LanePtr lane(idle.back().release(), {this, on_cpu});
        idle.pop_back();
        return lane;
      }
      request.failed = failed_gpus_;
    }
    request.threads = threads_ / int(std::min(jobs_.count, std::size_t(threads_)));
    return {crew_.make_lane(request).release(), {this, on_cpu}};
  }

  /// Filters a picture on the CPU whose lane has failed: it may compute on a device, which never
  /// yields a picture then. Needs that exception in flight.
  FileReport filter_again(Passage& passage, const Lane& lane, const DeviceError& error) {
    const std::optional<int> gpu = lane.gpu();
    if (!gpu || batch_.selection.is_one) throw;
    const bool lacks_memory = dynamic_cast<const DeviceMemoryError*>(&error);
    FileReport report;
    try {
      report = lane_for_this(true)->filter(passage);
    } catch (const UsageError&) {
      // The CPU has no such strategy.
      throw error;
    } catch (...) {
      if (!lacks_memory) give_up(*gpu, error.what());
      throw;
    }
    if (lacks_memory)
      report.warnings.push_back(passage.job.in + ": " + error.what() +
                                "; it was filtered on the CPU");
    else
      give_up(*gpu, error.what());
    return report;
  }

  void give_up(int gpu, const std::string& why) {
    std::vector<std::unique_ptr<Lane>> ended;  // without the lock, since devices take their time
    const std::lock_guard lock(mutex_);
    if (!failed_gpus_.insert(gpu).second) return;
    gpu_failures_.push_back("cuda:" + std::to_string(gpu) + ": " + why);
    std::vector<std::unique_ptr<Lane>>& idle = idle_lanes_[false];
    const auto failed =
        std::ranges::partition(idle, [&](const auto& lane) { return !has_failed(*lane); });
    std::ranges::move(failed, std::back_inserter(ended));
    idle.erase(failed.begin(), failed.end());
  }

  /// Needs the lock.
  bool has_failed(const Lane& lane) const {
    if (failed_gpus_.empty()) return false;  // most lanes never ask which devices there are
    const std::optional<int> gpu = lane.gpu();
    return gpu && failed_gpus_.contains(*gpu);
  }

  // The memory that pictures take.

  bool has_room(const Passage& picture, std::int64_t wanted) override {
    const std::lock_guard lock(mutex_);
    return batch_.max_memory == 0 || memory_ - picture.memory + wanted <= batch_.max_memory;
  }

  void admit(Passage& picture, std::int64_t wanted, bool all) override {
    const std::lock_guard lock(mutex_);
    // The picture gives back what it has: the part that it asked for first, or what a lane did not
    // take.
    memory_ -= std::exchange(picture.memory, 0);
    const std::int64_t most = batch_.max_memory;
    if (most > 0 && wanted > most) throw IoError(takes_too_much(picture.job.in, wanted, all, most));
    if (most > 0 && memory_ + wanted > most) throw Postponed();
    memory_ += picture.memory = wanted;
    if (!all) return;
    if (postponed_.erase(picture.outcome.number) > 0) is_trying_ = false;
    if (arena_) start_workers();
  }

  /// Needs the lock.
  std::size_t most_for_lanes() const { return limits_.most_waiting * gpu_lanes_.size(); }

  /// Whether lanes take so many bytes more. One picture alone has room, whatever it takes. Needs
  /// the lock.
  bool lanes_take(std::int64_t bytes) const {
    return for_lanes_.size() < most_for_lanes() &&
           (memory_of_lanes_ == 0 || memory_of_lanes_ + bytes <= limits_.most_bytes);
  }

  // The GPU lanes.

  /// Gives the picture to a lane, as soon as lanes have room, if it is for them; else says why not,
  /// of a JPEG.
  bool hand_over(PassagePtr& picture) {
    std::string& why_cpu = picture->outcome.report.why_cpu;
    if (gpu_lanes_.empty() || !why_cpu.empty()) return false;
    std::unique_lock lock(mutex_);
    if (lanes_left_ == 0) {
      if (stays_jpeg(picture->job, batch_.write)) why_cpu = "no GPU is left";
      return false;
    }
    lock.unlock();
    if (!open_for_device(*picture)) return false;
    lock.lock();
    while (lanes_left_ > 0 && !has_ended() && !lanes_take(picture->memory))
      changed_.wait_for(lock, kGlance);
    if (has_ended()) {
      picture->reader.reset();
      throw Stopped();
    }
    if (lanes_left_ == 0) {
      picture->reader.reset();
      why_cpu = kNoResult;
      return false;
    }
    memory_of_lanes_ += picture->memory;
    ++elsewhere_;
    for_lanes_.push_back(std::move(picture));
    call_io_thread();
    return true;
  }

  /// A lane that can begin a batch, or null. Needs the lock.
  GpuLane* ready_lane() {
    if (has_ended()) drop_for_lanes();
    if (for_lanes_.empty() || for_disk_.size() > most_results()) return nullptr;
    const auto lane = std::ranges::find(gpu_lanes_, true, &GpuLane::is_free);
    return lane == gpu_lanes_.end() ? nullptr : &*lane;
  }

  std::size_t most_results() const {
    return kBatchesForDisk * limits_.most_pictures * gpu_lanes_.size();
  }

  /// Drops waiting pictures; they get no outcome. Needs the lock.
  void drop_for_lanes() {
    for (const PassagePtr& picture : for_lanes_) leave(*picture, true);
    for_lanes_.clear();
  }

  /// The pictures of a lane's next batch. Lanes share what waits, so that none stands still while
  /// another has all of it. Needs the lock.
  std::vector<PassagePtr> next_batch(std::int64_t most_pixels) {
    const std::size_t share = (for_lanes_.size() + lanes_left_ - 1) / lanes_left_;
    const std::size_t most = std::min(limits_.most_pictures, share);
    std::size_t count = 1;
    for (std::int64_t pixels = pixels_of(for_lanes_[0]); count < most; ++count)
      if ((pixels += pixels_of(for_lanes_[count])) > most_pixels) break;
    std::vector<PassagePtr> batch(count);
    std::move(for_lanes_.begin(), for_lanes_.begin() + std::ptrdiff_t(count), batch.begin());
    for_lanes_.erase(for_lanes_.begin(), for_lanes_.begin() + std::ptrdiff_t(count));
    changed_.notify_all();
    return batch;
  }

  /// Has a batch done by the lane's device. Needs the lock, which it lets go meanwhile.
  void run_lane(GpuLane& lane, std::unique_lock<std::mutex>& lock) {
    std::vector<PassagePtr> pictures;
    std::string failure;
    lane.is_free = false;
    try {
      pictures = next_batch(lane.most_pixels);
      lock.unlock();
      // No device is made before there is something to do for it.
      if (!lane.device) lane.device = crew_.make_device(std::size_t(&lane - gpu_lanes_.data()));
      std::vector<DeviceResult> results(pictures.size());
      const std::int64_t most_before = lane.most_pixels;
      run_batch(lane, pictures, results);
      // Memory that was short may be there again, and a batch that is too large costs little.
      if (lane.most_pixels == most_before)
        lane.most_pixels = std::min(limits_.most_pixels, most_before + most_before / kGrowth + 1);
      for (std::size_t i = 0; i < pictures.size(); ++i) await_disk(*pictures[i], results[i], lane);
    } catch (...) {
      // Beside a DeviceError this is what making the device throws. Nothing counts that a device
      // made before it failed.
      failure = (lane.device ? lane.device->name() + ": " : "") + message_of_exception();
      for (const PassagePtr& picture : pictures) picture->commit = nullptr;
    }
    if (!lock.owns_lock()) lock.lock();
    lane.is_free = failure.empty();
    for (PassagePtr& picture : pictures) {
      if (picture->commit)
        for_disk_.push_back(std::move(picture));
      else
        take_back(std::move(picture));
      call_io_thread();
    }
    if (!failure.empty()) end_lanes(1, failure);
  }

  /// Leaves it to the disk to write what a lane has made, if it has made anything.
  static void await_disk(Passage& passage, DeviceResult& made, const GpuLane& lane) {
    passage.outcome.report.why_cpu = made.why_cpu;
    if (made.file.empty() && !made.failure) return;
    passage.commit = [&passage, made = std::move(made), device = lane.device->name()] {
      if (made.failure) std::rethrow_exception(made.failure);
      passage.outcome.report = write_result(passage, made, device);
    };
  }

  /// Has a picture done on a core that no lane has a result for. Needs the lock.
  void take_back(PassagePtr picture) {
    Passage& passage = *picture;
    returned_.push_back(std::move(picture));
    leave(passage, true);
    passage.reader.reset();
    std::string& why_cpu = passage.outcome.report.why_cpu;
    if (why_cpu.empty()) why_cpu = kNoResult;
  }

  /// Needs the lock.
  void end_lanes(std::size_t lanes, const std::string& why) {
    if (std::ranges::find(gpu_failures_, why) == gpu_failures_.end()) gpu_failures_.push_back(why);
    lanes_left_ -= lanes;
    if (lanes_left_ > 0) return;
    for (PassagePtr& picture : for_lanes_) take_back(std::move(picture));
    for_lanes_.clear();
  }

  // The disk, and the I/O threads.

  /// Whether another thread commits the result while this one takes the next picture.
  bool commit_elsewhere(PassagePtr& picture) {
    if (!queues_commits_ || !picture->commit) return false;
    const std::lock_guard lock(mutex_);
    if (for_disk_.size() >= most_io_threads()) return false;
    for_disk_.push_back(std::move(picture));
    call_io_thread();
    if (io_threads_.empty()) {
      picture = std::move(for_disk_.back());
      for_disk_.pop_back();
      return false;
    }
    ++elsewhere_;
    return true;
  }

  /// Gives the result its name. The time in which a thread waits for that is part of its writing.
  static void commit(Passage& passage) {
    if (!passage.commit) return;
    const auto start = Clock::now();
    // The file is closed before anybody hears of it.
    std::exchange(passage.commit, nullptr)();
    const double spent = ms_since(start);
    passage.outcome.report.all_ms += spent;
    passage.outcome.report.ms.encode += spent;
  }

  std::size_t most_io_threads() const {
    return kThreadsOfLane * gpu_lanes_.size() + (queues_commits_ ? std::size_t(threads_) : 0);
  }

  /// Sees to it that a thread does what waits. Needs the lock.
  void call_io_thread() {
    const std::size_t wanted = for_disk_.size() + (ready_lane() ? 1 : 0);
    if (!closes_ && idle_io_threads_ < wanted && io_threads_.size() < most_io_threads()) {
      try {
        io_threads_.emplace_back([this] { do_io(); });
      } catch (const std::exception& error) {
        // Those that there are do the work.
        if (io_threads_.empty() && lanes_left_ > 0)
          end_lanes(lanes_left_, std::string("no thread can be started: ") + error.what());
      }
    }
    io_.notify_one();
  }

  void do_io() {
    std::unique_lock lock(mutex_);
    while (true) {
      if (GpuLane* const lane = ready_lane()) {
        run_lane(*lane, lock);
      } else if (!for_disk_.empty()) {
        PassagePtr picture = std::move(for_disk_.front());
        for_disk_.erase(for_disk_.begin());
        lock.unlock();
        try {
          commit(*picture);
        } catch (...) {
          fail(picture.get());
        }
        end(std::move(picture), true);
        lock.lock();
      } else if (closes_) {
        return;
      } else {
        ++idle_io_threads_;
        io_.wait(lock);
        --idle_io_threads_;
      }
    }
  }

  /// Waits until they have done what was begun.
  void end_io_threads() {
    {
      const std::lock_guard lock(mutex_);
      closes_ = true;
      drop_for_lanes();
    }
    io_.notify_all();
    for (std::thread& thread : io_threads_) thread.join();
    io_threads_.clear();
  }

  // The ends of pictures.

  /// Says in the outcome why the work on a picture has failed. Needs an exception in flight.
  void note_failure(Passage& picture) const {
    PictureOutcome& outcome = picture.outcome;
    outcome.outcome = Outcome::failed;
    outcome.failure = std::current_exception();
    try {
      throw;
    } catch (const FileIsThere& error) {
      const bool skips = batch_.if_exists == IfExists::skip;
      if (skips) outcome.outcome = Outcome::skipped;
      outcome.reason = skips ? "exists" : error.what();
    } catch (const std::bad_alloc&) {
      outcome.reason = quoted_name(picture.job.in) +
                       ": out of memory; --max-memory has fewer pictures under way";
    } catch (...) {
      outcome.reason = message_of_exception();
      if (!batch_.selection.is_one) outcome.reason = with_name(picture.job, outcome.reason);
    }
  }

  /// Notes the failure of a picture. The run ends where there is no memory to note it, or where a
  /// lane has the picture by now. Needs an exception in flight.
  void fail(Passage* picture) {
    try {
      if (!picture) throw;
      note_failure(*picture);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      break_off(std::current_exception());
    }
  }

  /// Begins no more pictures, and throws this from run(). Needs the lock.
  void break_off(const std::exception_ptr& why) {
    if (!broken_) broken_ = why;
    ends_ = true;
    drop_for_lanes();
  }

  void end(PassagePtr picture, bool is_elsewhere) {
    std::exception_ptr broken;
    try {
      const std::lock_guard lock(results_mutex_);
      events_.after(picture->outcome);
    } catch (...) {
      broken = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    if (broken) break_off(broken);
    if (batch_.fail_fast && picture->outcome.outcome == Outcome::failed) {
      ends_ = true;
      drop_for_lanes();
    }
    leave(*picture, is_elsewhere);
  }

  /// Takes the memory back of a picture that comes from a core, or from elsewhere: a lane or the
  /// disk. Needs the lock.
  void leave(Passage& picture, bool is_elsewhere) {
    const std::int64_t bytes = std::exchange(picture.memory, 0);
    memory_ -= bytes;
    if (is_elsewhere) {
      if (picture.reader) memory_of_lanes_ -= bytes;
      --elsewhere_;
      has_news_ = true;
    } else if (postponed_.erase(picture.outcome.number) > 0) {
      is_trying_ = false;
    }
    try {
      // Workers start while others are at work, since the thread that waits for those cannot. The
      // lock lets one thread at a time into the arena.
      if (arena_ && active_ > 0 && active_ < threads_ && has_more())
        arena_->execute([this] { start_workers(); });
    } catch (const std::exception&) {
      // There is no memory for a task. Whoever waits for news starts the workers.
    }
    changed_.notify_all();
  }

  const JobSource& jobs_;
  const Batch& batch_;
  Crew& crew_;
  JobEvents& events_;
  LaneLimits limits_;
  const int threads_;
  const bool queues_commits_;
  std::optional<Arena> arena_;  ///< of several pictures
  oneapi::tbb::task_group workers_;
  std::mutex results_mutex_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_, io_;
  std::vector<GpuLane> gpu_lanes_;               ///< one that works on a batch needs no lock
  std::size_t lanes_left_;                       ///< that were not given up
  std::size_t next_ = 0;                         ///< the first job that is not begun
  std::size_t next_for_cpu_ = 0;                 ///< where to look for the next that is for no lane
  std::vector<bool> is_begun_;                   ///< by job
  std::map<std::size_t, PassagePtr> postponed_;  ///< by number; null while a worker tries it
  std::vector<PassagePtr> returned_;             ///< by lanes
  std::vector<PassagePtr> for_lanes_, for_disk_;  ///< waiting, oldest first
  std::size_t elsewhere_ = 0;                     ///< pictures that lanes and the disk have
  bool has_news_ = false;                         ///< whether one has left them since workers began
  bool is_trying_ = false;                        ///< whether a worker tries a postponed one
  int active_ = 0;                                ///< workers
  std::int64_t memory_ = 0, memory_of_lanes_ = 0;  ///< of pictures under way
  bool ends_ = false;                              ///< begins nothing more
  std::exception_ptr broken_;                      ///< the first error that is no picture's
  std::array<std::vector<std::unique_ptr<Lane>>, 2> idle_lanes_;  ///< by on_cpu
  std::set<int> failed_gpus_;                                     ///< of Lane
  std::vector<std::string> gpu_failures_;                         ///< why GPUs were given up
  std::vector<std::thread> io_threads_;
  std::size_t idle_io_threads_ = 0;
  bool closes_ = false;  ///< I/O threads end when nothing waits for them, and none begins
};

}  // namespace

int threads_within(std::int64_t max_memory, int threads) {
  constexpr std::int64_t kProgram = 16 << 20;  // bytes that the program takes without any picture
  const std::int64_t all = cpu::threads_or_all(threads);
  if (max_memory == 0) return int(all);
  return int(std::clamp((max_memory - kProgram) / kMostFree, std::int64_t{1}, all));
}

std::vector<std::string> filter_jobs(const JobSource& jobs, const Batch& batch, Crew& crew,
                                     JobEvents& events, const LaneLimits& limits) {
  Schedule schedule(jobs, batch, crew, events, limits);
  do {
    if (jobs.count > 1)
      schedule.run_workers();
    else if (PassagePtr picture = schedule.take())
      schedule.filter(std::move(picture));
  } while (schedule.waits_for_more());
  return schedule.end();
}

}  // namespace convfilt
