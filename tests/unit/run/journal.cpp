/// What journals keep, whatever happens to them.
#include "src/run/journal.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "src/base/errors.hpp"
#include "tests/support/files/picture.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

const DoneEntry kEntry{
    "a b%\n\xff.jpg", "sub/a b%\n\xff.png", {12, -5}, {345, 1234567890123456789}};

/// The names that a journal has in a state, in order.
std::vector<std::string> names_of(const JournalContents& contents, RecordState state) {
  std::set<std::string> names;
  for (const auto& [name, record] : contents.pictures)
    if (record.state == state) names.insert(name);
  return {names.begin(), names.end()};
}
std::vector<std::string> done_in(const JournalContents& contents) {
  return names_of(contents, RecordState::done);
}

std::vector<std::string> planned_in(const JournalContents& contents) {
  std::set<std::string> names;
  for (const auto& [name, record] : contents.pictures)
    if (record.is_planned) names.insert(name);
  return {names.begin(), names.end()};
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a journal says what was written to it, whatever bytes names have") {
  const TemporaryFolder folder;
  const Shard shard{2, 3};
  {
    Journal journal(folder / "", shard, "settings", false);
    journal.plan({kEntry.name, "", "b.jpg"});
    journal.done(kEntry);
    journal.failed("b.jpg", "cannot read 'b.jpg': 100 % wrong\nreally");
    journal.end();
  }
  const JournalContents contents = read_journal(folder / journal_name(shard));
  CHECK(contents.shard == shard);
  CHECK(contents.settings == "settings");
  CHECK(planned_in(contents) == Names{"", kEntry.name, "b.jpg"});
  REQUIRE(contents.done(kEntry.name));
  const DoneEntry entry = *contents.done(kEntry.name);
  CHECK(entry.result == kEntry.result);
  CHECK(entry.in == kEntry.in);
  CHECK(entry.out == kEntry.out);
  CHECK(contents.pictures.at("b.jpg").text == "cannot read 'b.jpg': 100 % wrong\nreally");
  CHECK(contents.has_ended);
  CHECK(contents.bad_lines == 0);
}

TEST_CASE("a journal that is cut anywhere loses its last line alone") {
  const TemporaryFolder folder;
  {
    Journal journal(folder / "", {}, "s", false);
    for (int i = 0; i < 5; ++i) journal.done({std::to_string(i), "r", {1, 2}, {3, 4}});
  }
  const std::string path = folder / journal_name({}), whole = text_of(path);
  const std::size_t title = whole.find('\n') + 1;
  for (std::size_t length = title; length <= whole.size(); ++length) {
    write(path, whole.substr(0, length));
    const auto lines = std::count(whole.begin() + long(title), whole.begin() + long(length), '\n');
    // A line is whole without its newline, too.
    const bool whole_line = length < whole.size() && whole[length] == '\n';
    const std::size_t kept = std::size_t(lines) + (whole_line ? 1 : 0);
    REQUIRE(done_in(read_journal(path)).size() == kept);
    {
      Journal journal(folder / "", {}, "s", true);
      REQUIRE(done_in(journal.before()).size() == kept);
      journal.done({"next", "r", {1, 2}, {3, 4}});
    }
    REQUIRE(read_journal(path).done("next"));
    REQUIRE(done_in(read_journal(path)).size() == kept + 1);
  }
}

TEST_CASE("a journal whose title is cut is as good as none") {
  const TemporaryFolder folder;
  const std::string path = folder / journal_name({});
  { Journal journal(folder / "", {}, "settings", false); }
  const std::string title = text_of(path);
  for (std::size_t length = 0; length <= title.size(); ++length) {
    CAPTURE(length);
    write(path, title.substr(0, length));
    CHECK(is_begun(path) == (length >= title.size() - 1));
    {
      Journal journal(folder / "", {}, "settings", true);
      journal.done(kEntry);
    }
    CHECK(read_journal(path).settings == "settings");
    CHECK(done_in(read_journal(path)).size() == 1);
    CHECK(read_journal(path).bad_lines == 0);
  }
  write(path, "convfilt-of-others");
  CHECK(is_begun(path));
}

TEST_CASE("a line after one that the disk has cut stands alone") {
  const TemporaryFolder folder;
  const std::string path = folder / journal_name({});
  {
    Journal journal(folder / "", {}, "s", false);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
    rlimit full = before;
    full.rlim_cur = text_of(path).size() + 10;
    setrlimit(RLIMIT_FSIZE, &full);
    CHECK_THROWS_AS(journal.done({"a", "r", {1, 2}, {3, 4}}), IoError);
    CHECK_THROWS_AS(journal.done({"b", "r", {1, 2}, {3, 4}}), IoError);
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, ignored);
    journal.done({"c", "r", {1, 2}, {3, 4}});
    journal.done({"d", "r", {1, 2}, {3, 4}});
  }
  const JournalContents contents = read_journal(path);
  CHECK(done_in(contents).size() == 2);
  CHECK(contents.done("c"));
  CHECK(contents.bad_lines == 1);
}

TEST_CASE("what is gone is asked for no more") {
  const TemporaryFolder folder;
  {
    Journal journal(folder / "", {}, "s", false);
    journal.plan({"a", "b"});
    journal.failed("a", "why");
    journal.gone("a");
  }
  const JournalContents contents = read_journal(folder / journal_name({}));
  CHECK(planned_in(contents) == Names{"b"});
  CHECK(names_of(contents, RecordState::failed).empty());
  CHECK(contents.bad_lines == 0);
}

TEST_CASE("what is planned again is asked for again") {
  const TemporaryFolder folder;
  {
    Journal journal(folder / "", {}, "s", false);
    journal.plan({"a", "b"});
    journal.gone("a");
    journal.plan({"c", "a"});
    journal.gone("b");
    journal.gone("never planned");
  }
  CHECK(planned_in(read_journal(folder / journal_name({}))) == Names{"a", "c"});
}

TEST_CASE("many pictures that are gone cost a line each") {
  // The time of this thread alone, since others may have the machine.
  const auto seconds_now = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) / 1e9;
  };
  const auto seconds_for = [&](int pictures) {
    const TemporaryFolder folder;
    std::vector<std::string> names;
    for (int i = 0; i < pictures; ++i) names.push_back("photos/of/a/journey/" + std::to_string(i));
    {
      Journal journal(folder / "", {}, "s", false);
      journal.plan(names);
      for (const std::string& name : names) journal.gone(name);
    }
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const double start = seconds_now();
      const JournalContents contents = read_journal(folder / journal_name({}));
      best = std::min(best, seconds_now() - start);
      CHECK(planned_in(contents).empty());
    }
    return best;
  };
  // Eight times as many take eight times as long, and not 64 times.
  const double few = seconds_for(5'000), many = seconds_for(40'000);
  CAPTURE(few);
  CAPTURE(many);
  CHECK(many < 24 * few);
}

TEST_CASE("what was kept is not done, and the latest line counts") {
  const TemporaryFolder folder;
  const auto entry = [](const char* name) { return DoneEntry{name, "r", {1, 2}, {3, 4}}; };
  {
    Journal journal(folder / "", {}, "s", false);
    journal.plan({"a", "b", "c", "d"});
    journal.kept(entry("a"));
    journal.done(entry("b"));
    journal.kept(entry("b"));
    journal.kept(entry("c"));
    journal.done(entry("c"));
    journal.kept(entry("d"));
    journal.failed("d", "why");
  }
  const JournalContents contents = read_journal(folder / journal_name({}));
  CHECK(contents.bad_lines == 0);
  CHECK(names_of(contents, RecordState::kept) == Names{"a", "b"});
  CHECK(contents.pictures.at("a").out == entry("a").out);
  CHECK(done_in(contents) == Names{"c"});
  CHECK(names_of(contents, RecordState::failed) == Names{"d"});
  REQUIRE(contents.result_of("a"));
  CHECK(contents.result_of("a")->result == "r");
  CHECK_FALSE(contents.result_of("d"));
}

TEST_CASE("a journal that is begun anew knows what the same settings had done, and no others") {
  const TemporaryFolder folder;
  const auto begin = [&](const char* settings) {
    { Journal(folder / "", {}, "s", false).done(kEntry); }
    Journal journal(folder / "", {}, settings, false);
    CHECK(planned_in(journal.before()).empty());
    CHECK(done_in(read_journal(folder / journal_name({}))).empty());
    return done_in(journal.before()).size();
  };
  CHECK(begin("s") == 1);
  CHECK(begin("other") == 0);
  {
    // This run's GPUs may have decoders of another kind.
    Journal journal(folder / "", {}, "s", false);
    journal.decoders("hardware");
    journal.done(kEntry);
  }
  CHECK(read_journal(folder / journal_name({})).decoders == "hardware");
  CHECK(done_in(Journal(folder / "", {}, "s", true).before()).size() == 1);
  CHECK(done_in(Journal(folder / "", {}, "s", false).before()).empty());
  CHECK(read_journal(folder / journal_name({})).decoders.empty());
  write(folder / journal_name({}), "not a journal\n");
  CHECK(done_in(Journal(folder / "", {}, "s", false).before()).empty());
}

TEST_CASE("a changed line counts for nothing") {
  const TemporaryFolder folder;
  {
    Journal journal(folder / "", {}, "s", false);
    journal.done({"a", "r", {1, 2}, {3, 4}});
    journal.done({"b", "r", {1, 2}, {3, 4}});
  }
  const std::string path = folder / journal_name({}), whole = text_of(path);
  const std::size_t first = whole.find('\n') + 1, second = whole.find('\n', first) + 1;
  for (std::size_t at = first; at < second - 1; ++at) {
    std::string changed = whole;
    changed[at] = char(changed[at] ^ 1);
    write(path, changed);
    CAPTURE(at);
    const JournalContents contents = read_journal(path);
    REQUIRE_FALSE(contents.done("a"));
    REQUIRE(contents.done("b"));
  }
}

TEST_CASE("later lines win") {
  const TemporaryFolder folder;
  {
    Journal journal(folder / "", {}, "s", false);
    journal.failed("a", "why");
    journal.done({"a", "r", {1, 2}, {3, 4}});
    journal.done({"b", "r", {1, 2}, {3, 4}});
    journal.failed("b", "why");
    journal.end();
    journal.done({"c", "r", {1, 2}, {3, 4}});
  }
  const JournalContents contents = read_journal(folder / journal_name({}));
  CHECK(contents.done("a"));
  CHECK_FALSE(contents.done("b"));
  CHECK(names_of(contents, RecordState::failed) == Names{"b"});
  CHECK_FALSE(contents.has_ended);
}

TEST_CASE("a journal is one run's, and goes on by the same settings only") {
  const TemporaryFolder folder;
  {
    Journal journal(folder / "", {}, "s", false);
    journal.done(kEntry);
    CHECK_THROWS_AS(Journal(folder / "", {}, "s", true), IoError);   // in use
    CHECK_THROWS_AS(Journal(folder / "", {}, "s", false), IoError);  // in use, and it must stay
  }
  CHECK(done_in(read_journal(folder / journal_name({}))).size() == 1);
  CHECK_THROWS_AS(Journal(folder / "", {}, "other", true), IoError);
  CHECK(done_in(read_journal(folder / journal_name({}))).size() == 1);
  { Journal journal(folder / "", {}, "other", false); }
  CHECK(done_in(read_journal(folder / journal_name({}))).empty());
  write(folder / journal_name({}), "not a journal\n");
  CHECK_THROWS_AS(Journal(folder / "", {}, "s", true), IoError);
}

TEST_CASE("lines of several threads do not mix") {
  const TemporaryFolder folder;
  constexpr int kThreads = 8, kLines = 500;
  {
    Journal journal(folder / "", {}, "s", false);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < kLines; ++i)
          journal.done({std::to_string(t) + "-" + std::to_string(i), "r", {1, 2}, {3, 4}});
      });
    for (std::thread& thread : threads) thread.join();
  }
  const JournalContents contents = read_journal(folder / journal_name({}));
  CHECK(int(done_in(contents).size()) == kThreads * kLines);
  CHECK(contents.bad_lines == 0);
}
