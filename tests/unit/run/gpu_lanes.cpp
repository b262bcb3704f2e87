/// Pictures on devices beside those on the CPU: each is done once, where it can be done, whatever
/// devices do.
#include "src/run/schedule.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kernels/backend/device_errors.hpp"
#include "src/base/errors.hpp"
#include "src/run/device_pictures.hpp"
#include "tests/support/files/picture.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

constexpr int kPictures = 90;

/// Every tenth is progressive, which devices do not take, and every eleventh is cut.
bool is_progressive(int i) {
  return i % 10 == 3;
}
bool is_cut(int i) {
  return i % 11 == 5;
}
bool is_for_devices(int i) {
  return !is_progressive(i) && !is_cut(i);
}
int width_of(int i) {
  return 17 + i;
}

/// Small JPEGs, whose widths tell them apart.
struct Photos {
  Photos() {
    for (int i = 0; i < kPictures; ++i) {
      const std::string name = std::to_string(i) + ".jpg";
      WriteOptions options;
      options.progressive = is_progressive(i);
      write_image(folder / ("in_" + name), pattern(width_of(i), 40, 3, Depth::u8), options,
                  nullptr);
      if (is_cut(i)) {
        Bytes bytes = load(folder / ("in_" + name));
        bytes.resize(bytes.size() * 2 / 3);
        save(folder / ("in_" + name), bytes);
      }
      jobs.push_back({folder / ("in_" + name), name, folder / ("out_" + name)});
    }
  }

  explicit Photos(const std::vector<std::string>& pictures) {
    for (const std::string& picture : pictures) {
      const std::string name = std::to_string(jobs.size()) + ".jpg";
      jobs.push_back({picture, name, folder / ("out_" + name)});
    }
  }

  TemporaryFolder folder;
  std::vector<Job> jobs;
};

/// What a test's devices do.
struct World {
  std::int64_t most_pixels = 1 << 30;  ///< above, memory is short
  int fails_after = 1 << 30;           ///< batches of all devices together
  std::function<bool(int width, std::size_t batch)> has_result = [](int, std::size_t) {
    return true;
  };
  std::function<bool(int width)> spoils_batch = [](int) { return false; };
  std::function<void()> on_batch = [] {};
  std::function<void()> on_making = [] {};                 ///< may throw
  std::function<void(int width)> on_picture = [](int) {};  ///< may throw
  std::function<void()> on_cpu_picture = [] {};

  std::atomic<int> batches{0}, largest{0}, too_large{0};
  std::atomic<int> ended{0};  ///< pictures, wherever they were
  std::atomic<int> tries{0};  ///< to begin a picture
  std::atomic<int> tries_before_batches{-1};
  std::mutex mutex;
  std::set<int> on_devices, on_cpu;  ///< widths
  std::vector<int> sizes;            ///< of batches that memory sufficed for
};

/// Gives back the file that it gets.
class TestDevice : public BatchDevice {
 public:
  explicit TestDevice(World& world) : world_(world) { world.on_making(); }

  std::string name() const override { return "test"; }

  std::vector<DeviceResult> run(std::span<const PassagePtr> jobs) override {
    REQUIRE_FALSE(is_busy_.exchange(true));  // one thread at a time has the device
    struct Idle {
      std::atomic<bool>& flag;
      ~Idle() { flag = false; }
    } idle{is_busy_};
    world_.on_batch();
    if (++world_.batches > world_.fails_after) throw DeviceError("the device has failed");
    std::int64_t pixels = 0;
    for (const PassagePtr& job : jobs)
      pixels += std::int64_t{job->reader->header().width} * job->reader->header().height;
    if (pixels > world_.most_pixels) {
      ++world_.too_large;
      throw DeviceMemoryError("too little memory");
    }
    const std::lock_guard lock(world_.mutex);
    world_.largest = std::max(int(world_.largest), int(jobs.size()));
    world_.sizes.push_back(int(jobs.size()));
    std::vector<DeviceResult> results(jobs.size());
    if (std::ranges::any_of(jobs, [&](const PassagePtr& job) {
          return world_.spoils_batch(job->reader->header().width);
        }))
      return results;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Header& header = jobs[i]->reader->header();
      world_.on_picture(header.width);
      if (!world_.has_result(header.width, jobs.size())) continue;
      const auto bytes = jobs[i]->reader->file();
      results[i].file.assign(bytes.begin(), bytes.end());
      results[i].shape = {header.width, header.height, header.channels, header.depth};
    }
    return results;
  }

 private:
  World& world_;
  std::atomic<bool> is_busy_{false};
};

class CpuLane : public Lane {
 public:
  explicit CpuLane(World& world) : world_(world) {}

  FileReport filter(Passage& passage) override {
    FileReport report;
    world_.on_cpu_picture();
    const Picture picture = read_picture(passage.job.in, passage.batch.read, nullptr);
    report.header = picture.header;
    write_picture(passage.job.out, picture.image, picture.header, passage.batch.write, nullptr);
    const std::lock_guard lock(world_.mutex);
    world_.on_cpu.insert(picture.header.width);
    return report;
  }

 private:
  World& world_;
};

/// Devices of a test, and lanes of cores beside them.
struct TestCrew : Crew {
  TestCrew(World& all, std::size_t devices) : world(all), count(devices) {}
  std::unique_ptr<Lane> make_lane(const LaneRequest&) override {
    return std::make_unique<CpuLane>(world);
  }
  std::size_t device_lanes() const override { return count; }
  std::unique_ptr<BatchDevice> make_device(std::size_t) override {
    return std::make_unique<TestDevice>(world);
  }
  World& world;
  std::size_t count;
};

struct Outcomes {
  std::map<std::string, int> done, failed;       ///< how often, by name
  std::set<std::string> messages;                ///< of those that failed
  std::map<std::string, std::set<int>> why_cpu;  ///< widths of those done on the CPU, by the reason
  int by_devices = 0;
  std::vector<std::string> devices_given_up;
};

Outcomes run(
    const Photos& photos, World& world, std::size_t lanes = 2, Batch batch = {},
    const std::function<void()>& on_result = [] {}, const LaneLimits& limits = {}) {
  struct Events : JobEvents {
    Events(World& all, const std::function<void()>& function) : world(all), on_result(function) {}
    void before(PictureOutcome&) override { ++world.tries; }
    void after(const PictureOutcome& outcome) override {
      on_result();
      ++world.ended;
      const bool is_done = outcome.outcome == Outcome::filtered;
      const FileReport& report = outcome.report;
      ++(is_done ? outcomes.done : outcomes.failed)[outcome.job->name];
      if (!is_done)
        outcomes.messages.insert(outcome.reason);
      else if (report.codec == "cpu")
        outcomes.why_cpu[report.why_cpu].insert(report.header.width);
      else
        world.on_devices.insert(report.header.width), ++outcomes.by_devices;
    }
    World& world;
    const std::function<void()>& on_result;
    Outcomes outcomes;
  };
  // What an earlier run has left would pass for a result.
  for (const Job& job : photos.jobs) std::filesystem::remove(job.out);
  world.ended = 0;
  Events events(world, on_result);
  if (batch.convolver.request.threads == 0) batch.convolver.request.threads = 4;
  TestCrew crew(world, lanes);
  events.outcomes.devices_given_up = filter_jobs(photos.jobs, batch, crew, events, limits);
  return events.outcomes;
}

/// Each job has come to one end, and what was done lies there.
void check_complete(const Photos& photos, const Outcomes& outcomes,
                    const std::function<bool(int)>& fails = is_cut) {
  for (int i = 0; i < kPictures; ++i) {
    CAPTURE(i);
    const Job& job = photos.jobs[std::size_t(i)];
    const auto times = [&](const std::map<std::string, int>& all) {
      const auto found = all.find(job.name);
      return found == all.end() ? 0 : found->second;
    };
    REQUIRE(times(outcomes.done) == (fails(i) ? 0 : 1));
    REQUIRE(times(outcomes.failed) == (fails(i) ? 1 : 0));
    if (fails(i))
      REQUIRE_FALSE(stamp_of(job.out));
    else
      REQUIRE(read_image(job.out, {}, nullptr).width() == width_of(i));
  }
}

/// Opens a picture for a device, as one that becomes a JPEG.
struct Opened : Admission, JobEvents {
  explicit Opened(const std::string& picture, std::int64_t most = 0)
      : job{picture, "", "out.jpg"}, passage(batch, job, *this, *this) {
    batch.max_memory = most;
    is_for_devices = open_for_device(passage);
  }
  void admit(Passage&, std::int64_t bytes, bool) override { memory = bytes; }

  Batch batch;
  Job job;
  std::int64_t memory = 0;
  bool is_for_devices = false;
  Passage passage;
};

/// Host memory of a picture for a device; 0 where it is none for a device that may take so much.
std::int64_t device_memory(const std::string& picture, std::int64_t most = 0) {
  const Opened opened(picture, most);
  return opened.is_for_devices ? opened.memory : 0;
}

/// Waits for what would never come where something is wrong; says whether it has come.
bool comes(const std::function<bool()>& condition) {
  for (int i = 0; i < 30'000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

/// Has lanes take pictures. Before the first batch begins, as many wait as lanes have room for,
/// `least` of them.
Outcomes run_lanes(World& world, const std::vector<std::string>& pictures,
                   const LaneLimits& limits = {.most_waiting = 10'000}, std::size_t lanes = 1,
                   int threads = 4, int least = 0) {
  world.on_making = [&] {
    comes([&] { return world.tries >= least; });
    // No picture begins any more, since each has begun or workers wait for room.
    for (int before = -1; world.tries != before;) {
      before = world.tries;
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
    }
    int unknown = -1;
    world.tries_before_batches.compare_exchange_strong(unknown, world.tries);
  };
  Batch batch;
  batch.convolver.request.threads = threads;
  return run(
      Photos(pictures), world, lanes, batch, [] {}, limits);
}

std::string jpeg_of(const TemporaryFolder& folder, int width, int height) {
  const std::string path = folder / (std::to_string(width) + ".jpg");
  write_image(path, pattern(width, height, 3, Depth::u8), {}, nullptr);
  return path;
}

std::set<int> widths_where(const std::function<bool(int)>& wanted) {
  std::set<int> widths;
  for (int i = 0; i < kPictures; ++i)
    if (wanted(i)) widths.insert(width_of(i));
  return widths;
}

}  // namespace

TEST_CASE("devices get whole plain JPEGs, and the CPU gets the rest") {
  const Photos photos;
  for (const int lanes : {1, 3}) {
    World world;
    const Outcomes outcomes = run(photos, world, lanes);
    check_complete(photos, outcomes);
    CHECK(world.on_devices == widths_where(is_for_devices));
    CHECK(world.on_cpu == widths_where(is_progressive));
    CHECK(outcomes.devices_given_up.empty());
  }
}

TEST_CASE("pictures that wait for a device have no file open") {
  const Photos photos;
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_files();
  std::vector<std::unique_ptr<Opened>> waiting;
  for (std::size_t i = 0; i < photos.jobs.size(); ++i) {
    if (!is_for_devices(int(i))) continue;
    waiting.push_back(std::make_unique<Opened>(photos.jobs[i].in));
    REQUIRE(waiting.back()->is_for_devices);
  }
  CHECK(open_files() == before);
  // What reads them later finds the same bytes.
  const Passage& passage = waiting.front()->passage;
  CHECK(same(read_all(*passage.reader).image, read_image(passage.job.in, {}, nullptr)));
}

TEST_CASE("a run on devices may have more files open, as far as may be, and never fewer") {
  const Photos photos;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlim_t many = std::min<rlim_t>(5000, before.rlim_max);
  const auto limit_after = [&](rlim_t limit) {
    rlimit now = before;
    now.rlim_cur = limit;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &now) == 0);
    World world;
    const Outcomes outcomes = run(photos, world);
    REQUIRE(getrlimit(RLIMIT_NOFILE, &now) == 0);
    setrlimit(RLIMIT_NOFILE, &before);
    check_complete(photos, outcomes);
    return now.rlim_cur;
  };
  CHECK(limit_after(120) >= 400);
  CHECK(limit_after(many) == many);
  // Only a process of its own can give up its right to more.
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit low{120, 200};
    ::setrlimit(RLIMIT_NOFILE, &low);
    World world;
    run(photos, world);
    rlimit after{};
    ::getrlimit(RLIMIT_NOFILE, &after);
    ::_exit(after.rlim_cur == 200 ? 0 : 1);
  }
  int status = 1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("another format, or a progressive result, is the CPU's") {
  const Photos photos;
  World world;
  Batch batch;
  batch.write.progressive = true;
  run(photos, world, 2, batch);
  CHECK(world.on_devices.empty());
  batch.write = {};
  batch.read.loader = Loader::opencv;
  World other;
  run(photos, other, 2, batch);
  CHECK(other.on_devices.empty());
}

TEST_CASE("where memory is short, batches get smaller, and a picture too large goes to the CPU") {
  const Photos photos;
  World world;
  // Pictures have 40 rows, and the last of them alone are too large.
  world.most_pixels = 40 * 100;
  const Outcomes outcomes = run(photos, world);
  check_complete(photos, outcomes);
  CHECK(world.on_devices ==
        widths_where([](int i) { return is_for_devices(i) && width_of(i) <= 100; }));
  CHECK(world.largest <= 100 / 17);
  CHECK(outcomes.devices_given_up.empty());
}

TEST_CASE("a picture that fails among others is tried alone before the CPU gets it") {
  const Photos photos;
  World world;
  world.has_result = [](int width, std::size_t batch) {
    return width % 7 != 0 && (width % 3 != 0 || batch == 1);
  };
  const Outcomes outcomes = run(photos, world);
  check_complete(photos, outcomes);
  CHECK(world.on_devices ==
        widths_where([](int i) { return is_for_devices(i) && width_of(i) % 7 != 0; }));
}

TEST_CASE("a picture too large for a device does not part the others") {
  const TemporaryFolder folder;
  std::vector<std::string> pictures(200, jpeg_of(folder, 40, 40));
  pictures[20] = jpeg_of(folder, 400, 400);
  World world;
  world.most_pixels = 400 * 400 - 1;
  CHECK(run_lanes(world, pictures).by_devices == 199);
  // The first batch is the one with the large picture, and the others are whole batches again.
  CHECK(std::ranges::count_if(world.sizes, [](int size) { return size >= 45; }) >= 2);
  CHECK(world.batches <= 15 + 4);
}

TEST_CASE("a batch too large for a device is not tried over and over") {
  const TemporaryFolder folder;
  World world;
  world.most_pixels = 5 * 40 * 40;
  const std::vector<std::string> pictures(300, jpeg_of(folder, 40, 40));
  CHECK(run_lanes(world, pictures).by_devices == 300);
  // The first batch of 128 is parted 31 times.
  CHECK(world.too_large < 31 + 20);
}

TEST_CASE("when there is memory again, batches grow again") {
  const TemporaryFolder folder;
  const std::vector<std::string> pictures(900, jpeg_of(folder, 40, 40));
  World world;
  world.most_pixels = 5 * 40 * 40;
  world.on_batch = [&] {
    if (world.batches > 40) world.most_pixels = 1 << 30;
  };
  CHECK(run_lanes(world, pictures).by_devices == 900);
  CHECK(world.sizes.front() <= 5);
  CHECK(world.largest >= 30);
}

TEST_CASE("a picture that spoils its batch is found by halves") {
  const TemporaryFolder folder;
  std::vector<std::string> pictures(64, jpeg_of(folder, 40, 40));
  pictures[20] = jpeg_of(folder, 41, 40);
  World world;
  world.spoils_batch = [](int width) { return width == 41; };
  CHECK(run_lanes(world, pictures).by_devices == 63);
  CHECK(world.on_cpu == std::set<int>{41});
  CHECK(world.batches <= 13 + 2);
}

TEST_CASE("a device that fails yields nothing, and the CPU does its pictures") {
  const Photos photos;
  for (const int batches : {0, 1, 2, 3, 7}) {
    CAPTURE(batches);
    World world;
    world.fails_after = batches;
    world.has_result = [](int width, std::size_t batch) { return width % 7 != 0 || batch == 1; };
    world.most_pixels = 40 * 400;
    const Outcomes outcomes = run(photos, world);
    check_complete(photos, outcomes);
    REQUIRE(outcomes.devices_given_up.size() == 1);
    CHECK(outcomes.devices_given_up.front() == "test: the device has failed");
    if (batches == 0) CHECK(world.on_devices.empty());
  }
  World world;
  world.on_making = [] { throw DeviceError("there is no device"); };
  const Outcomes outcomes = run(photos, world);
  check_complete(photos, outcomes);
  CHECK(outcomes.devices_given_up == std::vector<std::string>{"there is no device"});
}

TEST_CASE("what a device made of a batch's first half does not count where the second fails") {
  const TemporaryFolder folder;
  World world;
  world.most_pixels = 2 * 40 * 40;
  // The device fails once it has made a part of a batch that is too large.
  std::size_t whole = 0;  // pictures of the batches before that
  world.on_batch = [&] {
    std::size_t made = 0;
    for (const int size : world.sizes) made += std::size_t(size);
    if (world.too_large == 0)
      whole = made;
    else if (made > whole)
      throw DeviceError("the device has failed");
  };
  const std::vector<std::string> pictures(200, jpeg_of(folder, 40, 40));
  const Outcomes outcomes = run_lanes(world, pictures);
  CHECK(world.too_large > 0);
  CHECK(outcomes.by_devices == int(whole));
  CHECK(outcomes.done.size() == 200);
}

TEST_CASE("what is thrown for a picture on a device is that picture's failure") {
  const Photos photos;
  const auto fails_on_devices = [](int i) { return is_for_devices(i) && width_of(i) % 13 == 0; };
  World world;
  world.on_picture = [](int width) {
    if (width % 13 == 0) throw std::runtime_error("width " + std::to_string(width));
  };
  Outcomes outcomes = run(photos, world);
  check_complete(photos, outcomes, [&](int i) { return is_cut(i) || fails_on_devices(i); });
  CHECK(outcomes.devices_given_up.empty());
  CHECK(std::ranges::any_of(outcomes.messages, [](const std::string& message) {
    return message.ends_with("9.jpg': width 26");
  }));
  CHECK(world.on_devices ==
        widths_where([&](int i) { return is_for_devices(i) && !fails_on_devices(i); }));

  World short_of_memory;
  short_of_memory.on_picture = [](int width) {
    if (width == 26) throw std::bad_alloc();
  };
  outcomes = run(photos, short_of_memory);
  CHECK(std::ranges::any_of(outcomes.messages, [](const std::string& message) {
    return message.find("9.jpg': out of memory") != std::string::npos;
  }));
}

TEST_CASE("a device that cannot be made, for whatever reason, leaves its pictures to the CPU") {
  const Photos photos;
  const std::pair<std::function<void()>, std::string> reasons[] = {
      {[] { throw std::runtime_error("no room"); }, "no room"},
      {[] { throw 42; }, "an error without a message"}};
  for (const auto& [reason, message] : reasons) {
    World world;
    world.on_making = reason;
    const Outcomes outcomes = run(photos, world);
    check_complete(photos, outcomes);
    CHECK(outcomes.devices_given_up == std::vector<std::string>{message});
  }
}

TEST_CASE("what an event throws in a lane comes out of the run") {
  const Photos photos;
  World world;
  CHECK_THROWS_AS(run(photos, world, 2, {}, [] { throw IoError("the disk is full"); }), IoError);
  // Nobody's words, since a lane's thread has nobody who would catch them.
  CHECK_THROWS_AS(run(photos, world, 2, {}, [] { throw 42; }), int);
}

TEST_CASE("when a run is stopped, what waits is dropped") {
  const Photos photos;
  World world;
  std::atomic<bool> stop{false};
  world.on_batch = [&] {
    stop = true;
    // What waits is to see the flag.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  Batch batch;
  batch.stop = &stop;
  const Outcomes outcomes = run(photos, world, 1, batch);
  CHECK(world.batches == 1);
  CHECK(outcomes.done.size() < std::size_t(kPictures));
  for (const auto& [name, times] : outcomes.done) CHECK(times == 1);
}

TEST_CASE("with little memory, jobs on devices and on the CPU wait for each other") {
  const Photos photos;
  for (const std::int64_t most : {20'000, 100'000}) {
    World world;
    Batch batch;
    batch.max_memory = most;
    check_complete(photos, run(photos, world, 2, batch));
    CHECK(world.on_devices == widths_where(is_for_devices));
  }
}

namespace {

/// That many pictures, each the same.
void repeat(Photos& photos, int count) {
  const std::string in = photos.jobs[0].in;
  photos.jobs.clear();
  for (int i = 0; i < count; ++i) {
    const std::string name = std::to_string(i) + ".jpg";
    photos.jobs.push_back({in, name, photos.folder / ("out_" + name)});
  }
}

}  // namespace

TEST_CASE("with little memory, a device gets pictures while another is busy") {
  Photos photos;
  repeat(photos, 12);
  World world;
  // The first picture stays on its device until the other device has done others.
  bool others_come = false;
  world.on_batch = [&, first = std::make_shared<std::atomic<bool>>(true)] {
    if (!first->exchange(false)) return;
    others_come = comes([&] { return world.ended >= 11; });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  Batch batch;
  batch.max_memory = 2 * 5 * std::int64_t(std::filesystem::file_size(photos.jobs[0].in)) + 100;
  CHECK(run(photos, world, 2, batch).done.size() == 12);
  CHECK(others_come);
  // Whoever waits for memory does not ask for it all the time.
  CHECK(world.tries < 200);
}

TEST_CASE("memory that a device frees is used while the CPU is busy with one picture") {
  Photos photos;
  repeat(photos, 12);
  const std::int64_t bytes = std::int64_t(std::filesystem::file_size(photos.jobs[0].in));
  write_image(photos.folder / "in.png", pattern(9, 9, 3, Depth::u8), {}, nullptr);
  photos.jobs.insert(photos.jobs.begin(),
                     {photos.folder / "in.png", "long.png", photos.folder / "long.png"});
  World world;
  bool others_come = false;
  world.on_cpu_picture = [&] { others_come = comes([&] { return world.ended >= 12; }); };
  Batch batch;
  batch.convolver.request.threads = 2;
  batch.max_memory = 2 * 5 * bytes + 100;
  CHECK(run(photos, world, 1, batch).done.size() == 13);
  CHECK(others_come);
}

TEST_CASE("the CPU does the pictures that devices have no room for, if they are its own") {
  Photos photos;
  repeat(photos, 300);
  write_image(photos.folder / "in.png", pattern(9, 9, 3, Depth::u8), {}, nullptr);
  for (int i = 0; i < 5; ++i) {
    const std::string name = std::to_string(i) + ".png";
    photos.jobs.push_back({photos.folder / "in.png", name, photos.folder / name});
  }
  World world;
  bool others_come = false;
  world.on_batch = [&, first = std::make_shared<std::atomic<bool>>(true)] {
    if (first->exchange(false)) others_come = comes([&] { return world.ended >= 5; });
  };
  const Outcomes outcomes = run(photos, world, 1);
  CHECK(outcomes.done.size() == 305);
  for (const auto& [name, times] : outcomes.done) REQUIRE(times == 1);
  CHECK(others_come);
  CHECK(world.on_cpu == std::set<int>{9});
}

TEST_CASE("as many lanes, so many times as many pictures may wait") {
  constexpr int kWaiting = 50, kThreads = 4;
  const TemporaryFolder folder;
  const std::vector<std::string> pictures(300, jpeg_of(folder, 40, 40));
  for (const int count : {1, 3}) {
    World world;
    const Outcomes outcomes = run_lanes(world, pictures, {.most_waiting = kWaiting},
                                        std::size_t(count), kThreads, kWaiting * count);
    CHECK(outcomes.by_devices == 300);
    CHECK(world.tries_before_batches >= kWaiting * count);
    // Lanes may have a batch in hand by then, and each worker a picture.
    CHECK(world.tries_before_batches <= (kWaiting + 64) * count + kThreads);
  }
}

TEST_CASE(
    "few pictures with large files wait for a device, and they are let in again as others end") {
  const TemporaryFolder folder;
  const std::string picture = jpeg_of(folder, 40, 40);
  World world;
  const LaneLimits limits{.most_bytes = 5 * device_memory(picture)};
  CHECK(run_lanes(world, std::vector(40, picture), limits, 1, 1, 5 + 1).by_devices == 40);
  // A lane's batch counts like the pictures that wait. The worker has one more.
  CHECK(world.tries_before_batches == 5 + 1);
  CHECK(world.largest <= 5);
}

TEST_CASE("a picture larger than what all may take goes to a device by itself") {
  const TemporaryFolder folder;
  World world;
  const std::vector<std::string> pictures(3, jpeg_of(folder, 40, 40));
  CHECK(run_lanes(world, pictures, {.most_bytes = 1}).by_devices == 3);
  CHECK(world.largest == 1);
}

TEST_CASE("a JPEG that takes too much memory on a device is the CPU's, which can do with less") {
  Photos photos;
  repeat(photos, 12);
  const std::int64_t each = device_memory(photos.jobs[0].in);
  CHECK(device_memory(photos.jobs[0].in, each) == each);
  CHECK(device_memory(photos.jobs[0].in, each - 1) == 0);
  World world;
  Batch batch;
  batch.max_memory = each - 1;
  const Outcomes outcomes = run(photos, world, 1, batch);
  CHECK(outcomes.done.size() == 12);
  CHECK(world.on_devices.empty());
  CHECK(world.on_cpu == std::set<int>{width_of(0)});
}

TEST_CASE("a JPEG that the CPU does though devices are there has a reason, and no other picture") {
  Photos photos;
  const auto only = [](const Outcomes& outcomes) -> std::pair<std::string, std::set<int>> {
    REQUIRE(outcomes.why_cpu.size() == 1);
    return *outcomes.why_cpu.begin();
  };
  World world;
  CHECK(only(run(photos, world)) ==
        std::pair{std::string("it is no plain JPEG of one scan, or damaged"),
                  widths_where(is_progressive)});
  world.has_result = [](int width, std::size_t) { return width != width_of(0); };
  CHECK(run(photos, world).why_cpu["no GPU had a result for it"] == std::set{width_of(0)});
  // A device that is lost before it has begun anything.
  const Outcomes all = [&] {
    World broken;
    broken.on_making = [] { throw DeviceError("none"); };
    return run(photos, broken);
  }();
  CHECK_FALSE(all.why_cpu.contains(""));

  repeat(photos, 3);
  World small;
  Batch batch;
  batch.max_memory = device_memory(photos.jobs[0].in) - 1;
  CHECK(only(run(photos, small, 1, batch)).first ==
        "for a GPU it takes more memory than --max-memory allows");
  write_image(photos.folder / "in.png", pattern(9, 9, 3, Depth::u8), {}, nullptr);
  photos.jobs = {{photos.folder / "in.png", "png", photos.folder / "out.png"},
                 {photos.folder / "in.png", "jpg", photos.folder / "out.jpg"}};
  CHECK(only(run(photos, small, 1)).first == "");
  CHECK(run(photos, small, 0).why_cpu.contains(""));
}

TEST_CASE(
    "memory for a device's result is that of a file of high quality, however small the input is") {
  const TemporaryFolder folder;
  WriteOptions poor;
  poor.quality = 5;
  const std::string poor_jpeg = folder / "poor.jpg";
  write_image(poor_jpeg, pattern(800, 600, 3, Depth::u8), poor, nullptr);
  const auto in = std::int64_t(std::filesystem::file_size(poor_jpeg));
  REQUIRE(in < 800 * 600 / 4);
  CHECK(device_memory(poor_jpeg) >= 2 * (in + 800 * 600 / 2));
}

TEST_CASE("after a failure that ends a run, what waits for a device is dropped") {
  Photos photos;
  const std::string cut = photos.jobs[5].in;
  REQUIRE(is_cut(5));
  repeat(photos, 150);
  photos.jobs[110].in = cut;
  World world;
  world.on_batch = [&] {
    comes([&] { return world.ended > 0; });
    // The outcome is known a moment before the run ends for it.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  };
  Batch batch;
  batch.fail_fast = true;
  const LaneLimits limits{.most_pictures = 64};
  const Outcomes outcomes = run(
      photos, world, 1, batch, [] {}, limits);
  CHECK(outcomes.failed.size() == 1);
  // The device has a batch in hand by then, and workers a picture each.
  CHECK(outcomes.done.size() <= 64 + 8);
}
