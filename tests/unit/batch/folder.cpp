/// A folder's journal and its pictures, by a lane that writes files without looking at pixels.
#include "src/batch/folder.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "tests/support/picture_files.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

/// Gives each picture a result; `on_file` may throw, which is the picture's failure.
class WritingLane : public Lane {
 public:
  explicit WritingLane(std::function<void(const FileJob&)> on_file)
      : on_file_(std::move(on_file)) {}

  FileReport filter(const FileJob& job) override {
    on_file_(job);
    save(job.out, Bytes(10));
    job.before_commit(*stamp_of(job.out));
    return {};
  }

 private:
  std::function<void(const FileJob&)> on_file_;
};

/// A folder of pictures, by their names, and one for the results.
struct World {
  explicit World(const std::vector<std::string>& names) {
    std::filesystem::create_directory(folder / "in");
    for (const std::string& name : names) save(folder / ("in/" + name), Bytes(5));
    options.selection.inputs = {folder / "in"};
    options.selection.out = folder / "out";
    options.settings = "settings";
    options.schedule.threads = 1;
  }

  FolderTotals run() {
    outcomes.clear();
    times.clear();
    return filter_folder(
        options, plan_folder(options),
        [this](const LaneRequest&) { return std::make_unique<WritingLane>(on_file); },
        [this](const PictureOutcome& outcome) {
          ++times[outcome.job->name];
          outcomes.push_back(outcome);
          outcomes.back().job = nullptr;  // it goes with the run
        });
  }

  JournalContents journal() const {
    return read_journal(folder / ("out/" + journal_name(options.shard)));
  }

  TemporaryFolder folder;
  FolderOptions options;
  std::function<void(const FileJob&)> on_file = [](const FileJob&) {};
  std::vector<PictureOutcome> outcomes;
  std::map<std::string, int> times;  ///< how many outcomes, by the picture's name
};

}  // namespace

TEST_CASE(
    "a journal says what GPUs' decoders are before their first result, and keeps a run to it") {
  World world({"a.png", "b.png", "c.png"});
  std::string kind, kept_to;
  world.options.decoders = {[&] { return kind; }, [&](const std::string& name) { kept_to = name; }};
  const std::string path = world.folder / ("out/" + journal_name({}));
  world.on_file = [&](const FileJob& job) {
    if (job.in.ends_with("b.png")) kind = "hardware";
    CHECK(read_journal(path).decoders == (job.in.ends_with("c.png") ? "hardware" : ""));
    if (job.in.ends_with("c.png")) throw IoError("it is broken");
  };
  world.run();
  CHECK(kept_to.empty());
  CHECK(world.journal().decoders == "hardware");
  CHECK(world.journal().done.size() == 2);

  // A resumed run is told before it makes any.
  world.options.resume = true;
  kind.clear();
  world.on_file = [&](const FileJob& job) {
    CHECK(kept_to == "hardware");
    CHECK(job.in.ends_with("c.png"));
  };
  world.run();
  CHECK(world.journal().done.size() == 3);

  // One that begins anew has the choice.
  world.options.resume = false;
  kept_to.clear();
  kind = "hybrid";
  world.on_file = [](const FileJob&) {};
  world.run();
  CHECK(kept_to.empty());
  CHECK(world.journal().decoders == "hybrid");
}

TEST_CASE("each picture has one outcome, also where a failure or a signal ends the run") {
  World world({"a.png", "b.png", "c.png", "d.png", "e.png", "f.png"});
  const auto check = [&](const FolderTotals& totals, const char* reason) {
    for (const PictureOutcome& outcome : world.outcomes)
      if (outcome.outcome == Outcome::not_begun) CHECK(outcome.reason == reason);
    CHECK(world.times.size() == 6);
    CHECK(world.outcomes.size() == 6);
    CHECK(totals.not_begun == 4);
    CHECK(totals.filtered + totals.failed == 2);
    CHECK_FALSE(world.journal().has_ended);
  };
  world.options.schedule.fail_fast = true;
  world.on_file = [](const FileJob& job) {
    if (job.in.ends_with("b.png")) throw IoError("it is broken");
  };
  check(world.run(), "another picture failed");

  std::atomic<bool> stop{false};
  world.options.schedule.stop = &stop;
  world.on_file = [&](const FileJob& job) { stop = job.in.ends_with("b.png"); };
  check(world.run(), "a signal stopped the run");
}

TEST_CASE("shards whose GPUs' decoders round differently are not joined") {
  World world({"a.png", "b.png", "c.png", "d.png", "e.png"});
  std::string kind;
  world.options.decoders = {[&] { return kind; }, [](const std::string&) {}};
  const auto run = [&](int shard, const char* decoders) {
    world.options.shard = {shard, 2};
    kind = decoders;
    REQUIRE(world.run().filtered > 0);
  };
  const std::string out = world.folder / "out";
  run(1, "hardware");
  run(2, "hybrid");
  CHECK_THROWS_WITH_AS(merge_journals(out), doctest::Contains("hybrid"), IoError);
  // A shard without a picture for them goes with any.
  run(2, "");
  CHECK(merge_journals(out).done == 5);
  CHECK(read_journal(out + "/" + journal_name({})).decoders == "hardware");
}

TEST_CASE("what could not be read keeps results from being whole until it can") {
  // Who may read all sees no such folder.
  struct Nobody {
    Nobody() { is_one = ::geteuid() != 0 || ::seteuid(65534) == 0; }
    ~Nobody() {
      if (::getuid() == 0 && ::seteuid(0) != 0) std::abort();
    }
    bool is_one;
  } nobody;
  REQUIRE(nobody.is_one);
  World world({"a.png", "b.png"});
  const std::string locked = world.folder / "in/locked";
  std::filesystem::create_directory(locked);
  save(locked + "/c.png", Bytes(5));
  world.options.selection.recursive = true;
  const auto lock = [&](bool is_locked) {
    std::filesystem::permissions(
        locked, is_locked ? std::filesystem::perms::none : std::filesystem::perms::owner_all);
  };
  const auto run_all = [&](bool resume) {
    world.options.resume = resume;
    for (const int part : {1, 2}) {
      world.options.shard = {part, 2};
      world.run();
    }
    return merge_journals(world.options.selection.out);
  };
  lock(true);
  MergeReport report = run_all(false);
  CHECK(report.done == 2);
  CHECK_FALSE(report.is_whole());
  REQUIRE(report.failed.size() == 1);
  CHECK(report.failed[0].first == "locked/");
  CHECK(report.failed[0].second.find("cannot read the folder") != std::string::npos);

  // A picture in it that was planned stays planned while nobody can look.
  lock(false);
  world.on_file = [](const FileJob& job) {
    if (job.in.ends_with("c.png")) throw IoError("it is broken");
  };
  report = run_all(true);
  REQUIRE(report.failed.size() == 1);
  CHECK(report.failed[0].first == "locked/c.png");
  lock(true);
  report = run_all(true);
  CHECK(report.failed.size() == 2);
  lock(false);
  world.on_file = [](const FileJob&) {};
  report = run_all(true);
  CHECK(report.is_whole());
  CHECK(report.done == 3);
}

TEST_CASE("a refused input keeps results from being whole") {
  World world({"a.png"});
  const std::string pipe = world.folder / "in/pipe.png";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  world.run();
  const MergeReport report = merge_journals(world.options.selection.out);
  CHECK_FALSE(report.is_whole());
  REQUIRE(report.failed.size() == 1);
  CHECK(report.failed[0].first == "pipe.png");
  std::filesystem::remove(pipe);
  world.options.resume = true;
  world.run();
  CHECK(merge_journals(world.options.selection.out).is_whole());
}

TEST_CASE("a shard goes on where the joined journal ended") {
  World world({"a.png", "b.png", "c.png", "d.png", "e.png", "f.png"});
  const auto run_all = [&](bool resume) {
    std::int64_t filtered = 0;
    world.options.resume = resume;
    for (const int part : {1, 2, 3}) {
      world.options.shard = {part, 3};
      filtered += world.run().filtered;
    }
    return filtered;
  };
  CHECK(run_all(true) == 6);
  CHECK(merge_journals(world.options.selection.out).done == 6);
  save(world.folder / "in/g.png", Bytes(5));
  CHECK(run_all(true) == 1);
  const MergeReport report = merge_journals(world.options.selection.out);
  CHECK(report.is_whole());
  CHECK(report.done == 7);

  // It is one of other options for those who have others.
  world.options.settings = "others";
  CHECK_THROWS_WITH_AS(run_all(true), doctest::Contains("other options"), IoError);
  CHECK(run_all(false) == 7);
}

TEST_CASE("results beside their inputs are none, in this run and those after it") {
  World world({"a.png", "b.png"});
  world.options.selection.out = world.folder / "in";
  world.options.selection.name = "{stem}_blur{ext}";
  CHECK(world.run().filtered == 2);
  world.options.resume = true;
  FolderTotals totals = world.run();
  CHECK(totals.filtered == 0);
  CHECK(totals.skipped == 2);
  std::filesystem::remove(std::string(world.folder / "in/a.png"));
  totals = world.run();
  CHECK(totals.filtered + totals.skipped == 1);

  // Another filter begins the journal anew, twice.
  for (int i = 0; i < 2; ++i) {
    world.options.resume = false;
    world.options.settings = "edges";
    world.options.selection.name = "{stem}_edge{ext}";
    CHECK(world.run().filtered == 1);
    CHECK(world.times == std::map<std::string, int>{{"b.png", 1}});
  }
  world.options.shard = {1, 1};
  CHECK(plan_folder(world.options).list.results_passed == 3);

  // One that somebody has changed is a picture like any other.
  save(world.folder / "in/b_blur.png", Bytes(7));
  CHECK(plan_folder(world.options).list.results_passed == 2);
}
