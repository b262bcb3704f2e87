/// Many jobs at once: each is done once, within the memory there may be, and failures stay alone.
#include "src/run/schedule.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/backend/device_errors.hpp"
#include "src/base/clock.hpp"
#include "src/base/errors.hpp"
#include "src/base/splitmix.hpp"

using namespace convfilt;

namespace {

std::vector<Job> jobs_of(int count) {
  std::vector<Job> jobs;
  for (int i = 0; i < count; ++i) jobs.push_back({std::to_string(i), std::to_string(i), ""});
  return jobs;
}

/// What a job takes in the test's world.
struct Work {
  std::int64_t memory = 0;
  bool fails = false;
  std::int64_t more_on_all = 0;  ///< beside `memory`, where it goes on all threads
};

/// Keeps books of what lanes do.
struct World : Crew {
  std::unique_ptr<Lane> make_lane(const LaneRequest& asked) override;

  std::vector<Work> work;
  std::int64_t limit = 0;
  /// What the device that was asked for does with a job; it may throw.
  std::function<void(int job)> on_device = [](int) {};
  std::set<int> refused_by_cpu;  ///< jobs
  std::vector<int> gpus{0};      ///< which lanes take in turn
  /// The same for each of several GPUs.
  std::function<void(int job, int gpu)> on_gpu = [](int, int) {};
  std::map<int, int> done_by_gpu;  ///< how many jobs
  /// Whether a job goes on until another has tried in vain to begin beside it, so that no test
  /// depends on how soon the system gives a thread its turn.
  bool is_crowded = false;
  std::atomic<int> postponed{0};
  /// Whether results are committed apart from filtering.
  bool commits_apart = false;
  std::atomic<int> committing{0}, most_committing{0};
  std::atomic<bool> has_failed{false};  ///< a job
  std::atomic<std::int64_t> in_use{0}, most_in_use{0};
  std::atomic<int> on_all{0}, lanes{0}, busy{0}, most_busy{0};
  std::mutex mutex;
  std::map<std::string, int> runs;
  std::vector<int> order;  ///< in which jobs were admitted
  std::set<int> done_on_cpu, tried_on_device;
};

class TestLane : public Lane {
 public:
  TestLane(World& world, const LaneRequest& asked) : world_(world) {
    const int number = world.lanes++;
    std::vector<int> left;
    for (const int gpu : world.gpus)
      if (!asked.failed.contains(gpu)) left.push_back(gpu);
    if (!asked.on_cpu && !left.empty()) gpu_ = left[std::size_t(number) % left.size()];
  }

  std::optional<int> gpu() const override { return gpu_; }

  FileReport filter(Passage& passage) override {
    REQUIRE_FALSE(is_busy_.exchange(true));  // one thread at a time has the lane
    struct Idle {
      std::atomic<bool>& flag;
      ~Idle() { flag = false; }
    } idle{is_busy_};
    const int number = std::stoi(passage.job.in);
    const Work& work = world_.work[std::size_t(number)];
    const bool on_all =
        passage.threads != 1 && passage.admission.has_room(passage, work.memory + work.more_on_all);
    const std::int64_t memory = work.memory + (on_all ? work.more_on_all : 0);
    const int postponed_before = world_.postponed;
    try {
      passage.admission.admit(passage, memory / 2, false);
      passage.admission.admit(passage, memory, true);
    } catch (...) {
      ++world_.postponed;
      throw;
    }
    if (gpu_) {
      {
        const std::lock_guard lock(world_.mutex);
        world_.tried_on_device.insert(number);
      }
      world_.on_device(number);
      world_.on_gpu(number, *gpu_);
    } else if (world_.refused_by_cpu.contains(number)) {
      throw UsageError("the CPU has no such strategy");
    }
    if (on_all) ++world_.on_all;
    raise(world_.most_in_use, world_.in_use += memory);
    raise(world_.most_busy, ++world_.busy);
    bool is_last = false;
    {
      const std::lock_guard lock(world_.mutex);
      ++world_.runs[passage.job.in];
      is_last = world_.runs.size() == world_.work.size();
      world_.order.push_back(number);
      if (gpu_)
        ++world_.done_by_gpu[*gpu_];
      else
        world_.done_on_cpu.insert(number);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    const auto patience = Clock::now() + std::chrono::seconds(2);
    while (world_.is_crowded && !is_last && world_.postponed == postponed_before &&
           Clock::now() < patience)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    const bool stops = passage.batch.is_stopped();
    --world_.busy;
    const auto end = [&world = world_, memory, in = passage.job.in, fails = work.fails] {
      raise(world.most_committing, ++world.committing);
      if (world.commits_apart) std::this_thread::sleep_for(std::chrono::microseconds(200));
      --world.committing;
      world.in_use -= memory;
      if (!fails) return;
      world.has_failed = true;
      throw IoError("job " + in + " fails");
    };
    if (stops) {
      world_.in_use -= memory;
      throw Stopped();
    }
    if (world_.commits_apart)
      passage.commit = end;
    else
      end();
    return {};
  }

 private:
  template <class Value>
  static void raise(std::atomic<Value>& most, Value value) {
    Value before = most;
    while (before < value && !most.compare_exchange_weak(before, value)) {
    }
  }

  World& world_;
  std::optional<int> gpu_;
  std::atomic<bool> is_busy_{false};
};

std::unique_ptr<Lane> World::make_lane(const LaneRequest& asked) {
  return std::make_unique<TestLane>(*this, asked);
}

/// Makes lanes of one kind.
struct Lanes : Crew {
  explicit Lanes(std::function<std::unique_ptr<Lane>()> maker) : make(std::move(maker)) {}
  std::unique_ptr<Lane> make_lane(const LaneRequest&) override { return make(); }
  std::function<std::unique_ptr<Lane>()> make;
};

/// Hears of outcomes alone.
struct Heard : JobEvents {
  explicit Heard(std::function<void(const PictureOutcome&)> function)
      : listener(std::move(function)) {}
  void after(const PictureOutcome& outcome) override { listener(outcome); }
  std::function<void(const PictureOutcome&)> listener;
};

Batch batch_on(int threads, std::int64_t max_memory = 0) {
  Batch batch;
  batch.convolver.request.threads = threads;
  batch.max_memory = max_memory;
  return batch;
}

struct Outcomes {
  int done = 0;
  std::vector<std::string> failures, warnings, devices_given_up;
};

Outcomes run(World& world, const std::vector<Job>& jobs, const Batch& batch) {
  Outcomes outcomes;
  Heard events([&](const PictureOutcome& outcome) {
    if (outcome.outcome == Outcome::filtered)
      ++outcomes.done;
    else
      outcomes.failures.push_back(outcome.reason);
    for (const std::string& warning : outcome.report.warnings) outcomes.warnings.push_back(warning);
  });
  outcomes.devices_given_up = filter_jobs(jobs, batch, world, events);
  return outcomes;
}

}  // namespace

TEST_CASE("each job is done once, whatever memory jobs take, and never more than there is") {
  for (const int threads : {1, 2, 3, 8}) {
    for (int seed = 0; seed < 16; ++seed) {
      CAPTURE(threads);
      CAPTURE(seed);
      SplitMix random(std::uint64_t(seed) * 100 + std::uint64_t(threads));
      World world;
      world.commits_apart = seed % 2 == 1;
      for (int i = 0; i < 120; ++i)
        // Most are small, some take nearly all, and some take exactly all.
        world.work.push_back({random.below(10) ? random.below(20) : 90 + random.below(11), false});
      // Others commit only where memory has no limit.
      const Batch batch = batch_on(threads, world.commits_apart ? 0 : 100);
      const std::vector<Job> jobs = jobs_of(120);
      const Outcomes outcomes = run(world, jobs, batch);
      CHECK(outcomes.done == 120);
      if (!world.commits_apart) CHECK(world.most_in_use <= 100);
      CHECK(world.most_busy <= threads);
      CHECK(world.lanes <= threads);
      CHECK(world.in_use == 0);
      // A worker that finds all of these busy commits itself.
      CHECK(world.most_committing <= 2 * threads);
      for (const auto& [name, times] : world.runs) REQUIRE(times == 1);
      CHECK(world.runs.size() == 120);
    }
  }
}

TEST_CASE("a job takes idle threads where there is memory for them") {
  const Batch batch = batch_on(4, 100);
  for (const std::int64_t more : {0, 20, 21}) {
    World world;
    world.work = {{80, false, more}};
    CHECK(run(world, jobs_of(1), batch).done == 1);
    CHECK(world.on_all == (more <= 20));
    CHECK(world.most_in_use <= 100);
  }
  // Memory lets only one of these run at a time, so that those that waited take all threads.
  World world;
  world.work.assign(20, {60, false, 10});
  world.is_crowded = true;
  CHECK(run(world, jobs_of(20), batch).done == 20);
  CHECK(world.on_all.load() > 2 * batch.convolver.request.threads);
  CHECK(world.most_in_use <= 100);
}

TEST_CASE("small jobs do not hold back a large one") {
  World world;
  world.work.assign(200, {10, false});
  world.work[50].memory = 100;
  // However late the system gives the large one's worker a turn, those behind wait until it has
  // found no room. The run hears of that a moment later.
  std::atomic<bool> has_begun{false};
  world.on_device = [&](int job) {
    if (job == 50) has_begun = true;
    if (job <= 50 || has_begun) return;
    for (int i = 0; i < 100'000 && world.postponed == 0; ++i)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  const Batch batch = batch_on(4, 100);
  run(world, jobs_of(200), batch);
  const auto large = std::find(world.order.begin(), world.order.end(), 50) - world.order.begin();
  // Only jobs that were in other hands already may come before it.
  CHECK(large < 50 + batch.convolver.request.threads);
}

TEST_CASE("a worker that finds nothing but a job that another tries is there for the next jobs") {
  constexpr std::size_t kLarge = 8, kSmall = 2;
  struct World {
    std::atomic<std::size_t> small{0};
    std::atomic<bool> is_alone{false};
  } world;
  struct TryingLane : Lane {
    explicit TryingLane(World& all) : world(all) {}
    FileReport filter(Passage& passage) override {
      const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
      const bool is_large = passage.outcome.number < kLarge;
      pause();  // the other worker looks for a job meanwhile
      passage.admission.admit(passage, is_large ? 60 : 10, true);
      pause();
      if (is_large) return {};
      ++world.small;
      for (int i = 0; i < 30'000 && world.small < kSmall; ++i) pause();
      if (world.small < kSmall) world.is_alone = true;
      return {};
    }
    World& world;
  };
  Lanes lanes([&world] { return std::make_unique<TryingLane>(world); });
  Heard events([](const PictureOutcome&) {});
  filter_jobs(jobs_of(kLarge + kSmall), batch_on(kSmall, 100), lanes, events);
  CHECK(world.small == kSmall);
  CHECK_FALSE(world.is_alone);
}

TEST_CASE("a job that takes more than there is fails, and ends no other") {
  World world;
  world.work.assign(20, {10, false});
  world.work[7].memory = 101;
  const Batch batch = batch_on(3, 100);
  const Outcomes outcomes = run(world, jobs_of(20), batch);
  CHECK(outcomes.done == 19);
  REQUIRE(outcomes.failures.size() == 1);
  CHECK(outcomes.failures[0].find("--max-memory") != std::string::npos);
}

TEST_CASE("failures end no other, unless asked") {
  for (const bool commits_apart : {false, true}) {
    CAPTURE(commits_apart);
    World world;
    world.commits_apart = commits_apart;
    world.work.assign(400, {1, false});
    for (const std::size_t i : {3u, 100u, 399u}) world.work[i].fails = true;
    Batch batch = batch_on(2);
    Outcomes outcomes = run(world, jobs_of(400), batch);
    CHECK(outcomes.done == 397);
    CHECK(outcomes.failures.size() == 3);
    World again;
    again.commits_apart = commits_apart;
    again.work.assign(400, {1, false});
    again.work[3].fails = true;
    // However late the system gives the one that fails its turn, most begin after it.
    again.on_device = [&again](int job) {
      for (int i = 0; i < 100'000 && job >= 50 && !again.has_failed; ++i)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    };
    batch.fail_fast = true;
    outcomes = run(again, jobs_of(400), batch);
    CHECK(outcomes.failures.size() == 1);
    CHECK(again.runs.size() < 100);
  }
}

TEST_CASE("while a result waits for the disk, its core takes the next picture") {
  // A commit holds its file open as long as it lives.
  class OpenFiles {
   public:
    std::shared_ptr<int> open(const std::string& name) {
      const std::lock_guard lock(mutex_);
      const auto file = std::make_shared<int>();
      files_[name] = file;
      return file;
    }
    bool is_closed(const std::string& name) {
      const std::lock_guard lock(mutex_);
      return files_.at(name).expired();
    }

   private:
    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<int>> files_;
  };
  // A disk that is done with the first picture when another has begun, or after a while, which is
  // long where another is to begin.
  class SlowDisk : public Lane {
   public:
    SlowDisk(std::atomic<int>& begun, std::atomic<int>& overtaken, OpenFiles& files,
             Clock::duration patience)
        : begun_(begun), overtaken_(overtaken), files_(files), patience_(patience) {}
    FileReport filter(Passage& passage) override {
      passage.admission.admit(passage, 10, true);
      const int before = ++begun_;
      passage.commit = [&begun = begun_, &overtaken = overtaken_, before, patience = patience_,
                        file = files_.open(passage.job.in)] {
        const auto end = Clock::now() + patience;
        while (before == 1 && begun == before && Clock::now() < end)
          std::this_thread::sleep_for(std::chrono::microseconds(100));
        if (begun > before) ++overtaken;
      };
      return {};
    }
    std::atomic<int>&begun_, &overtaken_;
    OpenFiles& files_;
    Clock::duration patience_;
  };
  for (const std::int64_t most : {0, 1000}) {
    CAPTURE(most);
    std::atomic<int> begun{0}, overtaken{0};
    std::set<std::string> done;
    OpenFiles files;
    Heard events([&](const PictureOutcome& result) {
      CHECK(result.outcome == Outcome::filtered);
      CHECK(files.is_closed(result.job->in));
      CHECK(done.insert(result.job->in).second);
    });
    Batch batch = batch_on(1);
    batch.max_memory = most;
    const std::chrono::milliseconds patience(most == 0 ? 30'000 : 500);
    Lanes lanes([&] { return std::make_unique<SlowDisk>(begun, overtaken, files, patience); });
    filter_jobs(jobs_of(2), batch, lanes, events);
    CHECK(done.size() == 2);
    // What waits takes memory that no limit foresees.
    CHECK(overtaken == (most == 0 ? 1 : 0));
  }
}

TEST_CASE("results that wait for the disk are as many as threads that wait with them") {
  constexpr int kThreads = 3;
  std::atomic<int> begun{0};
  std::atomic<bool> is_free{false};
  class StuckDisk : public Lane {
   public:
    StuckDisk(std::atomic<int>& begun, std::atomic<bool>& is_free)
        : begun_(begun), is_free_(is_free) {}
    FileReport filter(Passage& passage) override {
      ++begun_;
      passage.commit = [&is_free = is_free_] { is_free.wait(false); };
      return {};
    }
    std::atomic<int>& begun_;
    std::atomic<bool>& is_free_;
  };
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    // Each worker has one in hand, and as many are with those that commit as wait for them.
    CHECK(begun <= 3 * kThreads);
    is_free = true;
    is_free.notify_all();
  });
  int done = 0;
  Heard events([&](const PictureOutcome&) { ++done; });
  Batch batch = batch_on(kThreads);
  Lanes lanes([&] { return std::make_unique<StuckDisk>(begun, is_free); });
  filter_jobs(jobs_of(50), batch, lanes, events);
  later.join();
  CHECK(done == 50);
}

TEST_CASE("a stop drops what is under way and begins nothing") {
  for (const bool commits_apart : {false, true}) {
    CAPTURE(commits_apart);
    World world;
    world.commits_apart = commits_apart;
    constexpr int kJobs = 2000;
    world.work.assign(kJobs, {1, false});
    std::atomic<bool> stop{false};
    // However late the system gives the thread that stops all its turn, it comes before the end.
    world.on_device = [&stop](int job) {
      while (job >= kJobs / 2 && !stop) std::this_thread::sleep_for(std::chrono::microseconds(100));
    };
    Batch batch = batch_on(2);
    batch.stop = &stop;
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      stop = true;
    });
    const Outcomes outcomes = run(world, jobs_of(kJobs), batch);
    later.join();
    CHECK(outcomes.failures.empty());
    CHECK(outcomes.done < kJobs);
    // What waited for the disk is there.
    CHECK(int(world.runs.size()) - outcomes.done <= batch.convolver.request.threads);
    CHECK(world.in_use == 0);
  }
}

TEST_CASE("what a listener throws comes out when all that was begun has ended") {
  World world;
  world.work.assign(50, {1, false});
  Batch batch = batch_on(4);
  Heard events([&](const PictureOutcome&) { throw IoError("the disk is full"); });
  const std::vector<Job> jobs = jobs_of(50);
  CHECK_THROWS_AS(filter_jobs(jobs, batch, world, events), IoError);
  CHECK(world.busy == 0);
  CHECK(int(world.runs.size()) <= 2 * batch.convolver.request.threads);
}

TEST_CASE(
    "what a listener throws of a result that waited for the disk comes out after a stop, too") {
  std::atomic<bool> stop{false};
  class LateLane : public Lane {
   public:
    explicit LateLane(std::atomic<bool>& stop) : stop_(stop) {}
    FileReport filter(Passage& passage) override {
      stop_ = true;
      passage.commit = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
      return {};
    }
    std::atomic<bool>& stop_;
  };
  Heard events([](const PictureOutcome&) { throw IoError("the disk is full"); });
  Batch batch = batch_on(1);
  batch.stop = &stop;
  const std::vector<Job> jobs = jobs_of(2);  // the only one would be committed by its worker
  Lanes lanes([&] { return std::make_unique<LateLane>(stop); });
  CHECK_THROWS_AS(filter_jobs(jobs, batch, lanes, events), IoError);
}

TEST_CASE("what a device that fails has begun is done again on the CPU, and so is all after it") {
  World world;
  world.work.assign(60, {30, false});
  std::atomic<bool> is_broken{false};
  world.on_device = [&](int job) {
    if (job == 20) is_broken = true;
    // However late the system gives that one's worker a turn, others come after it.
    for (int i = 0; i < 100'000 && job > 20 && !is_broken; ++i)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    // Each call fails from then on, whoever makes it.
    if (is_broken) throw DeviceError("an illegal address");
  };
  Batch batch = batch_on(3);
  for (const std::int64_t most : {0, 100}) {
    is_broken = false;
    batch.max_memory = most;
    World fresh;
    fresh.work = world.work;
    fresh.on_device = world.on_device;
    const Outcomes outcomes = run(fresh, jobs_of(60), batch);
    CHECK(outcomes.done == 60);
    for (const auto& [name, times] : fresh.runs) REQUIRE(times == 1);
    CHECK(outcomes.devices_given_up == std::vector<std::string>{"cuda:0: an illegal address"});
    CHECK(fresh.done_on_cpu.contains(20));
    CHECK(fresh.done_on_cpu.contains(59));
    // Pictures that were in other hands may meet the failure, too.
    CHECK(fresh.tried_on_device.size() <= 21 + 2 * 3);
    if (most > 0) CHECK(fresh.most_in_use <= most);
  }
}

TEST_CASE("a GPU that fails leaves the work to the others") {
  World world;
  world.work.assign(90, {30, false});
  world.gpus = {0, 2, 3};
  std::atomic<int> tried_on_2{0};
  std::atomic<bool> is_broken{false};
  world.on_gpu = [&](int job, int gpu) {
    if (job >= 20 && gpu == 2) is_broken = true;
    // However late the system gives its thread a turn, GPU 2 gets one of these.
    for (int i = 0; i < 100'000 && job >= 20 && !is_broken; ++i)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (gpu != 2 || !is_broken) return;
    ++tried_on_2;
    throw DeviceError("an illegal address");
  };
  Batch batch = batch_on(6);
  const Outcomes outcomes = run(world, jobs_of(90), batch);
  CHECK(outcomes.done == 90);
  for (const auto& [name, times] : world.runs) REQUIRE(times == 1);
  CHECK(outcomes.devices_given_up == std::vector<std::string>{"cuda:2: an illegal address"});
  // Others may have begun on it before it is given up, each once.
  CHECK(int(world.done_on_cpu.size()) == tried_on_2);
  CHECK(tried_on_2 >= 1);
  CHECK(tried_on_2 <= batch.convolver.request.threads);
  CHECK(world.done_by_gpu[0] + world.done_by_gpu[3] >= 60);
}

TEST_CASE("a picture too large for a device's memory is the CPU's alone") {
  World world;
  world.work.assign(30, {1, false});
  world.on_device = [](int job) {
    if (job % 10 == 5) throw DeviceMemoryError("too little memory");
  };
  Batch batch = batch_on(2);
  const Outcomes outcomes = run(world, jobs_of(30), batch);
  CHECK(outcomes.done == 30);
  CHECK(outcomes.devices_given_up.empty());
  CHECK(world.done_on_cpu == std::set<int>{5, 15, 25});
  REQUIRE(outcomes.warnings.size() == 3);
  CHECK(outcomes.warnings[0].find("too little memory") != std::string::npos);
}

TEST_CASE("a limit of memory leaves room for what each thread keeps") {
  constexpr std::int64_t kMebibyte = 1 << 20;
  CHECK(threads_within(0, 64) == 64);
  CHECK(threads_within(1, 64) == 1);
  CHECK(threads_within(64 * kMebibyte, 64) == 3);
  CHECK(threads_within(64 * kMebibyte, 2) == 2);
  CHECK(threads_within(4096 * kMebibyte, 64) == 64);
}

TEST_CASE("a picture that fails leaves its lane to the next") {
  Batch batch = batch_on(1);
  int lanes = 0, failed = 0;
  class FailingLane : public Lane {
   public:
    FileReport filter(Passage&) override { throw IoError("it cannot be read"); }
  };
  Heard events([&](const PictureOutcome& result) { failed += result.outcome == Outcome::failed; });
  Lanes made([&] {
    ++lanes;
    return std::make_unique<FailingLane>();
  });
  filter_jobs(jobs_of(5), batch, made, events);
  CHECK(failed == 5);
  CHECK(lanes == 1);
}

TEST_CASE("where the CPU cannot do it, what is told is the device's failure") {
  World world;
  world.work.assign(4, {1, false});
  world.on_device = [](int) { throw DeviceError("the device has failed"); };
  world.refused_by_cpu = {0, 1, 2, 3};
  Batch batch = batch_on(2);
  const Outcomes outcomes = run(world, jobs_of(4), batch);
  REQUIRE(outcomes.failures.size() == 4);
  for (const std::string& failure : outcomes.failures)
    CHECK(failure.ends_with("': the device has failed"));
  CHECK(outcomes.devices_given_up.empty());
}

TEST_CASE("a GPU that fails is given up, even if the CPU fails on the picture, too") {
  World world;
  world.work.assign(12, {1, true});
  world.on_device = [](int) { throw DeviceError("an illegal address"); };
  Batch batch = batch_on(2);
  const Outcomes outcomes = run(world, jobs_of(12), batch);
  CHECK(outcomes.failures.size() == 12);
  CHECK(outcomes.devices_given_up == std::vector<std::string>{"cuda:0: an illegal address"});
  // Each of two threads may have a picture on the device when it fails.
  CHECK(world.tried_on_device.size() <= 2);
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE(
    "a picture gets the memory that the one before it gave back, which the kernel need not clear") {
  static constexpr int kJobs = 200, kBuffers = 16;
  static constexpr std::size_t kBytes = 512 << 10, kPage = 4096;
  class BufferLane : public Lane {
   public:
    FileReport filter(Passage&) override {
      std::vector<std::vector<char>> buffers;
      for (int i = 0; i < kBuffers; ++i) buffers.emplace_back(kBytes, char(i));
      return {};
    }
  };
  const auto pages_cleared = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt;
  };
  Batch batch = batch_on(2);
  Heard events([](const PictureOutcome&) {});
  const long before = pages_cleared();
  Lanes lanes([] { return std::make_unique<BufferLane>(); });
  filter_jobs(jobs_of(kJobs), batch, lanes, events);
  // A thread clears them once; with each picture it would be some 100 times as many.
  CHECK(pages_cleared() - before < long(20 * kBuffers * kBytes / kPage));
}
#endif
