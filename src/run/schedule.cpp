#include "src/run/schedule.hpp"

#include <malloc.h>
#include <oneapi/tbb/task_group.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "kernels/backend/device_errors.hpp"
#include "src/base/atomic_file.hpp"
#include "src/base/clock.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/run/arena.hpp"
#include "src/run/device_pictures.hpp"
#include "src/run/open_files.hpp"

namespace convfilt {
namespace {

/// How often a thread that waits looks whether it is to stop.
constexpr std::chrono::milliseconds kWorkersGlance{100};

/// A picture waits until others have given their memory back.
struct Postponed {};

/// A job in the hands of a worker.
struct Ticket {
  std::size_t job = 0;
  bool was_postponed = false;
  bool for_cpu = false;     ///< a device gave it back
  std::int64_t memory = 0;  ///< bytes that were admitted
};

/// Bytes. Some virtual machines have more than they say at first.
std::int64_t memory_of_machine() {
  return std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGE_SIZE);
}

/// What a thread keeps of the buffers that pictures gave back, in bytes.
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

int all_threads(int threads) {
  return threads > 0 ? threads : std::max(1, int(std::thread::hardware_concurrency()));
}

std::string mebibytes(std::int64_t bytes) {
  constexpr std::int64_t kMebibyte = 1 << 20;
  return std::to_string((bytes + kMebibyte - 1) / kMebibyte) + " MiB";
}

/// Threads that wait for the disk, so that workers need not. A task of oneTBB that waits would hold
/// the place of a core.
class Committers {
 public:
  explicit Committers(int most) : most_(std::size_t(most)) {
    // Nothing is to be allocated for what is taken, nor in the end.
    waiting_.reserve(most_);
    threads_.reserve(most_);
  }

  /// Waits until all that was taken is done.
  ~Committers() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Committers(const Committers&) = delete;
  Committers& operator=(const Committers&) = delete;

  /// False where all are busy and as many commits wait for them, or where the system gives no
  /// thread; the commit stays the caller's then.
  bool take(std::function<void()>&& commit) {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() == most_) return false;
    if (waiting_.size() >= idle_ && threads_.size() < most_) {
      try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::exception&) {
        // Those that there are do.
      }
    }
    if (threads_.empty()) return false;
    waiting_.push_back(std::move(commit));
    changed_.notify_one();
    return true;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
      --idle_;
      if (waiting_.empty()) return;
      std::function<void()> commit = std::move(waiting_.front());
      waiting_.erase(waiting_.begin());
      lock.unlock();
      commit();
      commit = nullptr;
      lock.lock();
    }
  }

  const std::size_t most_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<std::function<void()>> waiting_;
  std::size_t idle_ = 0;  ///< threads
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

class Schedule {
 public:
  Schedule(const std::vector<Job>& jobs, const ScheduleOptions& options, const MakeLane& make_lane,
           const JobEvents& events)
      : jobs_(jobs),
        options_(options),
        make_lane_(make_lane),
        events_(events),
        arena_(all_threads(options.threads)),
        threads_(arena_.threads()),
        is_begun_(jobs.size(), false) {
    // What waits lies between the buffers of pictures, so that these take more room than the limit
    // foresees: up to 84 MiB of 64 with three threads.
    if (options.max_memory == 0) committers_.emplace(threads_);
    // Whoever gives a picture back must not fail.
    if (!options.devices.empty()) returned_.reserve(jobs.size());
  }

  std::vector<std::string> run() {
    keep_freed_buffers(threads_, options_.max_memory > 0);
    if (!options_.devices.empty()) {
      // A worker reads one file and writes another, and so do the threads of lanes. What a device
      // and its codecs have open comes on top, so this is generous.
      constexpr std::uint64_t kOthers = 256, kFilesOfLane = 128, kFilesOfThread = 4;
      allow_open_files(kOthers + kFilesOfLane * options_.devices.size() +
                       kFilesOfThread * std::uint64_t(threads_));
      DeviceLanes::Options how;
      how.stop = options_.stop;
      how.most_bytes = std::min(how.most_bytes, memory_of_machine() / 4);
      devices_.emplace(options_.devices, how,
                       DeviceLanes::Events{
                           [this](DeviceJob job, DeviceResult result, const std::string& device) {
                             finish(std::move(job), result, device);
                           },
                           [this](DeviceJob job) { take_back(std::move(job)); }});
    }
    do {
      arena_.execute([&] {
        {
          const std::lock_guard lock(mutex_);
          has_news_ = false;
          start_workers();
        }
        workers_.wait();
      });
    } while (waits_for_more());
    committers_.reset();
    if (devices_) {
      if (ends_) devices_->drop();
      devices_->wait();
    }
    if (broken_) std::rethrow_exception(broken_);
    std::vector<std::string> failures =
        devices_ ? devices_->failures() : std::vector<std::string>{};
    const std::lock_guard lock(lanes_mutex_);
    failures.insert(failures.end(), gpu_failures_.begin(), gpu_failures_.end());
    return failures;
  }

 private:
  bool is_stopped() const { return options_.stop && options_.stop->load(); }

  bool has_more() const {
    return !ends_ && !is_stopped() &&
           (!returned_.empty() || !postponed_.empty() || next_ < jobs_.size());
  }

  /// Waits, while no worker has anything to do, for pictures that devices give back, memory that
  /// they free, and results that are being committed. False where nothing is to come.
  bool waits_for_more() {
    std::unique_lock lock(mutex_);
    while (elsewhere_ > 0 && !ends_ && !is_stopped() && !(has_news_ && has_more()))
      changed_.wait_for(lock, kWorkersGlance);
    return has_more();
  }

  /// Starts workers while others are at work, since the thread that waits for those cannot. Needs
  /// the lock, which lets one thread at a time into the arena.
  void start_workers_beside_others() {
    if (active_ > 0 && active_ < threads_ && has_more())
      arena_.execute([this] { start_workers(); });
  }

  /// Needs the lock.
  void start_workers() {
    while (active_ < threads_ && has_more()) {
      workers_.run([this] { work(); });
      ++active_;
      // One tries whether a postponed picture fits, and its end starts the rest.
      if (!postponed_.empty()) return;
    }
  }

  /// The next job; nothing where the worker is to end, which leaves its core to pictures that are
  /// cut into bands.
  std::optional<Ticket> take() {
    const std::lock_guard lock(mutex_);
    // Pictures begin in their order, so that many small ones cannot hold back a large one.
    if (has_more() && !is_trying_) {
      if (!postponed_.empty()) {
        is_trying_ = true;
        const std::size_t job = *postponed_.begin();
        return Ticket{.job = job, .was_postponed = true, .for_cpu = for_cpu_.contains(job)};
      }
      if (returned_.empty()) return Ticket{.job = next_job()};
      const std::size_t job = returned_.back();
      returned_.pop_back();
      for_cpu_.insert(job);
      return Ticket{.job = job, .for_cpu = true};
    }
    --active_;
    return std::nullopt;
  }

  /// The next in their order; while devices have as much as they can take, the next that is none
  /// of theirs, so that no core waits for them before it must. Needs the lock.
  std::size_t next_job() {
    std::size_t job = next_;
    if (devices_ && devices_->is_full()) {
      next_for_cpu_ = std::max(next_for_cpu_, next_);
      while (next_for_cpu_ < jobs_.size() && stays_jpeg(jobs_[next_for_cpu_], options_.write))
        ++next_for_cpu_;
      if (next_for_cpu_ < jobs_.size()) job = next_for_cpu_++;
    }
    is_begun_[job] = true;
    while (next_ < jobs_.size() && is_begun_[next_]) ++next_;
    return job;
  }

  void work() {
    while (std::optional<Ticket> ticket = take()) {
      bool has_to_wait = false;
      std::exception_ptr broken;
      try {
        filter(*ticket);
      } catch (const Postponed&) {
        has_to_wait = true;
      } catch (...) {
        broken = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      if (ticket->was_postponed) is_trying_ = false;
      if (has_to_wait) {
        postponed_.insert(ticket->job);
        if (memory_ == 0) continue;
        // Whoever gives memory back starts workers again.
        --active_;
        return;
      }
      postponed_.erase(ticket->job);
      if (broken && !broken_) broken_ = broken;
      if (broken) ends_ = true;
      memory_ -= ticket->memory;
      start_workers();
    }
  }

  void admit(Ticket& ticket, std::int64_t wanted, bool all) {
    const std::lock_guard lock(mutex_);
    // Give back what the ticket holds: the part it asked for first, or what a device did not take.
    memory_ -= std::exchange(ticket.memory, 0);
    const std::int64_t most = options_.max_memory;
    if (most > 0 && wanted > most)
      throw IoError(takes_too_much(jobs_[ticket.job].in, wanted, all, most));
    if (most > 0 && memory_ + wanted > most) throw Postponed();
    memory_ += ticket.memory = wanted;
    if (!all) return;
    postponed_.erase(ticket.job);
    if (ticket.was_postponed) is_trying_ = false;
    ticket.was_postponed = false;
    start_workers();
  }

  bool has_room(const Ticket& ticket, std::int64_t wanted) {
    const std::lock_guard lock(mutex_);
    return options_.max_memory == 0 || memory_ - ticket.memory + wanted <= options_.max_memory;
  }

  /// Whether enough pictures wait to keep every core busy with one of its own. One that has waited
  /// for memory shows that cores are idle.
  bool others_wait(const Ticket& ticket) {
    const std::lock_guard lock(mutex_);
    return !ticket.was_postponed && jobs_.size() - next_ >= std::size_t(threads_);
  }

  /// Says in the result why the work on a job failed. Throws Postponed and Stopped, which are no
  /// failures.
  template <class Work>
  static void attempt(JobResult& result, const Work& work) {
    try {
      work();
    } catch (const std::bad_alloc&) {
      result.failure = quoted_name(result.job->in) +
                       ": out of memory; --max-memory has fewer pictures under way";
    } catch (const FileIsThere& error) {
      result.failure = error.what();
      result.is_there = true;
    } catch (const std::exception& error) {
      result.failure = of_job(*result.job, error.what());
    }
  }

  /// Among many pictures a reason says which one it is about.
  static std::string of_job(const Job& job, const std::string& why) {
    const bool is_named =
        why.find(quoted_name(job.in)) != why.npos || why.find(quoted_name(job.out)) != why.npos;
    return is_named ? why : quoted_name(job.in) + ": " + why;
  }

  void tell(const JobResult& result) {
    const std::lock_guard lock(results_mutex_);
    events_.after(result);
    if (!options_.fail_fast || result.failure.empty()) return;
    ends_ = true;
    if (devices_) devices_->drop();
  }

  /// Filters a picture, or hands it to a device.
  void filter(Ticket& ticket) {
    const Job& job = jobs_[ticket.job];
    JobResult result;
    result.job = &job;
    bool has_ended = true;
    try {
      attempt(result, [&] {
        events_.before(job);
        FileJob file{job.in, job.out, options_.read, options_.write,
                     others_wait(ticket) ? 1 : threads_};
        file.shares_threads = true;
        file.commits_later = true;
        file.replaces = options_.replaces;
        file.stop = options_.stop;
        file.has_room = [&](std::int64_t wanted) { return has_room(ticket, wanted); };
        file.admit = [&](std::int64_t wanted, bool all) { admit(ticket, wanted, all); };
        file.before_commit = [this, &job](const FileStamp& stamp) {
          events_.before_commit(job, stamp);
        };
        std::string why_cpu = ticket.for_cpu ? "no GPU had a result for it" : "";
        has_ended = ticket.for_cpu || !hand_over(ticket, file, why_cpu);
        if (!has_ended) return;
        result.report = filter_in_lane(file);
        result.report.why_cpu = why_cpu;
        has_ended = !commit_elsewhere(result);
        if (has_ended) result.report.write_ms += commit(result.report);
      });
    } catch (const Stopped&) {
      return;
    }
    if (has_ended) tell(result);
  }

  /// The lane may compute on a device that fails, which never yields a picture.
  FileReport filter_in_lane(const FileJob& file) {
    std::unique_ptr<Lane> lane = lane_for_this(false);
    try {
      return filter_in(lane, file, false);
    } catch (const DeviceError& error) {
      const std::optional<int> gpu = lane->gpu();
      if (!gpu) throw;
      return filter_again(file, *gpu, error);
    }
  }

  /// Keeps the lane for the next picture, unless its device fails.
  FileReport filter_in(std::unique_ptr<Lane>& lane, const FileJob& file, bool on_cpu) {
    try {
      FileReport report = lane->filter(file);
      keep(std::move(lane), on_cpu);
      return report;
    } catch (const DeviceError&) {
      throw;
    } catch (...) {
      // A picture that fails says nothing against the plans for the next ones.
      keep(std::move(lane), on_cpu);
      throw;
    }
  }

  FileReport filter_again(const FileJob& file, int gpu, const DeviceError& error) {
    FileReport report;
    try {
      std::unique_ptr<Lane> lane = lane_for_this(true);
      report = filter_in(lane, file, true);
    } catch (const UsageError&) {
      // The CPU has no such strategy.
      throw error;
    }
    if (dynamic_cast<const DeviceMemoryError*>(&error))
      report.warnings.push_back(file.in + ": " + error.what() + "; it was filtered on the CPU");
    else
      give_up(gpu, error.what());
    return report;
  }

  void give_up(int gpu, const std::string& why) {
    const std::lock_guard lock(lanes_mutex_);
    if (!failed_.insert(gpu).second) return;
    gpu_failures_.push_back("cuda:" + std::to_string(gpu) + ": " + why);
    std::erase_if(lanes_[false], [&](const auto& lane) { return has_failed(*lane); });
  }

  /// Needs the lock.
  bool has_failed(const Lane& lane) const {
    if (failed_.empty()) return false;  // most lanes never ask which devices there are
    const std::optional<int> gpu = lane.gpu();
    return gpu && failed_.contains(*gpu);
  }

  /// Gives the picture to a device where there is one that takes it; else says why, of a JPEG.
  bool hand_over(Ticket& ticket, const FileJob& file, std::string& why_cpu) {
    if (!devices_) return false;
    if (!devices_->is_alive()) {
      if (stays_jpeg(jobs_[ticket.job], options_.write)) why_cpu = "no GPU is left";
      return false;
    }
    std::optional<DeviceJob> taken = device_job(ticket.job, file, options_.max_memory, &why_cpu);
    if (!taken) return false;
    ticket.memory = 0;
    {
      const std::lock_guard lock(mutex_);
      ++elsewhere_;
    }
    devices_->take(std::move(*taken));
    return true;
  }

  /// Whether somebody else commits the result while this thread takes the next picture.
  bool commit_elsewhere(JobResult& result) {
    if (!committers_ || !result.report.commit) return false;
    const auto taken = std::make_shared<JobResult>(std::move(result));
    std::function<void()> end = [this, taken] {
      // The worker gives back what memory it was given.
      end_elsewhere(*taken, 0, [&] { commit(taken->report); });
    };
    {
      const std::lock_guard lock(mutex_);
      ++elsewhere_;
    }
    if (committers_->take(std::move(end))) return true;
    result = std::move(*taken);
    const std::lock_guard lock(mutex_);
    --elsewhere_;
    return false;
  }

  /// Milliseconds that it took. Those in which a worker waits are part of its writing.
  static double commit(FileReport& report) {
    if (!report.commit) return 0;
    const auto start = Clock::now();
    // The file is closed before anybody hears of it.
    std::exchange(report.commit, nullptr)();
    const double spent = ms_since(start);
    report.all_ms += spent;
    return spent;
  }

  /// Writes what a device has made. A lane calls it.
  void finish(DeviceJob taken, const DeviceResult& made, const std::string& device) {
    JobResult result;
    result.job = &jobs_[taken.job];
    end_elsewhere(result, taken.memory, [&] {
      if (made.failure) std::rethrow_exception(made.failure);
      result.report = write_result(taken, made, device);
    });
  }

  /// Does the last of the work on a job that is in no worker's hands.
  template <class Work>
  void end_elsewhere(JobResult& result, std::int64_t memory, const Work& work) {
    std::exception_ptr broken;
    try {
      attempt(result, work);
      tell(result);
    } catch (...) {
      broken = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    if (broken && !broken_) broken_ = broken;
    if (broken) ends_ = true;
    leave(memory);
  }

  /// Has a picture done on the CPU. A lane calls it.
  void take_back(DeviceJob taken) {
    const std::lock_guard lock(mutex_);
    returned_.push_back(taken.job);
    leave(taken.memory);
  }

  /// Needs the lock.
  void leave(std::int64_t memory) {
    memory_ -= memory;
    --elsewhere_;
    has_news_ = true;
    try {
      start_workers_beside_others();
    } catch (const std::exception&) {
      // There is no memory for a task. Whoever waits for news starts the workers.
    }
    changed_.notify_all();
  }

  void keep(std::unique_ptr<Lane> lane, bool on_cpu) {
    const std::lock_guard lock(lanes_mutex_);
    if (on_cpu || !has_failed(*lane)) lanes_[on_cpu].push_back(std::move(lane));
  }

  std::unique_ptr<Lane> lane_for_this(bool on_cpu) {
    LaneRequest request{.on_cpu = on_cpu};
    {
      const std::lock_guard lock(lanes_mutex_);
      if (std::vector<std::unique_ptr<Lane>>& idle = lanes_[on_cpu]; !idle.empty()) {
        std::unique_ptr<Lane> lane = std::move(idle.back());
        idle.pop_back();
        return lane;
      }
      request.failed = failed_;
    }
    request.threads = threads_ / int(std::min(jobs_.size(), std::size_t(threads_)));
    return make_lane_(request);
  }

  const std::vector<Job>& jobs_;
  const ScheduleOptions& options_;
  const MakeLane& make_lane_;
  const JobEvents& events_;
  Arena arena_;
  const int threads_;  ///< that the system gave
  oneapi::tbb::task_group workers_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::size_t next_ = 0;          ///< the first that is not begun
  std::size_t next_for_cpu_ = 0;  ///< where to look for the next that is none of devices'
  std::vector<bool> is_begun_;
  std::set<std::size_t> postponed_;
  std::vector<std::size_t> returned_;  ///< by devices
  std::set<std::size_t> for_cpu_;      ///< those of them that were begun again
  std::size_t elsewhere_ = 0;          ///< pictures in the hands of devices and committers
  bool has_news_ = false;              ///< whether one has left them since workers were started
  bool is_trying_ = false;             ///< whether somebody tries if the first of them fits
  int active_ = 0;                     ///< workers
  std::int64_t memory_ = 0;            ///< of the pictures under way
  std::exception_ptr broken_;
  std::atomic<bool> ends_{false};

  std::mutex lanes_mutex_;                                   // guards what follows
  std::array<std::vector<std::unique_ptr<Lane>>, 2> lanes_;  ///< idle ones, by on_cpu
  std::set<int> failed_;                                     ///< CUDA devices of lanes
  std::vector<std::string> gpu_failures_;                    ///< of these, why

  std::mutex results_mutex_;

  std::optional<DeviceLanes> devices_;    ///< its threads use all of the above
  std::optional<Committers> committers_;  ///< likewise, and the lanes
};

}  // namespace

int threads_within(std::int64_t max_memory, int threads) {
  constexpr std::int64_t kProgram = 16 << 20;  // bytes that the program takes without any picture
  const std::int64_t all = all_threads(threads);
  if (max_memory == 0) return int(all);
  return int(std::clamp((max_memory - kProgram) / kMostFree, std::int64_t{1}, all));
}

std::string takes_too_much(const std::string& in, std::int64_t bytes, bool all, std::int64_t most) {
  return "cannot filter " + quoted_name(in) + ": it takes " + (all ? "" : "more than ") +
         mebibytes(bytes) + " of memory, and --max-memory allows " +
         (most < 1 << 20 ? std::to_string(most) + " bytes" : mebibytes(most));
}

std::vector<std::string> filter_jobs(const std::vector<Job>& jobs, const ScheduleOptions& options,
                                     const MakeLane& make_lane, const JobEvents& events) {
  return Schedule(jobs, options, make_lane, events).run();
}

}  // namespace convfilt
