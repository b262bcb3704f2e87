/// Pictures from file to file, in bands on any number of threads.
#include "src/run/crew.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kernels/backend/host/parallel.hpp"
#include "src/base/errors.hpp"
#include "src/mask/make.hpp"
#include "tests/support/files/picture.hpp"
#include "tests/support/filtered.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

ConvolverOptions on_the_cpu() {
  ConvolverOptions options;
  options.request.device = "cpu";
  return options;
}

/// Filters pictures from file to file. A test may hear of what they ask.
struct Run : Admission, JobEvents {
  explicit Run(const ConvolverOptions& options = on_the_cpu()) : lane(batch, options) {
    batch.convolver = options;
  }

  FileReport operator()(const std::string& in, const std::string& out, FilterPtr filter,
                        int threads = 0) {
    const Job job{in, "", out};
    batch.filter = std::move(filter);
    Passage passage(batch, job, *this, *this);
    passage.threads = cpu::threads_or_all(threads);
    FileReport report = lane.filter(passage);
    if (commits) passage.commit();
    return report;
  }

  void admit(Passage&, std::int64_t bytes, bool) override {
    asked = bytes;
    on_admit();
  }
  void before_commit(PictureOutcome&, const FileStamp& stamp) override { on_commit(stamp); }

  Batch batch;
  PictureLane lane;
  bool commits = true;
  std::int64_t asked = 0;  ///< bytes of memory
  std::function<void()> on_admit = [] {};
  std::function<void(const FileStamp&)> on_commit = [](const FileStamp&) {};
};

FilterPtr box() {
  return mask_filter(box_mask(3));
}

/// A filter that calls a function for each band.
class OneBand : public Filter {
 public:
  explicit OneBand(std::function<void()> body) : body_(std::move(body)) {}
  std::string text() const override { return "test"; }
  std::vector<Mask> masks() const override { return {box_mask(3)}; }
  bool keeps_lightness() const override { return true; }
  std::unique_ptr<Work> begin(const Shape& in, const Place& place) const override {
    return std::make_unique<Calling>(place.convolver.problem_of(in, box_mask(3), 0), body_);
  }
  ResidentPlan resident(const Shape&, Convolver&) const override { return {}; }

 private:
  struct Calling : Work {
    Calling(const Problem& problem, const std::function<void()>& function)
        : Work(problem, ""), body(function) {}
    struct Caller : Worker {
      explicit Caller(const std::function<void()>& function) : body(function) {}
      void push(BandView<const std::byte>, BandView<std::byte>) override { body(); }
      const std::function<void()>& body;
    };
    std::unique_ptr<Worker> make_worker() const override { return std::make_unique<Caller>(body); }
    const std::function<void()>& body;
  };

  std::function<void()> body_;
};

}  // namespace

TEST_CASE("files get the same bytes on any number of threads, in bands and whole") {
  const TemporaryFolder folder;
  for (const std::string extension : {"ppm", "png", "tif", "jpg", "webp"}) {
    // Some bands of a megabyte each.
    const Image in = pattern(1500, 1200, 3, Depth::u8);
    write_image(folder / "in.ppm", in, {}, nullptr);
    const Mask mask = gaussian_mask(2);
    Bytes first;
    for (const int threads : {1, 2, 16}) {
      CAPTURE(extension);
      CAPTURE(threads);
      Run run;
      const std::string out = folder / ("out." + extension);
      const FileReport report = run(folder / "in.ppm", out, mask_filter(mask), threads);
      CHECK(report.why_whole == "");
      CHECK(report.bands > 3);
      CHECK(report.warnings.empty());
      if (first.empty()) first = load(out);
      CHECK(load(out) == first);
    }
    Convolver convolver(on_the_cpu());
    write_image(folder / ("whole." + extension), convolve(convolver, in, mask), {}, nullptr);
    CHECK(load(folder / ("whole." + extension)) == first);
  }
}

TEST_CASE("a picture with alpha gives the same file on any number of threads") {
  const TemporaryFolder folder;
  write_image(folder / "in.png", pattern(700, 900, 4, Depth::u8), {}, nullptr);
  Bytes first;
  for (const int threads : {1, 2, 16}) {
    Run run;
    const FileReport report = run(folder / "in.png", folder / "out.png", box(), threads);
    CHECK(report.why_whole == "");
    if (first.empty()) first = load(folder / "out.png");
    CHECK(load(folder / "out.png") == first);
  }
}

TEST_CASE("a picture whose border wraps lies in memory, and goes in bands") {
  const TemporaryFolder folder;
  const Image in = pattern(1500, 1200, 3, Depth::u8);
  write_image(folder / "in.ppm", in, {}, nullptr);
  ConvolverOptions options = on_the_cpu();
  options.border = Border::wrap;
  Run run(options);
  CHECK(run(folder / "in.ppm", folder / "out.ppm", mask_filter(gaussian_mask(3)), 2).bands > 3);
  CHECK(run.asked > std::int64_t{1500} * 1200 * 3);
  Convolver convolver(options);
  CHECK(
      same(read_image(folder / "out.ppm", {}, nullptr), convolve(convolver, in, gaussian_mask(3))));
}

TEST_CASE("damage that only the last band shows leaves the old output") {
  const TemporaryFolder folder;
  write_image(folder / "in.ppm", pattern(1500, 1200, 3, Depth::u8), {}, nullptr);
  Bytes cut = load(folder / "in.ppm");
  cut.pop_back();
  save(folder / "in.ppm", cut);
  save(folder / "out.ppm", Bytes(10, 'A'));
  for (const int threads : {1, 2}) {
    Run run;
    CHECK_THROWS_AS(run(folder / "in.ppm", folder / "out.ppm", box(), threads), IoError);
    CHECK(load(folder / "out.ppm") == Bytes(10, 'A'));
    CHECK(folder.files() == 2);
  }
  Run run;
  run.batch.read.refuse_damaged = false;
  CHECK(run(folder / "in.ppm", folder / "out.ppm", box(), 2).warnings.size() == 1);
  CHECK(read_image(folder / "out.ppm", {}, nullptr).height() == 1200);
}

TEST_CASE("an error within a band leaves the old output") {
  const TemporaryFolder folder;
  write_image(folder / "in.ppm", pattern(1500, 1200, 3, Depth::u8), {}, nullptr);
  save(folder / "out.ppm", Bytes(10, 'A'));
  const auto failing = std::make_shared<OneBand>([] { throw DeviceError("it fails"); });
  Run run;
  for (const int threads : {1, 2, 16}) {
    CHECK_THROWS_AS(run(folder / "in.ppm", folder / "out.ppm", failing, threads), DeviceError);
    CHECK(load(folder / "out.ppm") == Bytes(10, 'A'));
    CHECK(folder.files() == 2);
  }
}

TEST_CASE("the memory of a picture counts all that is held of it") {
  const TemporaryFolder folder;
  constexpr int kSide = 640;
  constexpr std::int64_t kPixels = std::int64_t{kSide} * kSide;
  const Image image = pattern(kSide, kSide, 3, Depth::u8);
  WriteOptions progressive;
  progressive.progressive = true;
  write_image(folder / "plain.jpg", image, {}, nullptr);
  write_image(folder / "scans.jpg", image, progressive, nullptr);
  save(folder / "turned.jpg", jpeg_with_exif(load(folder / "plain.jpg"), exif(3, true)));
  const auto memory = [&](const std::string& in, const std::string& out,
                          const WriteOptions& options = {}) {
    Run run;
    run.batch.write = options;
    run(folder / in, folder / out, box(), 1);
    return run.asked;
  };
  const std::int64_t plain = memory("plain.jpg", "out.jpg");
  CHECK(plain > 0);
  // Coefficients have two bytes, and chroma is a quarter of luma each.
  CHECK(memory("scans.jpg", "out.jpg") == plain + 3 * kPixels);
  CHECK(memory("plain.jpg", "out.jpg", progressive) == plain + 3 * kPixels);
  // A turned picture lies in memory while it is filtered.
  CHECK(memory("turned.jpg", "out.jpg") == plain + 3 * kPixels);
}

TEST_CASE("a large picture that is turned lies in memory twice while it is read") {
  const TemporaryFolder folder;
  constexpr int kWidth = 8000, kHeight = 4000;
  Image image(kWidth, kHeight, 1, Depth::u8);
  for (int y = 0; y < kHeight; ++y)
    std::fill_n(image.view().row(y), std::size_t(kWidth), std::byte{7});
  write_image(folder / "plain.jpg", image, {}, nullptr);
  save(folder / "turned.jpg", jpeg_with_exif(load(folder / "plain.jpg"), exif(3, true)));
  struct Enough {};
  Run run;
  run.on_admit = [] { throw Enough(); };
  CHECK_THROWS_AS(run(folder / "turned.jpg", folder / "out.jpg", box(), 1), Enough);
  CHECK(run.asked == std::int64_t{2} * kWidth * kHeight);
}

TEST_CASE("a result is there when it is committed, and nobody sees one that is not") {
  const TemporaryFolder folder;
  write_image(folder / "in.ppm", pattern(1500, 1200, 3, Depth::u8), {}, nullptr);
  for (const std::string extension : {"ppm", "png", "tif", "jpg", "webp"}) {
    CAPTURE(extension);
    const std::string out = folder / "out." + extension;
    Run run;
    run.commits = false;
    int told = 0;
    run.on_commit = [&](const FileStamp&) { ++told; };
    run(folder / "in.ppm", out, box());
    CHECK(!std::filesystem::exists(out));
    CHECK(told == 0);

    run.commits = true;
    std::uint64_t size = 0;
    run.on_commit = [&](const FileStamp& stamp) {
      ++told;
      size = stamp.size;
      CHECK(!std::filesystem::exists(out));
    };
    run(folder / "in.ppm", out, box());
    CHECK(told == 1);
    CHECK(load(out).size() == size);
  }
}

TEST_CASE("a stop drops a picture between two bands") {
  const TemporaryFolder folder;
  write_image(folder / "in.ppm", pattern(1500, 1200, 3, Depth::u8), {}, nullptr);
  std::atomic<bool> stop{false};
  const auto stopping = std::make_shared<OneBand>([&] { stop = true; });
  Run run;
  run.batch.stop = &stop;
  CHECK_THROWS_AS(run(folder / "in.ppm", folder / "out.ppm", stopping, 1), Stopped);
  CHECK(folder.files() == 1);
}

TEST_CASE("orientation is applied once, in bands too") {
  const TemporaryFolder folder;
  const Image in = pattern(90, 60, 3, Depth::u8);
  write_image(folder / "in.png", in, {}, nullptr);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    CAPTURE(orientation);
    save(folder / "turned.png",
         png_with_exif(load(folder / "in.png"), exif(orientation, orientation % 2 == 0)));
    Run run;
    const FileReport report = run(folder / "turned.png", folder / "out.png", box());
    CHECK(report.why_whole == "");
    CHECK(report.header.orientation == orientation);
    const Picture out = read_picture(folder / "out.png", {}, nullptr);
    CHECK(out.header.orientation == 1);
    Convolver convolver(on_the_cpu());
    const Image upright = read_image(folder / "turned.png", {}, nullptr);
    CHECK(same(out.image, convolve(convolver, upright, box_mask(3))));
    CHECK(out.image.width() == (orientation >= 5 ? 60 : 90));
  }
}
