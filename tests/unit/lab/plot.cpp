/// Drawing by gnuplot: what comes back, and what is said where it fails.
#include "src/lab/plot.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <opencv2/imgcodecs.hpp>
#include <string>

#include "src/base/errors.hpp"
#include "tests/support/gnuplot.hpp"
#include "tests/support/picture_files.hpp"

namespace convfilt::test {
namespace {

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

/// While it lives, programs are looked for in a folder that has none.
class NoPrograms {
 public:
  NoPrograms() : path_(getenv("PATH")) { setenv("PATH", "/proc/self/no-programs", 1); }
  ~NoPrograms() { setenv("PATH", path_.c_str(), 1); }

 private:
  std::string path_;
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
  plot_to_file(folder / "a.svg", "plot x\n", kSize);
  plot_to_file(folder / "a.PNG", "plot x\n", kSize);
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
  const std::string message =
      message_of([&] { plot_to_file(folder / "a.svg", "plot no_such_thing\n", kSize); });
  CHECK(contains(message, "gnuplot fails"));
  CHECK(contains(message, "no_such_thing"));
  CHECK_FALSE(contains(message, "\n"));
  CHECK(folder.files() == 0);
}

TEST_CASE("where gnuplot is missing, its package is named") {
  const testing::TemporaryFolder folder;
  const NoPrograms nothing;
  CHECK(contains(message_of([&] { check_plot(folder / "a.svg"); }), "package gnuplot-nox"));
  CHECK(contains(message_of([&] { run_gnuplot("plot x\n", PlotFormat::png, kSize); }),
                 "package gnuplot-nox"));
}

}  // namespace convfilt::test
