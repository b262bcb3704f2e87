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
#include <thread>
#include <utility>

#include "kernels/backend/device_errors.hpp"
#include "src/base/clock.hpp"
#include "src/base/errors.hpp"
#include "src/base/source_text.hpp"
#include "src/run/device_lanes.hpp"
#include "src/run/device_pictures.hpp"

namespace convfilt {
namespace {

/// How often a thread that waits looks whether it is to stop.
constexpr std::chrono::milliseconds kWorkersGlance{100};

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

int all_threads(int threads) {
  return threads > 0 ? threads : std::max(1, int(std::thread::hardware_concurrency()));
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

/// Threads that wait for the disk, so that workers need not. A task of oneTBB that waits would hold
/// the place of a core.
class Committers {
 public:
  /// `end` is called for each picture that is taken, by one of `most` threads.
  Committers(int most, std::function<void(PassagePtr)> end)
      : most_(std::size_t(most)), end_(std::move(end)) {
    // Neither taking a picture nor the end may need memory.
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

  /// False where all are busy and as many pictures wait for them, or where the system gives no
  /// thread; the picture stays the caller's then.
  bool take(PassagePtr& picture) {
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
    waiting_.push_back(std::move(picture));
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
      PassagePtr picture = std::move(waiting_.front());
      waiting_.erase(waiting_.begin());
      lock.unlock();
      end_(std::move(picture));
      lock.lock();
    }
  }

  const std::size_t most_;
  const std::function<void(PassagePtr)> end_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<PassagePtr> waiting_;
  std::size_t idle_ = 0;  ///< threads
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

/// Where stages take place: workers on cores decode, filter and encode; devices do the same for
/// the pictures that are theirs; committers wait for the disk.
class Schedule : Gate, AfterDevices {
 public:
  Schedule(const std::vector<Job>& jobs, const Batch& batch, Crew& crew, JobEvents& events)
      : jobs_(jobs),
        batch_(batch),
        crew_(crew),
        events_(events),
        threads_(all_threads(batch.convolver.request.threads)),
        is_begun_(jobs.size(), false) {
    // A picture alone starts threads where its bands need them, which a small one need not.
    if (jobs.size() > 1) arena_.emplace(threads_);
    // Queued commits fragment the heap: 84 MiB were used under a limit of 64 MiB. So a limit turns
    // the queue off.
    if (batch.max_memory == 0 && jobs.size() > 1)
      committers_.emplace(threads_, [this](PassagePtr picture) {
        end_elsewhere(std::move(picture), [](Passage& passage) { commit(passage); });
      });
    // Whoever gives a picture back must not fail.
    if (crew.device_lanes() > 0) returned_.reserve(jobs.size());
  }

  std::vector<std::string> run() {
    if (jobs_.size() > 1) keep_freed_buffers(threads_, batch_.max_memory > 0);
    if (const std::size_t lanes = crew_.device_lanes(); lanes > 0) {
      // A worker reads one file and writes another, and so do the threads of lanes. What a device
      // and its codecs have open comes on top, so this is generous.
      constexpr rlim_t kOthers = 256, kFilesOfLane = 128, kFilesOfThread = 4;
      allow_open_files(kOthers + kFilesOfLane * lanes + kFilesOfThread * rlim_t(threads_));
      DeviceLanes::Options how;
      how.stop = batch_.stop;
      how.most_bytes = std::min(how.most_bytes, memory_of_machine() / 4);
      devices_.emplace(crew_, how, static_cast<AfterDevices&>(*this));
    }
    if (arena_) arena_->grow(int(std::min(jobs_.size(), std::size_t(threads_))));
    do {
      if (!arena_) {
        work_alone();
        continue;
      }
      arena_->execute([&] {
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
  // Which picture a worker takes.

  bool has_more() const {
    return !ends_ && !batch_.is_stopped() &&
           (!returned_.empty() || !postponed_.empty() || next_ < jobs_.size());
  }

  /// Waits, while no worker has anything to do, for pictures that devices give back, memory that
  /// they free, and results that are being committed. False where nothing is to come.
  bool waits_for_more() {
    std::unique_lock lock(mutex_);
    while (elsewhere_ > 0 && !ends_ && !batch_.is_stopped() && !(has_news_ && has_more()))
      changed_.wait_for(lock, kWorkersGlance);
    return has_more();
  }

  void work_alone() {
    {
      const std::lock_guard lock(mutex_);
      has_news_ = false;
      active_ = 1;
    }
    work();
  }

  /// Needs the lock.
  void start_workers() {
    while (arena_ && active_ < threads_ && has_more()) {
      workers_.run([this] { work(); });
      ++active_;
      // One tries whether a postponed picture fits, and its end starts the rest.
      if (!postponed_.empty()) return;
    }
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

  /// The next in their order; while devices have as much as they can take, the next that is none
  /// of theirs, so that no core waits for them before it must. Needs the lock.
  PassagePtr begin_next() {
    std::size_t job = next_;
    if (devices_ && devices_->is_full()) {
      next_for_cpu_ = std::max(next_for_cpu_, next_);
      while (next_for_cpu_ < jobs_.size() && stays_jpeg(jobs_[next_for_cpu_], batch_.write))
        ++next_for_cpu_;
      if (next_for_cpu_ < jobs_.size()) job = next_for_cpu_++;
    }
    auto picture = std::make_unique<Passage>(batch_, jobs_[job]);
    picture->number = job;
    picture->gate = this;
    picture->arena = arena_ ? &*arena_ : nullptr;
    is_begun_[job] = true;
    while (next_ < jobs_.size() && is_begun_[next_]) ++next_;
    return picture;
  }

  void work() {
    while (PassagePtr picture = take()) {
      bool has_to_wait = false;
      std::exception_ptr broken;
      try {
        filter(picture);
      } catch (const Postponed&) {
        has_to_wait = true;
      } catch (...) {
        broken = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      // A picture that went elsewhere was admitted.
      if (picture && picture->was_postponed) is_trying_ = false;
      if (has_to_wait) {
        picture->was_postponed = true;
        postponed_[picture->number] = std::move(picture);
        if (memory_ == 0) continue;
        // Whoever gives memory back starts workers again.
        --active_;
        return;
      }
      note_broken(broken);
      if (picture) {
        postponed_.erase(picture->number);
        memory_ -= picture->memory;
      }
      start_workers();
    }
  }

  // The memory that pictures take, as a Gate.

  bool has_room(const Passage& picture, std::int64_t wanted) override {
    const std::lock_guard lock(mutex_);
    return batch_.max_memory == 0 || memory_ - picture.memory + wanted <= batch_.max_memory;
  }

  void admit(Passage& picture, std::int64_t wanted, bool all) override {
    const std::lock_guard lock(mutex_);
    // The picture gives back what it has: the part that it asked for first, or what a device did
    // not take.
    memory_ -= std::exchange(picture.memory, 0);
    const std::int64_t most = batch_.max_memory;
    if (most > 0 && wanted > most) throw IoError(takes_too_much(picture.job.in, wanted, all, most));
    if (most > 0 && memory_ + wanted > most) throw Postponed();
    memory_ += picture.memory = wanted;
    if (!all) return;
    postponed_.erase(picture.number);
    if (std::exchange(picture.was_postponed, false)) is_trying_ = false;
    start_workers();
  }

  void before_commit(Passage& picture, const FileStamp& stamp) override {
    events_.before_commit(picture.outcome, stamp);
  }

  /// Whether enough pictures wait to keep every core busy with one of its own. One that has waited
  /// for memory shows that cores are idle.
  bool others_wait(const Passage& picture) {
    const std::lock_guard lock(mutex_);
    return !picture.was_postponed && jobs_.size() - next_ >= std::size_t(threads_);
  }

  // The stages of a picture.

  /// Says in the outcome why the work on a picture failed. Throws Postponed and Stopped, which are
  /// no failures.
  template <class Work>
  void attempt(Passage& picture, const Work& work) const {
    try {
      return work(picture);
    } catch (const std::exception& error) {
      PictureOutcome& outcome = picture.outcome;
      outcome.outcome = Outcome::failed;
      outcome.failure = std::current_exception();
      outcome.reason =
          batch_.selection.is_one ? error.what() : with_name(picture.job, error.what());
      if (dynamic_cast<const std::bad_alloc*>(&error))
        outcome.reason = quoted_name(picture.job.in) +
                         ": out of memory; --max-memory has fewer pictures under way";
      if (!dynamic_cast<const FileIsThere*>(&error)) return;
      outcome.reason = error.what();
      if (batch_.if_exists != IfExists::skip) return;
      outcome.outcome = Outcome::skipped;
      outcome.reason = "exists";
    }
  }

  void tell(Passage& picture) {
    const std::lock_guard lock(results_mutex_);
    events_.after(picture.outcome);
    if (!batch_.fail_fast || picture.outcome.outcome != Outcome::failed) return;
    ends_ = true;
    if (devices_) devices_->drop();
  }

  /// Filters a picture, or hands it to a device; then it is null, as where its result waits for the
  /// disk.
  void filter(PassagePtr& picture) {
    try {
      attempt(*picture, [&](Passage& passage) {
        events_.before(passage.outcome);
        passage.threads = others_wait(passage) ? 1 : threads_;
        if (hand_over(picture)) return;
        FileReport report = filter_on(passage, false);
        report.why_cpu = passage.why_cpu;
        passage.outcome.report = std::move(report);
        if (!commit_elsewhere(picture)) commit(passage);
      });
    } catch (const Stopped&) {
      return;
    }
    if (picture) tell(*picture);
  }

  /// A lane may compute on a device that fails, which never yields a picture.
  FileReport filter_on(Passage& passage, bool on_cpu) {
    std::unique_ptr<Lane> lane = lane_for_this(on_cpu);
    try {
      FileReport report = lane->filter(passage);
      keep(lane, on_cpu);
      return report;
    } catch (const DeviceError& error) {
      const std::optional<int> gpu = on_cpu ? std::nullopt : lane->gpu();
      if (!gpu || batch_.selection.is_one) throw;
      return filter_again(passage, *gpu, error);
    } catch (...) {
      // A picture that fails says nothing against the plans for the next ones.
      keep(lane, on_cpu);
      throw;
    }
  }

  FileReport filter_again(Passage& passage, int gpu, const DeviceError& error) {
    FileReport report;
    try {
      report = filter_on(passage, true);
    } catch (const UsageError&) {
      // The CPU has no such strategy.
      throw error;
    }
    if (dynamic_cast<const DeviceMemoryError*>(&error))
      report.warnings.push_back(passage.job.in + ": " + error.what() +
                                "; it was filtered on the CPU");
    else
      give_up(gpu, error.what());
    return report;
  }

  /// Gives the picture to a device where there is one that takes it; else says why, of a JPEG.
  bool hand_over(PassagePtr& picture) {
    if (!devices_ || picture->was_given_back) return false;
    if (!devices_->is_alive()) {
      if (stays_jpeg(picture->job, batch_.write)) picture->why_cpu = "no GPU is left";
      return false;
    }
    if (!open_for_device(*picture)) return false;
    go_elsewhere(1);
    try {
      devices_->take(picture);
    } catch (...) {
      // There is no memory to queue it, and nobody else ends it.
      go_elsewhere(-1);
      throw;
    }
    return true;
  }

  /// Whether somebody else commits the result while this thread takes the next picture.
  bool commit_elsewhere(PassagePtr& picture) {
    if (!committers_ || !picture->commit) return false;
    go_elsewhere(1);
    if (committers_->take(picture)) return true;
    go_elsewhere(-1);
    return false;
  }

  void go_elsewhere(int pictures) {
    const std::lock_guard lock(mutex_);
    elsewhere_ += pictures;
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

  // The ends of pictures that are in no worker's hands.

  /// Writes what a device has made. A lane calls it.
  void finish(PassagePtr picture, DeviceResult made, const std::string& device) override {
    end_elsewhere(std::move(picture), [&](Passage& passage) {
      if (made.failure) std::rethrow_exception(made.failure);
      passage.outcome.report = write_result(passage, made, device);
    });
  }

  /// Has a picture done on the CPU. A lane calls it.
  void take_back(PassagePtr picture) override {
    picture->reader.reset();
    picture->was_given_back = true;
    picture->why_cpu = "no GPU had a result for it";
    const std::lock_guard lock(mutex_);
    const std::int64_t memory = std::exchange(picture->memory, 0);
    returned_.push_back(std::move(picture));
    leave(memory);
  }

  template <class Work>
  void end_elsewhere(PassagePtr picture, const Work& work) {
    std::exception_ptr broken;
    try {
      attempt(*picture, work);
      tell(*picture);
    } catch (...) {
      broken = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    note_broken(broken);
    leave(picture->memory);
  }

  /// Needs the lock.
  void leave(std::int64_t memory) {
    memory_ -= memory;
    --elsewhere_;
    has_news_ = true;
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

  /// Needs the lock.
  void note_broken(const std::exception_ptr& broken) {
    if (!broken) return;
    if (!broken_) broken_ = broken;
    ends_ = true;
  }

  // Lanes.

  void keep(std::unique_ptr<Lane>& lane, bool on_cpu) {
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
    return crew_.make_lane(request);
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

  const std::vector<Job>& jobs_;
  const Batch& batch_;
  Crew& crew_;
  JobEvents& events_;
  const int threads_;
  std::optional<Arena> arena_;  ///< of several pictures
  oneapi::tbb::task_group workers_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::size_t next_ = 0;          ///< the first that is not begun
  std::size_t next_for_cpu_ = 0;  ///< where to look for the next that is none of devices'
  std::vector<bool> is_begun_;
  std::map<std::size_t, PassagePtr> postponed_;  ///< by number; null while a worker tries it
  std::vector<PassagePtr> returned_;             ///< by devices
  std::size_t elsewhere_ = 0;  ///< pictures in the hands of devices and committers
  bool has_news_ = false;      ///< whether one has left them since workers were started
  bool is_trying_ = false;     ///< whether somebody tries if the first postponed one fits
  int active_ = 0;             ///< workers
  std::int64_t memory_ = 0;    ///< of the pictures under way
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

std::vector<std::string> filter_jobs(const std::vector<Job>& jobs, const Batch& batch, Crew& crew,
                                     JobEvents& events) {
  return Schedule(jobs, batch, crew, events).run();
}

}  // namespace convfilt
