/// A folder's journal and its pictures, by a lane that writes files without looking at pixels.
#include "src/batch/folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
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
        [this](int, bool) { return std::make_unique<WritingLane>(on_file); },
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
