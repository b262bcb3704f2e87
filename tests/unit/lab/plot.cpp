/// Drawing by gnuplot: what comes back, and what is said where it fails.
#include "src/lab/plot.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "src/base/errors.hpp"
#include "tests/support/files/picture.hpp"
#include "tests/support/gnuplot.hpp"

namespace convfilt::test {
namespace {

namespace fs = std::filesystem;

constexpr PlotSize kSize{320, 200};

std::string message_of(const auto& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

/// While it lives, programs are looked for in these folders.
class ProgramsIn {
 public:
  explicit ProgramsIn(const std::string& folders) : path_(getenv("PATH")) {
    setenv("PATH", folders.c_str(), 1);
  }
  ~ProgramsIn() { setenv("PATH", path_.c_str(), 1); }

 private:
  std::string path_;
};

/// While it lives, `gnuplot` is a script of these lines, whose $out is the file of the picture.
class FakeGnuplot {
 public:
  explicit FakeGnuplot(const std::string& lines, fs::perms permissions = fs::perms::owner_all)
      : programs_((folder_ / "") + ":" + getenv("PATH")) {
    std::ofstream(folder_ / "gnuplot")
        << "#!/bin/sh\nout=$(sed -n \"s/^set output '\\([^']*\\)'.*/\\1/p\" \"$2\")\n"
        << lines << "\n";
    fs::permissions(folder_ / "gnuplot", permissions);
  }

 private:
  testing::TemporaryFolder folder_;
  ProgramsIn programs_;
};

}  // namespace

TEST_CASE("a script becomes a picture of the size and format asked for") {
  if (testing::gnuplot_missing()) return;
  const std::string script = "set title " + in_gnuplot("a_b's {\u00d7}") + "\nplot x\n";
  const auto svg = run_gnuplot(script, PlotFormat::svg, kSize);
  const std::string text(svg.begin(), svg.end());
  CHECK(contains(text, "<svg"));
  CHECK(contains(text, "width=\"320\" height=\"200\""));
  CHECK(contains(text, "a_b's {\u00d7}"));  // neither subscript nor braces are gnuplot's here
  CHECK(contains(text, "</svg>"));

  const auto png = run_gnuplot(script, PlotFormat::png, kSize);
  const cv::Mat pixels = cv::imdecode(png, cv::IMREAD_COLOR);
  CHECK(pixels.cols == 2 * kSize.width);
  CHECK(pixels.rows == 2 * kSize.height);
}

TEST_CASE("a script of many megabytes goes through") {
  if (testing::gnuplot_missing()) return;
  std::string script = "$data << END\n";
  for (int k = 0; k < 300'000; ++k) script += "12345 67890\n";
  CHECK_FALSE(run_gnuplot(script + "END\nplot $data\n", PlotFormat::png, kSize).empty());
}

TEST_CASE("a file is written by the end of its name") {
  if (testing::gnuplot_missing()) return;
  const testing::TemporaryFolder folder;
  plot_to_file(folder / "a.svg", {"plot x\n", kSize});
  plot_to_file(folder / "a.PNG", {"plot x\n", kSize});
  CHECK(contains(std::string(1, char(testing::load(folder / "a.svg")[0])), "<"));
  CHECK(testing::load(folder / "a.PNG")[1] == 'P');
  CHECK_THROWS_AS(check_plot(folder / "a.pdf"), UsageError);
  CHECK_THROWS_AS(check_plot(".svg"), UsageError);
  CHECK_THROWS_AS(check_plot(folder / "missing/a.svg"), IoError);
  CHECK_NOTHROW(check_plot(folder / "b.svg"));
  CHECK(folder.files() == 2);
}

TEST_CASE("what gnuplot says is passed on, and nothing is written") {
  if (testing::gnuplot_missing()) return;
  const testing::TemporaryFolder folder;
  const std::string message = message_of([&] {
    plot_to_file(folder / "a.svg", {"plot no_such_thing\n", kSize});
  });
  CHECK(contains(message, "gnuplot fails"));
  CHECK(contains(message, "no_such_thing"));
  CHECK_FALSE(contains(message, "\n"));
  CHECK(folder.files() == 0);
}

TEST_CASE("where gnuplot is missing, its package is named") {
  const testing::TemporaryFolder folder;
  const ProgramsIn nothing("/proc/self/no-programs");
  CHECK(contains(message_of([&] { check_plot(folder / "a.svg"); }), "package gnuplot-nox"));
  CHECK(contains(message_of([&] { run_gnuplot("plot x\n", PlotFormat::png, kSize); }),
                 "package gnuplot-nox"));
}

TEST_CASE("a gnuplot that cannot be started is not called missing") {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "gnuplot") << "#!/bin/sh\n";
  const ProgramsIn one(folder / "");
  CHECK(message_of([&] { run_gnuplot("plot x\n", PlotFormat::svg, kSize); }) ==
        "cannot draw: gnuplot cannot be started; see whether you may run it, and whether the "
        "temporary folder has room");
}

TEST_CASE("a picture that is cut short is not published") {
  const testing::TemporaryFolder folder;
  const std::string kCut =
      "cannot draw: gnuplot's picture is cut short; see whether the temporary folder has room, or "
      "draw less, since a picture of more than 64 MiB is not taken";
  constexpr const char* kWhole[] = {"printf '<svg></svg>\\n\\n' >$out",
                                    "printf '\\211PNG \\0\\0\\0\\0IEND\\256B`\\202' >$out"};
  constexpr const char* kShort[] = {"printf '<svg></svg' >$out", ": >$out",
                                    "printf '\\211PNG \\0\\0\\0\\0IEND\\256B`' >$out"};
  for (const char* name : {"a.svg", "a.png"}) {
    const bool is_svg = plot_format_of(name) == PlotFormat::svg;
    for (const char* lines : kShort) {
      const FakeGnuplot gnuplot(lines);
      CHECK(message_of([&] { plot_to_file(folder / name, {"plot x\n", kSize}); }) == kCut);
    }
    {
      const FakeGnuplot gnuplot(kWhole[is_svg ? 1 : 0]);
      CHECK(message_of([&] { plot_to_file(folder / name, {"plot x\n", kSize}); }) == kCut);
    }
    CHECK(folder.files() == (is_svg ? 0 : 1));
    const FakeGnuplot gnuplot(kWhole[is_svg ? 0 : 1]);
    CHECK(message_of([&] { plot_to_file(folder / name, {"plot x\n", kSize}); }) == "");
  }
  CHECK(folder.files() == 2);
}

TEST_CASE("a gnuplot that takes too long is called slow") {
  const FakeGnuplot gnuplot("kill -XCPU $$");  // as its limit of time does
  CHECK(message_of([&] { run_gnuplot("plot x\n", PlotFormat::svg, kSize); }) ==
        "cannot draw: gnuplot takes more than an hour; leave out the picture");
}

}  // namespace convfilt::test
