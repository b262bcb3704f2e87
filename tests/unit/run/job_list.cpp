/// Which pictures are filtered, and where their results go.
#include "src/run/job_list.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "src/base/errors.hpp"
#include "tests/support/files/picture.hpp"

using namespace convfilt;
using namespace convfilt::testing;
namespace fs = std::filesystem;

namespace {

/// A folder of files, of which the list knows names alone.
struct Tree {
  explicit Tree(const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      fs::create_directories(fs::path(folder / file).parent_path());
      std::ofstream(folder / file) << file;
    }
    selection.inputs = {folder / "in"};
    selection.out = folder / "out";
  }

  /// The names of jobs, or of their results below the tree's folder.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    const Jobs jobs = list_jobs(selection).jobs;
    for (std::size_t i = 0; i < jobs.size(); ++i) all.push_back(jobs[i].name);
    return all;
  }
  std::vector<std::string> results() const {
    std::vector<std::string> all;
    const Jobs jobs = list_jobs(selection).jobs;
    for (std::size_t i = 0; i < jobs.size(); ++i)
      all.push_back(fs::path(jobs[i].out).lexically_relative(folder / "").string());
    return all;
  }

  TemporaryFolder folder;
  Selection selection;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a folder's pictures are taken by their endings, in order, and mirrored") {
  Tree tree({"in/b.jpg", "in/a.PNG", "in/notes.txt", "in/.hidden.jpg", "in/sub/c.tif",
             "in/sub/deep/d.webp", "in/.cache/e.jpg"});
  CHECK(tree.names() == Names{"a.PNG", "b.jpg"});
  CHECK(list_jobs(tree.selection).other_files == 1);
  tree.selection.recursive = true;
  CHECK(tree.results() == Names{"out/a.PNG", "out/b.jpg", "out/sub/c.tif", "out/sub/deep/d.webp"});
  tree.selection.globs = {"*.txt", "c.*"};
  CHECK(tree.names() == Names{"notes.txt", "sub/c.tif"});
}

TEST_CASE("results are named by the template and the format") {
  Tree tree({"in/a.b.jpg", "in/{ext}.png"});
  tree.selection.name = "{stem}_blur{ext}";
  CHECK(tree.results() == Names{"out/a.b_blur.jpg", "out/{ext}_blur.png"});
  tree.selection.format = "tif";
  CHECK(tree.results() == Names{"out/a.b_blur.tif", "out/{ext}_blur.tif"});
  for (const char* wrong :
       {"blur.png", "{stem}/x{ext}", "../{stem}{ext}", "{stem}{what}", "{stem}}"}) {
    CAPTURE(wrong);
    tree.selection.name = wrong;
    CHECK_THROWS_AS(tree.names(), UsageError);
  }
}

TEST_CASE("two inputs that would write one result are refused") {
  Tree tree({"in/a.jpg", "in/a.png", "other/a.jpg"});
  CHECK(tree.names().size() == 2);
  tree.selection.format = "png";
  CHECK_THROWS_AS(tree.names(), UsageError);
  tree.selection.format = "";
  tree.selection.inputs.push_back(tree.folder / "other/a.jpg");
  CHECK_THROWS_AS(tree.names(), UsageError);
}

TEST_CASE("a result cannot replace a journal") {
  Tree tree({"in/journal.jpg", "out/.convfilt-journal"});
  for (const char* name :
       {".convfilt-{stem}", ".convfilt-{stem}.2-of-3", ".Convfilt-{stem}{ext}"}) {
    CAPTURE(name);
    tree.selection.name = name;
    CHECK_THROWS_WITH_AS(tree.names(), doctest::Contains("--name"), UsageError);
  }
  for (const char* name : {".convfilt{stem}{ext}", "x.convfilt-{stem}", ".{stem}"}) {
    CAPTURE(name);
    tree.selection.name = name;
    CHECK(tree.names().size() == 1);
  }
  // By a link, too.
  tree.selection.name = "{stem}{ext}";
  fs::create_symlink(".convfilt-journal", tree.folder / "out/journal.jpg");
  CHECK_THROWS_AS(tree.names(), UsageError);
}

TEST_CASE("results that are inputs are refused, but for their own in place") {
  Tree tree({"in/a.jpg", "in/a_soft.jpg"});
  tree.selection.out = tree.folder / "in";
  CHECK_THROWS_AS(tree.names(), UsageError);
  tree.selection.in_place = true;
  CHECK(tree.names().size() == 2);
  tree.selection.name = "{stem}_soft{ext}";  // a.jpg's result is the other input
  CHECK_THROWS_AS(tree.names(), UsageError);
  // A link is another name for the same file.
  Tree linked({"in/a.jpg", "out/b.jpg"});
  fs::remove(linked.folder / "out/b.jpg");
  fs::create_symlink(linked.folder / "in/a.jpg", linked.folder / "out/a.jpg");
  CHECK_THROWS_AS(linked.names(), UsageError);
}

TEST_CASE("results that are links to each other are one file") {
  Tree tree({"in/a.jpg", "in/b.jpg", "in/x/c.jpg", "in/y/c.jpg", "out/y/other"});
  CHECK(tree.names().size() == 2);
  fs::create_symlink("b.jpg", tree.folder / "out/a.jpg");  // there is no b.jpg yet
  CHECK_THROWS_AS(tree.names(), UsageError);
  fs::remove(tree.folder / "out/a.jpg");
  tree.selection.recursive = true;
  CHECK(tree.names().size() == 4);
  fs::create_symlink("y", tree.folder / "out/x");
  CHECK_THROWS_AS(tree.names(), UsageError);
}

TEST_CASE("results in a folder that is read are no inputs") {
  Tree tree({"in/a.jpg", "in/out/a.jpg"});
  tree.selection.out = tree.folder / "in/out";
  tree.selection.recursive = true;
  CHECK(tree.names() == Names{"a.jpg"});
}

TEST_CASE("links out of the folder are followed only when asked, and circles end") {
  Tree tree({"in/a.jpg", "in/sub/b.jpg", "elsewhere/c.jpg"});
  tree.selection.recursive = true;
  fs::create_symlink(tree.folder / "elsewhere", tree.folder / "in/folder");
  fs::create_symlink(tree.folder / "elsewhere/c.jpg", tree.folder / "in/c.jpg");
  fs::create_symlink(tree.folder / "in/sub/b.jpg", tree.folder / "in/inside.jpg");
  fs::create_symlink(tree.folder / "in", tree.folder / "in/sub/circle");
  CHECK(tree.names() == Names{"a.jpg", "inside.jpg", "sub/b.jpg"});
  CHECK(list_jobs(tree.selection).links_passed == 3);
  tree.selection.follow_links = true;
  CHECK(tree.names() == Names{"a.jpg", "c.jpg", "folder/c.jpg", "inside.jpg", "sub/b.jpg"});
}

TEST_CASE("lists of files keep their own folders, but never lead out") {
  Tree tree({"list"});
  tree.selection.inputs.clear();
  tree.selection.files_from = tree.folder / "list";
  std::ofstream(tree.folder / "list") << "x/a.jpg\r\n\n./y/../b.jpg\n../c.jpg\n/somewhere/d.jpg\n";
  CHECK(tree.results() == Names{"out/b.jpg", "out/c.jpg", "out/d.jpg", "out/x/a.jpg"});
  std::ofstream(tree.folder / "list", std::ios::binary) << std::string("new\nline.jpg\0e.jpg", 18);
  tree.selection.nul = true;
  CHECK(tree.names() == Names{"e.jpg", "new\nline.jpg"});
  tree.selection.files_from = tree.folder / "none";
  CHECK_THROWS_AS(tree.names(), IoError);
}

TEST_CASE("a place lies in a folder when links are followed") {
  Tree tree({"out/x", "elsewhere/y"});
  fs::create_symlink(tree.folder / "elsewhere", tree.folder / "out/link");
  CHECK(lies_in(tree.folder / "out/new/deep/a.jpg", tree.folder / "out"));
  CHECK_FALSE(lies_in(tree.folder / "out/link/a.jpg", tree.folder / "out"));
  CHECK_FALSE(lies_in(tree.folder / "out/../elsewhere/a.jpg", tree.folder / "out"));
  CHECK_FALSE(lies_in(tree.folder / "outer/a.jpg", tree.folder / "out"));
}

TEST_CASE("inputs that are no regular files are refused by their names, in folders, too") {
  Tree tree({"in/a.jpg"});
  REQUIRE(::mkfifo((tree.folder / "in/pipe.jpg").c_str(), 0600) == 0);
  REQUIRE(::mkfifo((tree.folder / "in/pipe.log").c_str(), 0600) == 0);
  tree.selection.inputs = {tree.folder / "in", tree.folder / "in/pipe.jpg", "/dev/zero"};
  const JobList list = list_jobs(tree.selection);
  REQUIRE(list.jobs.size() == 1);
  CHECK(list.jobs[0].name == "a.jpg");
  CHECK(list.other_files == 1);
  REQUIRE(list.refused.size() == 3);
  for (const int i : {0, 1}) CHECK(list.refused[i].why.find("pipe.jpg") != std::string::npos);
  CHECK(list.refused[2].why.find("/dev/zero") != std::string::npos);
  CHECK(list.refused[2].in == "/dev/zero");
}

TEST_CASE("links that lead nowhere are jobs, which fail when they are read") {
  Tree tree({"in/a.jpg"});
  fs::create_symlink(tree.folder / "nowhere", tree.folder / "in/lost.jpg");
  fs::create_symlink("round.jpg", tree.folder / "in/round.jpg");
  fs::create_symlink(tree.folder / "nowhere", tree.folder / "in/lost.txt");
  tree.selection.inputs = {tree.folder / "in"};
  const JobList list = list_jobs(tree.selection);
  REQUIRE(list.jobs.size() == 3);
  CHECK(list.jobs[1].name == "lost.jpg");
  CHECK(list.jobs[2].name == "round.jpg");
  CHECK(list.other_files == 1);
}

TEST_CASE("an input that is not there has a name, also with a slash behind it") {
  Tree tree({"in/a.jpg"});
  tree.selection.inputs = {tree.folder / "photoz/"};
  const JobList list = list_jobs(tree.selection);
  REQUIRE(list.jobs.size() == 1);
  CHECK(list.jobs[0].name == "photoz");
}

TEST_CASE("listed files keep their folders below the one that the command is run in") {
  Tree tree({"in/x/a.jpg", "in/y/a.jpg"});
  const std::string list = tree.folder / "list";
  const fs::path here = fs::current_path();
  std::ofstream(list) << (fs::canonical(std::string(tree.folder / "in")) / "x/a.jpg").string()
                      << '\n'
                      << "y/a.jpg\n"
                      << "./y/../y/a.jpg\n";
  tree.selection.inputs.clear();
  tree.selection.files_from = list;
  fs::current_path(std::string(tree.folder / "in"));
  CHECK_THROWS_WITH_AS(list_jobs(tree.selection), doctest::Contains("would both become"),
                       UsageError);
  std::ofstream(list) << (fs::current_path() / "x/a.jpg").string() << "\ny/a.jpg\n";
  const JobList jobs = list_jobs(tree.selection);
  fs::current_path(here);
  REQUIRE(jobs.jobs.size() == 2);
  CHECK(jobs.jobs[0].name == "x/a.jpg");
  CHECK(jobs.jobs[1].name == "y/a.jpg");
}

TEST_CASE("results of earlier runs are no inputs, but for those that are named") {
  Tree tree({"in/a.jpg", "in/a_b.jpg", "in/sub/a_b.jpg", "in/c_b.jpg"});
  tree.selection.inputs = {tree.folder / "in"};
  tree.selection.out = tree.folder / "in";
  tree.selection.recursive = true;
  tree.selection.name = "{stem}_s{ext}";
  const std::set<std::string> results{"a_b.jpg", "sub/a_b.jpg"};
  const JobList list = list_jobs(tree.selection, results);
  REQUIRE(list.jobs.size() == 2);
  CHECK(list.jobs[0].name == "a.jpg");
  CHECK(list.jobs[1].name == "c_b.jpg");
  CHECK(list.results_passed == 2);
  tree.selection.inputs.push_back(tree.folder / "in/a_b.jpg");
  CHECK(list_jobs(tree.selection, results).jobs.size() == 3);
}

TEST_CASE("a list whose names end with NUL is none with lines") {
  Tree tree({"in/a.jpg", "in/b.jpg"});
  const std::string list = tree.folder / "list";
  const std::string a = tree.folder / "in/a.jpg", b = tree.folder / "in/b.jpg";
  std::ofstream(list, std::ios::binary) << a << '\0' << b << '\0';
  tree.selection.inputs.clear();
  tree.selection.files_from = list;
  CHECK_THROWS_WITH_AS(list_jobs(tree.selection), doctest::Contains("--null"), UsageError);
  tree.selection.nul = true;
  CHECK(list_jobs(tree.selection).jobs.size() == 2);
}
