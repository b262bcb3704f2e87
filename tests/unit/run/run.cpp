/// A folder's journal and its pictures, by a lane that writes files without looking at pixels.
#include "src/run/run.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/filter/mask.hpp"
#include "src/mask/make.hpp"
#include "src/run/journal.hpp"
#include "src/run/merge.hpp"
#include "tests/support/files/picture.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

/// A folder of pictures, by their names, and one for the results. Each picture gets a result.
struct World : Crew {
  explicit World(const std::vector<std::string>& names) {
    std::filesystem::create_directory(folder / "in");
    for (const std::string& name : names) save(folder / ("in/" + name), Bytes(5));
    batch.selection.inputs = {folder / "in"};
    batch.selection.out = folder / "out";
    batch.filter = mask_filter(box_mask(3));
    batch.convolver.request.threads = 1;
  }

  struct WritingLane : Lane {
    explicit WritingLane(World& owner) : world(owner) {}
    FileReport filter(Passage& passage) override {
      world.on_file(passage.job);
      save(passage.job.out, Bytes(10));
      passage.events.before_commit(passage.outcome, *stamp_of(passage.job.out));
      return {};
    }
    World& world;
  };
  std::unique_ptr<Lane> make_lane(const LaneRequest&) override {
    return std::make_unique<WritingLane>(*this);
  }
  std::string decoders() override { return kind; }
  void keep_to(const std::string& name) override { kept_to = name; }

  /// Options whose results differ from others'.
  void set_settings(int number) { batch.read.page = number; }

  RunTotals run() {
    outcomes.clear();
    times.clear();
    return convfilt::run(batch, plan_batch(batch), *this, [this](const PictureOutcome& outcome) {
      ++times[outcome.job->name];
      outcomes.push_back(outcome);
      outcomes.back().job = nullptr;  // it goes with the run
    });
  }

  JournalContents journal() const {
    return read_journal(folder / ("out/" + journal_name(batch.shard)));
  }

  std::int64_t done_in_journal() const {
    return std::ranges::count_if(journal().pictures, [](const auto& picture) {
      return picture.second.state == RecordState::done;
    });
  }

  TemporaryFolder folder;
  Batch batch;
  std::string kind, kept_to;                                    ///< of GPUs' decoders
  std::function<void(const Job&)> on_file = [](const Job&) {};  ///< may throw: the picture fails
  std::vector<PictureOutcome> outcomes;
  std::map<std::string, int> times;  ///< how many outcomes, by the picture's name
};

}  // namespace

TEST_CASE(
    "a journal says what GPUs' decoders are before their first result, and keeps a run to it") {
  World world({"a.png", "b.png", "c.png"});
  std::string &kind = world.kind, &kept_to = world.kept_to;
  const std::string path = world.folder / ("out/" + journal_name({}));
  world.on_file = [&](const Job& job) {
    if (job.in.ends_with("b.png")) kind = "hardware";
    CHECK(read_journal(path).decoders == (job.in.ends_with("c.png") ? "hardware" : ""));
    if (job.in.ends_with("c.png")) throw IoError("it is broken");
  };
  world.run();
  CHECK(kept_to.empty());
  CHECK(world.journal().decoders == "hardware");
  CHECK(world.done_in_journal() == 2);

  // A resumed run is told before it makes any.
  world.batch.resume = true;
  kind.clear();
  world.on_file = [&](const Job& job) {
    CHECK(kept_to == "hardware");
    CHECK(job.in.ends_with("c.png"));
  };
  world.run();
  CHECK(world.done_in_journal() == 3);

  // One that begins anew has the choice.
  world.batch.resume = false;
  kept_to.clear();
  kind = "hybrid";
  world.on_file = [](const Job&) {};
  world.run();
  CHECK(kept_to.empty());
  CHECK(world.journal().decoders == "hybrid");
}

TEST_CASE("each picture has one outcome, also where a failure or a signal ends the run") {
  World world({"a.png", "b.png", "c.png", "d.png", "e.png", "f.png"});
  const auto check = [&](const RunTotals& totals, const char* reason) {
    for (const PictureOutcome& outcome : world.outcomes)
      if (outcome.outcome == Outcome::not_begun) CHECK(outcome.reason == reason);
    CHECK(world.times.size() == 6);
    CHECK(world.outcomes.size() == 6);
    CHECK(totals.not_begun == 4);
    CHECK(totals.filtered + totals.failed == 2);
    CHECK_FALSE(world.journal().has_ended);
  };
  world.batch.fail_fast = true;
  world.on_file = [](const Job& job) {
    if (job.in.ends_with("b.png")) throw IoError("it is broken");
  };
  check(world.run(), "another picture failed");

  std::atomic<bool> stop{false};
  world.batch.stop = &stop;
  world.on_file = [&](const Job& job) { stop = job.in.ends_with("b.png"); };
  check(world.run(), "a signal stopped the run");
}

TEST_CASE("shards whose GPUs' decoders round differently are not joined") {
  World world({"a.png", "b.png", "c.png", "d.png", "e.png"});
  const auto run = [&](int shard, const char* decoders) {
    world.batch.shard = {shard, 2};
    world.kind = decoders;
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

TEST_CASE("merge names a picture once for each shard too many that has done it") {
  const TemporaryFolder folder;
  std::string others;  // a name of no shard but the first
  for (int i = 0; others.empty() || !Shard{1, 3}.takes(others); ++i) others = std::to_string(i);
  for (int i = 1; i <= 3; ++i) {
    Journal journal(folder / "", {i, 3}, "s", false);
    if (i > 1) journal.done({others, others, {1, 2}, {3, 4}});
    for (const char* name : {"a", "b", "c", "d"}) journal.done({name, name, {1, 2}, {3, 4}});
    journal.end();
  }
  const std::vector<std::string> twice{others, "a", "a", "b", "b", "c", "c", "d", "d"};
  CHECK(merge_journals(folder / "").twice == twice);
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
  world.batch.selection.recursive = true;
  const auto lock = [&](bool is_locked) {
    std::filesystem::permissions(
        locked, is_locked ? std::filesystem::perms::none : std::filesystem::perms::owner_all);
  };
  const auto run_all = [&](bool resume) {
    world.batch.resume = resume;
    for (const int part : {1, 2}) {
      world.batch.shard = {part, 2};
      world.run();
    }
    return merge_journals(world.batch.selection.out);
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
  world.on_file = [](const Job& job) {
    if (job.in.ends_with("c.png")) throw IoError("it is broken");
  };
  report = run_all(true);
  REQUIRE(report.failed.size() == 1);
  CHECK(report.failed[0].first == "locked/c.png");
  lock(true);
  report = run_all(true);
  CHECK(report.failed.size() == 2);
  lock(false);
  world.on_file = [](const Job&) {};
  report = run_all(true);
  CHECK(report.is_whole());
  CHECK(report.done == 3);
}

TEST_CASE("a refused input keeps results from being whole") {
  World world({"a.png"});
  const std::string pipe = world.folder / "in/pipe.png";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  world.run();
  const MergeReport report = merge_journals(world.batch.selection.out);
  CHECK_FALSE(report.is_whole());
  REQUIRE(report.failed.size() == 1);
  CHECK(report.failed[0].first == "pipe.png");
  std::filesystem::remove(pipe);
  world.batch.resume = true;
  world.run();
  CHECK(merge_journals(world.batch.selection.out).is_whole());
}

TEST_CASE("a shard goes on where the joined journal ended") {
  World world({"a.png", "b.png", "c.png", "d.png", "e.png", "f.png"});
  const auto run_all = [&](bool resume) {
    std::int64_t filtered = 0;
    world.batch.resume = resume;
    for (const int part : {1, 2, 3}) {
      world.batch.shard = {part, 3};
      filtered += world.run().filtered;
    }
    return filtered;
  };
  CHECK(run_all(true) == 6);
  CHECK(merge_journals(world.batch.selection.out).done == 6);
  save(world.folder / "in/g.png", Bytes(5));
  CHECK(run_all(true) == 1);
  const MergeReport report = merge_journals(world.batch.selection.out);
  CHECK(report.is_whole());
  CHECK(report.done == 7);

  // It is one of other options for those who have others.
  world.set_settings(1);
  CHECK_THROWS_WITH_AS(run_all(true), doctest::Contains("other options"), IoError);
  CHECK(run_all(false) == 7);
}

TEST_CASE("results beside their inputs are none, in this run and those after it") {
  World world({"a.png", "b.png"});
  world.batch.selection.out = world.folder / "in";
  world.batch.selection.name = "{stem}_blur{ext}";
  CHECK(world.run().filtered == 2);
  world.batch.resume = true;
  RunTotals totals = world.run();
  CHECK(totals.filtered == 0);
  CHECK(totals.skipped == 2);
  std::filesystem::remove(std::string(world.folder / "in/a.png"));
  totals = world.run();
  CHECK(totals.filtered + totals.skipped == 1);

  // Another filter begins the journal anew, twice.
  for (int i = 0; i < 2; ++i) {
    world.batch.resume = false;
    world.set_settings(1);
    world.batch.selection.name = "{stem}_edge{ext}";
    CHECK(world.run().filtered == 1);
    CHECK(world.times == std::map<std::string, int>{{"b.png", 1}});
  }
  world.batch.shard = {1, 1};
  CHECK(plan_batch(world.batch).list.results_passed == 3);

  // One that somebody has changed is a picture like any other.
  save(world.folder / "in/b_blur.png", Bytes(7));
  CHECK(plan_batch(world.batch).list.results_passed == 2);
}

TEST_CASE("what is no file is not read as a journal") {
  const std::pair<const char*, std::function<void(const char*)>> kinds[] = {
      {"pipe", [](const char* path) { REQUIRE(::mkfifo(path, 0600) == 0); }},
      {"folder", [](const char* path) { REQUIRE(::mkdir(path, 0700) == 0); }},
      {"device", [](const char* path) { REQUIRE(::symlink("/dev/zero", path) == 0); }},
      {"socket",
       [](const char* path) {
         sockaddr_un address{AF_UNIX, {}};
         REQUIRE(std::strlen(path) < sizeof address.sun_path);
         std::strcpy(address.sun_path, path);
         const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
         REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
         ::close(listener);
       }},
  };
  for (const auto& [kind, make] : kinds) {
    for (const Shard& shard : {Shard{}, Shard{2, 3}}) {
      CAPTURE(kind);
      CAPTURE(shard.count);
      World world({"a.png"});
      const std::string out = world.batch.selection.out;
      std::filesystem::create_directory(out);
      make((out + "/" + journal_name(shard)).c_str());
      world.batch.shard = shard;
      for (const bool resumes : {false, true}) {
        world.batch.resume = resumes;
        CHECK_THROWS_WITH_AS(world.run(), doctest::Contains("not a regular file"), IoError);
      }
      CHECK_THROWS_WITH_AS(check_resumes(world.batch), doctest::Contains("not a regular file"),
                           IoError);
      CHECK_THROWS_WITH_AS(merge_journals(out), doctest::Contains("not a regular file"), IoError);
    }
  }
}

TEST_CASE("a run without shards and a shard do not filter into one folder at once") {
  const TemporaryFolder folder;
  const auto begin = [&](const Shard& shard) { Journal(folder / "", shard, "s", false); };
  {
    const Journal whole(folder / "", {}, "s", false);
    CHECK_THROWS_WITH_AS(begin({1, 2}), doctest::Contains("in use"), IoError);
  }
  const Journal part(folder / "", {1, 2}, "s", false);
  CHECK_THROWS_WITH_AS(begin({}), doctest::Contains("in use"), IoError);
  CHECK_THROWS_WITH_AS(begin({1, 2}), doctest::Contains("in use"), IoError);
  CHECK_NOTHROW(begin({2, 2}));
}

TEST_CASE("a run is not resumed where one of other options came later") {
  World world({"a.png", "b.png", "c.png", "d.png"});
  const auto run = [&](const Shard& shard, int settings, bool resumes) {
    world.batch.shard = shard;
    world.set_settings(settings);
    world.batch.resume = resumes;
    return world.run().filtered;
  };
  const auto refuses = [&](const Shard& shard, int settings) {
    CHECK_THROWS_WITH_AS(run(shard, settings, true), doctest::Contains("other options"), IoError);
    CHECK_THROWS_WITH_AS(check_resumes(world.batch), doctest::Contains("other options"), IoError);
  };
  // Parts with the whole between them, by other options.
  CHECK(run({1, 2}, 1, false) + run({2, 2}, 1, false) == 4);
  CHECK(run({}, 2, false) == 4);
  refuses({1, 2}, 1);
  CHECK(run({}, 2, true) == 0);
  // Begun anew they are the latest.
  const std::int64_t first = run({1, 2}, 1, false);
  CHECK(run({1, 2}, 1, true) == 0);
  refuses({}, 2);
  // The whole by the same options goes with them.
  CHECK(run({}, 1, false) == 4);
  CHECK(run({1, 2}, 1, true) == first);
}

namespace {

/// Pictures that are filtered, by one run or by shards, some of which do not get their result.
struct Results {
  Results(int pictures, int shards, bool are_whole)
      : world([&] {
          std::vector<std::string> names;
          for (int i = 0; i < pictures; ++i) names.push_back("p" + std::to_string(i) + ".png");
          return names;
        }()) {
    for (int part = 1; part <= shards; ++part) {
      world.batch.shard = {part, shards};
      // A run that is stopped, and one that does the rest.
      world.batch.fail_fast = true;
      world.on_file = [&](const Job& job) {
        if (job.in.ends_with("2.png") || job.in.ends_with("3.png")) throw IoError("it is broken");
      };
      world.batch.resume = false;
      world.run();
      world.batch.resume = true;
      if (are_whole) world.on_file = [](const Job&) {};
      world.run();
      const std::string path = out() + "/" + journal_name(world.batch.shard);
      std::ifstream file(path, std::ios::binary);
      journals.emplace_back(path, std::string(std::istreambuf_iterator<char>(file), {}));
    }
  }

  std::string out() const { return world.batch.selection.out; }

  /// Puts the journals there as they were written.
  void restore() const {
    std::filesystem::remove(out() + "/" + journal_name({}));
    for (const auto& [path, text] : journals) std::ofstream(path, std::ios::binary) << text;
  }

  World world;
  std::vector<std::pair<std::string, std::string>> journals;  ///< paths and texts
};

/// A text with lines or bytes changed, taken away, doubled, or put elsewhere.
std::string tampered(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return std::size_t(random()) % limit; };
  for (std::size_t times = 1 + below(3); times > 0 && !text.empty(); --times) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
    const std::size_t line = below(lines.size()), other = below(lines.size());
    const std::size_t at = below(text.size());
    switch (below(6)) {
      case 0: text[at] = char(text[at] ^ (1 << below(8))); continue;
      case 1: text.erase(at, 1 + below(100)); continue;
      case 2: text.resize(at); continue;
      case 3: lines.erase(lines.begin() + long(line)); break;
      case 4: std::swap(lines[line], lines[other]); break;
      case 5: lines.insert(lines.begin() + long(line), lines[other]); break;
    }
    text.clear();
    for (const std::string& each : lines) text += each;
  }
  return text;
}

}  // namespace

TEST_CASE("results are whole only where the journals prove each of them") {
  constexpr int kPictures = 5;
  for (const int shards : {1, 3}) {
    for (const bool are_whole : {true, false}) {
      const Results results(kPictures, shards, are_whole);
      int accepted = 0;
      // Tries journals, and says whether they are taken for whole.
      const auto is_taken = [&](const std::string& path, const std::string& text) {
        results.restore();
        std::ofstream(path, std::ios::binary) << text;
        bool is_whole = false;
        try {
          const MergeReport report = merge_journals(results.out());
          is_whole = report.is_whole();
          if (is_whole) CHECK(report.done == kPictures);
        } catch (const IoError&) {
          // The journal is none any more.
        }
        accepted += is_whole;
        // The journals of shards go only where they were joined to one that is whole.
        for (const auto& [each, unused] : results.journals)
          REQUIRE(std::filesystem::exists(each) == !(is_whole && shards > 1));
        return is_whole;
      };
      for (const auto& [path, text] : results.journals) {
        CAPTURE(shards);
        CAPTURE(are_whole);
        REQUIRE(is_taken(path, text) == are_whole);
        for (std::size_t at = 0; at < text.size(); at += std::size_t(shards)) {
          CAPTURE(at);
          std::string changed = text;
          changed[at] = char(changed[at] ^ 1);
          // Some lines are those of a run that was stopped, and others say the same.
          const bool taken = is_taken(path, changed);
          REQUIRE((are_whole || !taken));
        }
        std::mt19937 random(unsigned(shards) * 2 + are_whole);
        for (int i = 0; i < 300; ++i) {
          const bool taken = is_taken(path, tampered(text, random));
          REQUIRE((are_whole || !taken));
        }
      }
      CHECK((accepted > 0) == are_whole);
    }
  }
}

TEST_CASE("a journal with changed lines is mended by the run that resumes it") {
  Results results(8, 1, true);
  const auto& [path, text] = results.journals.front();
  World& world = results.world;
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    // The title stays, since without it there is no run to resume.
    const std::size_t title = text.find('\n') + 1;
    std::ofstream(path, std::ios::binary)
        << text.substr(0, title) << tampered(text.substr(title), random);
    world.batch.resume = true;
    world.run();
    const MergeReport report = merge_journals(results.out());
    CHECK(report.is_whole());
    CHECK(report.done == 8);
  }
}
