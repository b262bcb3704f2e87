/// Pictures from file to file, in bands on any number of threads.
#include "src/run/crew.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "kernels/backend/host/parallel.hpp"
#include "src/base/errors.hpp"
#include "src/filter/chain.hpp"
#include "src/filter/edge.hpp"
#include "src/filter/mapped.hpp"
#include "src/mask/make.hpp"
#include "src/picture/codecs/jpeg/entropy.hpp"
#include "src/picture/codecs/jpeg/stream.hpp"
#include "tests/support/files/jpeg.hpp"
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
  ResidentPlan device_plan(const Shape&, const Place&, int) const override { return {}; }

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

TEST_CASE("edges of a JPEG are those of the luma that it holds, whatever its chroma clips") {
  const TemporaryFolder folder;
  constexpr int kSide = 96, kBlock = 16;
  // The same luma everywhere, with colours that red, green and blue cannot show.
  Image flat(kSide, kSide, 3, Depth::u8);
  for (int y = 0; y < kSide; ++y) {
    auto* row = reinterpret_cast<unsigned char*>(flat.view().row(y));
    for (int x = 0; x < kSide; ++x) {
      const bool is_odd = (x / kBlock + y / kBlock) % 2 == 1;
      const unsigned char pixel[] = {100, std::uint8_t(is_odd ? 20 : 235),
                                     std::uint8_t(is_odd ? 235 : 20)};
      std::copy_n(pixel, 3, row + std::ptrdiff_t(x) * 3);
    }
  }
  save(folder / "flat.jpg", encoded(flat, JCS_YCbCr, 3, sampling(1, 1)));
  const auto most = [&](const std::string& in, FilterPtr filter) {
    Run run;
    run(folder / in, folder / "out.png", std::move(filter));
    const Image image = read_image(folder / "out.png", {}, nullptr);
    int largest = 0;
    for (int y = 0; y < image.height(); ++y) {
      const auto* row = reinterpret_cast<const unsigned char*>(image.view().row(y));
      for (int i = 0; i < image.width() * image.channels(); ++i)
        largest = std::max(largest, int(row[i]));
    }
    return largest;
  };
  EdgeOptions hue;
  hue.direction = EdgeDirection::hue;
  const FilterPtr edge = edge_filter(edge_masks({}), {}), box = mask_filter(box_mask(3));
  CHECK(most("flat.jpg", edge) == 0);
  CHECK(most("flat.jpg", chain({edge, box})) == 0);
  // Others get the colours that a decoder shows.
  CHECK(most("flat.jpg", chain({box, edge})) > 0);
  CHECK(most("flat.jpg", edge_filter(edge_masks({}), hue)) > 0);
}

namespace {

/// The luma that a JPEG holds.
Image luma_of(const std::string& path) {
  PictureReader reader(path, {});
  REQUIRE(reader.take_luma());
  return read_all(reader).image;
}

/// `in_colours` has colours be decoded, filtered by luma and encoded anew.
FilterPtr of_luma(FilterPtr filter, bool in_colours = false) {
  Mapping mapping;
  mapping.luma = true;
  mapping.keep_hidden = in_colours;  // no JPEG hides a colour, but nobody asks for its luma then
  return mapped(std::move(filter), mapping);
}

bool coded_alike(const std::vector<Component>& a, const std::vector<Component>& b) {
  return std::ranges::equal(a, b, [](const Component& one, const Component& other) {
    return one.across == other.across && one.down == other.down && one.width == other.width &&
           one.height == other.height && one.table == other.table;
  });
}

/// Whether chroma has the same coefficients.
bool has_chroma_of(const Bytes& result, const Bytes& in) {
  const auto a = components_of(result), b = components_of(in);
  return a.size() == 3 && b.size() == 3 && a[1].values == b[1].values &&
         a[2].values == b[2].values && coded_alike(a, b);
}

}  // namespace

TEST_CASE("a JPEG whose luma is filtered keeps its chroma bit for bit") {
  const TemporaryFolder folder;
  const FilterPtr sharpen = mask_filter(sharpen_mask(1, 1));
  std::mt19937 random(3);
  const auto restarts = [](int units, int across, int down) {
    return [=](jpeg_compress_struct& info) {
      sampling(across, down)(info);
      info.restart_interval = unsigned(units);
    };
  };
  const Configure kinds[] = {sampling(1, 1),
                             sampling(2, 1),
                             sampling(2, 2),
                             sampling(1, 2),
                             restarts(1, 2, 2),
                             restarts(3, 2, 2),
                             restarts(7, 1, 1),
                             restarts(5, 2, 1),
                             [](jpeg_compress_struct& info) { info.optimize_coding = TRUE; }};
  for (const Configure& kind : kinds) {
    for (int round = 0; round < 6; ++round) {
      const bool is_long = round == 5;  // so that its codes are looked up in larger tables
      const int width = round == 0 ? 1
                        : is_long  ? 651
                                   : 1 + int(random() % 200),
                height = round == 0 ? 1
                         : is_long  ? 483
                                    : 1 + int(random() % 150);
      CAPTURE(&kind - kinds);
      CAPTURE(width);
      CAPTURE(height);
      const Configure best = [&](jpeg_compress_struct& info) {
        if (round % 2 == 1) jpeg_set_quality(&info, 100, TRUE);
        kind(info);
      };
      const Bytes in = colour(pattern(width, height, 3, Depth::u8), best);
      REQUIRE((in.size() > 2 * jpeg::ScanComponent::kLongData) == is_long);
      save(folder / "in.jpg", in);
      Bytes first;
      for (const int threads : {1, 4}) {
        Run run;
        const FileReport report =
            run(folder / "in.jpg", folder / "out.jpg", of_luma(sharpen), threads);
        CHECK(report.warnings.empty());
        CHECK(report.header.channels == 3);
        if (first.empty()) first = load(folder / "out.jpg");
        CHECK(load(folder / "out.jpg") == first);
      }
      REQUIRE(has_chroma_of(first, in));
      // Luma is as if it was a picture of its own.
      Convolver convolver(on_the_cpu());
      const Bytes alone = grey(filtered(luma_of(folder / "in.jpg"), *sharpen, convolver), best);
      CHECK(components_of(first)[0].values == components_of(alone)[0].values);
      CHECK(jpeg::is_plain(first));
    }
  }
}

TEST_CASE("luma of a result that keeps chroma is that of a result in colours, but for a step") {
  const TemporaryFolder folder;
  constexpr int kWidth = 1500, kHeight = 1201;
  // Smooth colours that nothing clips.
  Image image(kWidth, kHeight, 3, Depth::u8);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      for (int c = 0; c < 3; ++c)
        image.view().row(y)[std::ptrdiff_t(x) * 3 + c] =
            std::byte(128 + int(30 * std::sin(x * 0.05 + c) + 30 * std::cos(y * 0.07 - c)));
  const auto finest = [](jpeg_compress_struct& info) { jpeg_set_quality(&info, 100, TRUE); };
  save(folder / "in.jpg", colour(image, finest));
  const FilterPtr blur = box();  // it does not amplify roundings
  for (const FilterPtr& filter : {blur, chain({of_luma(blur), of_luma(blur)})}) {
    ConvolverOptions options = on_the_cpu();
    for (const Border border : {Border::replicate, Border::wrap}) {
      options.border = border;
      Run run(options);
      const bool is_chain = !filter->steps().empty();
      const FileReport report =
          run(folder / "in.jpg", folder / "in2.jpg", is_chain ? filter : of_luma(filter), 2);
      if (!is_chain && border == Border::replicate) CHECK(report.bands > 1);
      const FilterPtr step = of_luma(blur, true);
      run(folder / "in.jpg", folder / "out.png", is_chain ? chain({step, step}) : step, 2);
      CHECK(has_chroma_of(load(folder / "in2.jpg"), load(folder / "in.jpg")));
      const Image kept = luma_of(folder / "in2.jpg"),
                  anew = read_image(folder / "out.png", {}, nullptr);
      double most = 0, sum = 0;
      for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kWidth; ++x) {
          double luma = 0;
          for (int c = 0; c < 3; ++c) luma += kLuma[std::size_t(c)] * sample(anew, x, y, c);
          const double difference = sample(kept, x, y, 0) - luma;
          most = std::max(most, std::abs(difference));
          sum += difference;
        }
      }
      CHECK(most <= 2.5);  // coefficients have steps of 1, and colours are rounded
      CHECK(std::abs(sum) / (kWidth * kHeight) < 0.02);
    }
  }
  // The file is replaced by its own result. It lies in memory, and a copy of its chroma.
  Run run;
  const Bytes in = load(folder / "in.jpg");
  run(folder / "in.jpg", folder / "out.jpg", of_luma(blur));
  run(folder / "in.jpg", folder / "in.jpg", of_luma(blur));
  CHECK(run.asked > 2 * std::int64_t(in.size()));
  CHECK(load(folder / "in.jpg") == load(folder / "out.jpg"));
  CHECK(has_chroma_of(load(folder / "in.jpg"), in));
}

TEST_CASE("where a JPEG's chroma cannot be kept, the result is made in colours") {
  const TemporaryFolder folder;
  const Image made = pattern(70, 50, 3, Depth::u8);
  const Bytes plain = colour(made);
  const auto compare = [&](bool keeps, const Bytes& in, const WriteOptions& write = {},
                           const std::string& out = "out.jpg", bool refuse_damaged = true) {
    save(folder / "in.jpg", in);
    Run run;
    run.batch.write = write;
    run.batch.read.loader = write.loader;
    run.batch.read.refuse_damaged = refuse_damaged;
    const FileReport kept = run(folder / "in.jpg", folder / out, of_luma(box()), 2);
    const Bytes result = load(folder / out);
    const FileReport anew = run(folder / "in.jpg", folder / out, of_luma(box(), true), 2);
    CHECK(kept.warnings == anew.warnings);
    CHECK((result != load(folder / out)) == keeps);
    CHECK(kept.keeps_chroma == keeps);
    if (keeps) CHECK(has_chroma_of(result, in));
  };
  compare(true, plain);
  Bytes more = plain;
  more.insert(more.end(), 100, 0xFF);  // as cameras fill a block
  compare(true, more);
  more = plain;
  more.insert(more.end(), plain.begin(), plain.end());
  compare(true, more);
  compare(true, plain, {.strip = Strip::all});
  compare(false, plain, {}, "out.png");
  compare(false, plain, {.quality = 90});
  compare(false, plain, {.subsampling = Subsampling{2, 2}});
  compare(false, plain, {.progressive = true});
  compare(false, plain, {.optimize = true});
  compare(false, plain, {.loader = Loader::opencv});
  compare(false, jpeg_with_exif(plain, exif(6, true)));
  compare(false, Bytes(plain.begin(), plain.end() - 400), {}, "out.jpg", false);
  Bytes no_step = plain;
  const Bytes table = {0xFF, 0xDB, 0, 67, 0};
  *(std::ranges::search(no_step, table).end() + 20) = 0;
  compare(false, no_step, {}, "out.jpg", false);
  compare(false, encoded(made, JCS_CMYK, 4, [](jpeg_compress_struct&) {}));
  compare(false, grey(made));
  for (const Configure& kind :
       {sampling(4, 1), Configure(progressive), Configure([](jpeg_compress_struct& info) {
          for (int c : {1, 2}) info.comp_info[c].dc_tbl_no = info.comp_info[c].ac_tbl_no = 0;
        }),
        Configure([](jpeg_compress_struct& info) { jpeg_set_colorspace(&info, JCS_RGB); })})
    compare(false, colour(made, kind));
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
  WriteOptions optimized;
  optimized.optimize = true;
  CHECK(memory("plain.jpg", "out.jpg", optimized) == plain + 3 * kPixels);
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

namespace {

FilterPtr blurred(const std::vector<Region>& regions) {
  Mapping mapping;
  mapping.regions = regions;
  return mapped(mask_filter(box_mask(5)), mapping);
}

/// Whether a pixel of a region lies in a block, which covers so many pixels.
bool holds_one(const std::vector<Region>& regions, int x, int y, int width, int height) {
  for (int row = y * height; row < (y + 1) * height; ++row)
    for (const Region& region : regions)
      if (const Span span = region.in_row(row);
          std::max(span.first, x * width) < std::min(span.end, (x + 1) * width))
        return true;
  return false;
}

/// How many blocks of a result are those of another, where they hold a pixel of a region or where
/// they hold none.
int equal_blocks(const std::vector<Component>& a, const std::vector<Component>& b,
                 const std::vector<Region>& regions, bool inside, int* all) {
  int across = 1, down = 1, equal = 0;
  for (const Component& component : a) {
    across = std::max(across, component.across);
    down = std::max(down, component.down);
  }
  *all = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int width = 8 * across / a[i].across, height = 8 * down / a[i].down;
    for (int y = 0; y < a[i].height; ++y) {
      for (int x = 0; x < a[i].width; ++x) {
        if (holds_one(regions, x, y, width, height) != inside) continue;
        ++*all;
        equal += std::equal(a[i].block(x, y), a[i].block(x, y) + 64, b[i].block(x, y));
      }
    }
  }
  return equal;
}

/// A grey JPEG of 70x50 pixels, arithmetic-coded with steps of 1. All coefficients are 0 but for
/// one.
Bytes with_coefficient(int place, int value) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = 70;
  info.image_height = 50;
  info.input_components = 1;
  info.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  arithmetic(info);
  const auto common = reinterpret_cast<j_common_ptr>(&info);
  jvirt_barray_ptr blocks = info.mem->request_virt_barray(common, JPOOL_IMAGE, TRUE, 9, 7, 1);
  info.mem->realize_virt_arrays(common);
  info.mem->access_virt_barray(common, blocks, 0, 1, TRUE)[0][8][place] = JCOEF(value);
  jpeg_write_coefficients(&info, &blocks);
  jpeg_finish_compress(&info);
  Bytes bytes(memory, memory + size);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return bytes;
}

struct Kind {
  const char* name;
  int channels;
  Configure configure;
};

const Kind kKinds[] = {
    {"4:4:4", 3, sampling(1, 1)},
    {"4:2:2", 3, sampling(2, 1)},
    {"4:2:0", 3, sampling(2, 2)},
    {"4:4:0", 3, sampling(1, 2)},
    {"4:1:1", 3, sampling(4, 1)},
    {"4:1:0", 3, sampling(4, 2)},
    {"grey", 1, [](jpeg_compress_struct&) {}},
    {"grey of two blocks", 1, sampling(2, 2)},
    {"progressive", 3, progressive},
    {"restarts", 3, [](jpeg_compress_struct& info) { info.restart_interval = 2; }},
    {"RGB", 3, [](jpeg_compress_struct& info) { jpeg_set_colorspace(&info, JCS_RGB); }},
    {"steps of 16 bits", 3, [](jpeg_compress_struct& info) { jpeg_set_quality(&info, 4, FALSE); }},
    {"blue finer than luma", 3,
     [](jpeg_compress_struct& info) {
       info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 1;
       info.comp_info[1].h_samp_factor = 2;
     }},
#ifdef C_ARITH_CODING_SUPPORTED
    {"arithmetic", 3, arithmetic},
#endif
};

}  // namespace

TEST_CASE("a JPEG that is filtered by region keeps the coefficients of all other blocks") {
  const TemporaryFolder folder;
  std::mt19937 random(11);
  const auto between = [&](int low, int high) { return low + int(random() % (high - low + 1)); };
  int changed = 0, kept = 0;
  for (const Kind& kind : kKinds) {
    for (int round = 0; round < 6; ++round) {
      const int width = round == 0 ? 64 : between(1, 140),
                height = round == 0 ? 48 : between(1, 100);
      const Image made = pattern(width, height, kind.channels, Depth::u8);
      const auto coded = [&](const Image& image) {
        return kind.channels == 1 ? grey(image, kind.configure) : colour(image, kind.configure);
      };
      std::vector<Region> regions;
      for (int count = between(1, 3); count > 0; --count) {
        const int x = between(0, width - 1), y = between(0, height - 1);
        regions.push_back({x, y, between(1, std::min(40, width - x)),
                           between(1, std::min(30, height - y)), between(0, 1) == 1});
      }
      CAPTURE(kind.name);
      CAPTURE(width);
      CAPTURE(height);
      save(folder / "in.jpg", coded(made));
      Bytes first;
      for (const int threads : {1, 4}) {
        Run run;
        run.batch.write.progressive = round == 2;
        CHECK(
            run(folder / "in.jpg", folder / "out.jpg", blurred(regions), threads).warnings.empty());
        if (first.empty()) first = load(folder / "out.jpg");
        CHECK(load(folder / "out.jpg") == first);
      }
      const auto before = components_of(load(folder / "in.jpg")), after = components_of(first);
      REQUIRE(coded_alike(after, before));
      int all = 0;
      CHECK(equal_blocks(after, before, regions, false, &all) == all);
      kept += all;
      // Those that are coded anew are as if the whole result was.
      Convolver convolver(on_the_cpu());
      const auto whole = components_of(coded(
          filtered(read_image(folder / "in.jpg", {}, nullptr), *blurred(regions), convolver)));
      REQUIRE(coded_alike(after, whole));
      CHECK(equal_blocks(after, whole, regions, true, &all) == all);
      changed += all - equal_blocks(after, before, regions, true, &all);
    }
  }
  CHECK(kept > 3000);
  CHECK(changed > 1000);
}

TEST_CASE("a JPEG in several bands keeps blocks, and the memory of its coefficients is counted") {
  const TemporaryFolder folder;
  save(folder / "in.jpg", colour(pattern(1500, 1203, 3, Depth::u8), sampling(1, 1)));
  const std::vector<Region> regions = {{3, 5, 700, 300}, {900, 400, 555, 700, true}};
  const auto before = components_of(load(folder / "in.jpg"));
  Bytes first;
  for (const int threads : {1, 2, 16}) {
    Run run;
    const FileReport report = run(folder / "in.jpg", folder / "out.jpg", blurred(regions), threads);
    CHECK(report.bands > 3);
    const std::int64_t with_coefficients = run.asked;
    if (first.empty()) first = load(folder / "out.jpg");
    CHECK(load(folder / "out.jpg") == first);
    run(folder / "in.jpg", folder / "all.jpg", box(), threads);
    CHECK(with_coefficients >= run.asked + 3 * 2 * 1504 * 1208);
  }
  // The picture in one piece, since its border wraps.
  ConvolverOptions options = on_the_cpu();
  options.border = Border::wrap;
  Run run(options);
  run(folder / "in.jpg", folder / "wrapped.jpg", blurred(regions));
  for (const char* name : {"out.jpg", "wrapped.jpg"}) {
    int all = 0;
    CHECK(equal_blocks(components_of(load(folder / name)), before, regions, false, &all) == all);
    CHECK(all > 40000);
  }
  CHECK(run(folder / "in.jpg", folder / "in.jpg", blurred(regions)).warnings.empty());
  CHECK(load(folder / "in.jpg") == load(folder / "wrapped.jpg"));
}

TEST_CASE("where blocks outside a region cannot be kept, one warning says why") {
  const TemporaryFolder folder;
  const Image made = pattern(70, 50, 3, Depth::u8);
  const Bytes plain = colour(made);
  write_image(folder / "in.png", made, {}, nullptr);
  const std::vector<Region> regions = {{20, 10, 8, 8}};
  const auto warns = [&](const Bytes& in, const WriteOptions& write, const std::string& why,
                         const std::string& out = "out.jpg", bool warns_of_more = false) {
    save(folder / "in.jpg", in);
    Run run;
    run.batch.write = write;
    run.batch.read.loader = write.loader;
    run.batch.read.refuse_damaged = !warns_of_more;
    const FileReport report =
        run(folder / (in.empty() ? "in.png" : "in.jpg"), folder / out, blurred(regions), 2);
    CAPTURE(why);
    REQUIRE(report.warnings.size() == std::size_t(why.empty() ? 0 : warns_of_more ? 2 : 1));
    if (!why.empty()) CHECK(report.warnings.back().find(why) != std::string::npos);
    return load(folder / out);
  };
  warns(plain, {}, "");
  warns(plain, {.subsampling = Subsampling{2, 2}}, "");
  warns(plain, {.quality = 90}, "--quality changes its tables");
  warns(plain, {.subsampling = Subsampling{1, 1}}, "--subsampling changes its sampling");
  warns(plain, {.loader = Loader::opencv}, "OpenCV's codecs write no coefficients");
  warns(plain, {}, "", "out.png");
  warns(plain, {}, "", "out.webp");
  warns(plain, {.quality = 90}, "only a JPEG made from a JPEG keeps its coefficients", "out.webp");
  warns({}, {}, "only a JPEG made from a JPEG keeps its coefficients");
  warns(jpeg_with_exif(plain, exif(6, true)), {}, "IN is stored turned");
  warns(encoded(made, JCS_CMYK, 4, [](jpeg_compress_struct&) {}), {},
        "its colours or their sampling must be changed", "out.jpg", true);

  // Of a damaged file, the result is that of the whole picture.
  const Bytes cut(plain.begin(), plain.end() - 400);
  const Bytes whole = warns(cut, {}, "IN is damaged", "out.jpg", true);
  const Image result = read_image(folder / "out.jpg", {}, nullptr);
  CHECK(sample(result, 69, 49, 0) <= 2);

  // Black of the best quality has the least mean that there is. Arithmetic coding has larger values
  // than Huffman's, which the result has.
#ifdef C_ARITH_CODING_SUPPORTED
  for (const auto& [place, value] : {std::pair{0, -1024}, {1, 1023}, {1, -1023}})
    warns(with_coefficient(place, value), {}, "");
  for (const auto& [place, value] : {std::pair{0, -1025}, {0, 1024}, {1, 1024}, {1, -1024}})
    warns(with_coefficient(place, value), {}, "IN is damaged");
#endif

  // A table that a later scan replaces: luma in the first scan, and then another table for chroma.
  static constexpr jpeg_scan_info kScans[] = {{1, {0, 0, 0, 0}, 0, 63, 0, 0},
                                              {2, {1, 2, 0, 0}, 0, 63, 0, 0}};
  Bytes two = colour(made, [](jpeg_compress_struct& info) {
    info.scan_info = kScans;
    info.num_scans = 2;
  });
  warns(two, {}, "");
  const Bytes scan = {0xFF, 0xDA};
  auto second = std::find_end(two.begin(), two.end(), scan.begin(), scan.end());
  Bytes table = {0xFF, 0xDB, 0, 67, 1};
  table.resize(table.size() + 64, 9);
  // Huffman tables of the scan stand before it.
  two.insert(second, table.begin(), table.end());
  warns(two, {}, "changes its tables between scans");
}
