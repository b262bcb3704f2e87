/// JPEG on a GPU. Without one, or without nvImageCodec, these cases say so and check what is left.
#include "src/picture/codecs/jpeg/device.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <thread>
#include <vector>

#include "kernels/backend/device_queue.hpp"
#include "src/base/splitmix.hpp"
#include "src/picture/samples.hpp"
#include "tests/support/device/callers_stream.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/files/codec.hpp"

using namespace convfilt;
using namespace convfilt::testing;

namespace {

/// Why devices decode nothing here; empty where they do.
std::string missing() {
  const std::string none = test::cuda_missing();
  return none.empty() ? DeviceJpeg::missing() : none;
}

bool is_skipped() {
  if (missing().empty()) return false;
  MESSAGE("skipped: " << missing());
  return true;
}

Bytes jpeg_of(int width, int height, int channels, Subsampling subsampling = {}) {
  const Image image = pattern(width, height, channels, Depth::u8);
  WriteOptions options;
  options.subsampling = subsampling;
  return write_by(kJpegCodec, image, header_for(image, FormatId::jpeg, {}), options, nullptr);
}

struct Upright {
  int width, height, channels;
};

/// Decodes files at once, with other sizes of rows than pixels need, and brings the pixels back.
std::vector<Image> decode(DeviceJpeg& codec, test::CallersStream& stream,
                          const std::vector<const Bytes*>& files,
                          const std::vector<Upright>& shapes, int orientation = 1) {
  std::vector<DeviceJpeg::Input> inputs;
  std::size_t bytes = 0;
  std::vector<std::size_t> places;
  const auto pitch = [](const Upright& shape) {
    return std::size_t(shape.width * shape.channels + 63) / 64 * 64;
  };
  for (const Upright& shape : shapes) {
    places.push_back(bytes);
    bytes += pitch(shape) * std::size_t(shape.height);
  }
  std::byte* const memory = stream.allocate(bytes);
  for (std::size_t i = 0; i < files.size(); ++i)
    inputs.push_back({*files[i],
                      orientation,
                      {memory + places[i], shapes[i].width, shapes[i].height, shapes[i].channels,
                       std::ptrdiff_t(pitch(shapes[i]))}});
  const std::vector<bool> done = codec.decode(inputs, stream.get());
  std::vector<std::byte> host(bytes);
  stream.copy(host.data(), memory, bytes);
  stream.wait();
  std::vector<Image> images;
  for (std::size_t i = 0; i < files.size(); ++i) {
    images.emplace_back();
    if (!done[i]) continue;
    images.back() = Image(shapes[i].width, shapes[i].height, shapes[i].channels, Depth::u8);
    for (int y = 0; y < shapes[i].height; ++y)
      std::copy_n(host.data() + places[i] + pitch(shapes[i]) * std::size_t(y),
                  images.back().row_bytes(), images.back().view().row(y));
  }
  return images;
}

int largest_difference(const Image& bgr, const Image& rgb) {
  int largest = 0;
  const int channels = bgr.channels();
  for (int y = 0; y < bgr.height(); ++y)
    for (int x = 0; x < bgr.width(); ++x)
      for (int c = 0; c < channels; ++c) {
        const int a = int(sample(bgr, x, y, c)), b = int(sample(rgb, x, y, channels - 1 - c));
        largest = std::max(largest, std::abs(a - b));
      }
  return largest;
}

void swap_red_and_blue(Image& image) {
  if (image.channels() == 1) return;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      std::byte* const pixel = image.view().row(y) + 3 * x;
      std::swap(pixel[0], pixel[2]);
    }
}

}  // namespace

// It is the first, since the library is loaded once.
TEST_CASE("nvImageCodec's library writes nothing on standard error") {
  const TemporaryFolder folder;
  const std::string said = folder / "said";
  const int file = ::open(said.c_str(), O_CREAT | O_WRONLY, 0600), kept = ::dup(STDERR_FILENO);
  REQUIRE(file >= 0);
  ::dup2(file, STDERR_FILENO);
  const std::string none = DeviceJpeg::missing();
  if (missing().empty()) DeviceJpeg(0, 1);
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
  ::close(file);
  if (!none.empty()) MESSAGE("it is missing: " << none);
  CHECK(load(said).empty());
}

TEST_CASE("subsamplings that devices encode") {
  CHECK(DeviceJpeg::has({1, 1}));
  CHECK(DeviceJpeg::has({2, 1}));
  CHECK(DeviceJpeg::has({2, 2}));
  CHECK(DeviceJpeg::has({1, 2}));
  CHECK_FALSE(DeviceJpeg::has({4, 1}));
  CHECK_FALSE(DeviceJpeg::has({4, 2}));
}

TEST_CASE("what is missing is named with a remedy, and nothing works") {
  if (DeviceJpeg::missing().empty()) return;
  CHECK(DeviceJpeg::missing().find("use --codec=cpu") != std::string::npos);
  CHECK_THROWS_WITH_AS(DeviceJpeg(0, 1), DeviceJpeg::missing().c_str(), DeviceError);
  CHECK(DeviceJpeg::version().empty());
}

TEST_CASE("devices decode what libjpeg decodes, but for roundings, and turn it upright") {
  if (is_skipped()) return;
  test::CallersStream stream(DeviceKind::cuda);
  DeviceJpeg codec(0, 4);
  for (const Subsampling factors :
       {Subsampling{1, 1}, Subsampling{2, 1}, Subsampling{1, 2}, Subsampling{2, 2}}) {
    for (const auto& [width, height] : {std::pair{1, 1}, {17, 9}, {333, 201}, {640, 480}}) {
      CAPTURE(width);
      CAPTURE(factors.across);
      CAPTURE(factors.down);
      const Bytes file = jpeg_of(width, height, 3, factors);
      const Image expected = read_by(kJpegCodec, file).image;
      for (int orientation = 1; orientation <= 8; ++orientation) {
        CAPTURE(orientation);
        const Image turned = upright(expected.clone(), orientation);
        const std::vector<Image> got =
            decode(codec, stream, {&file}, {{turned.width(), turned.height(), 3}}, orientation);
        REQUIRE_FALSE(got.front().empty());
        // Chroma is made up between its samples in other ways.
        const bool is_full = factors == Subsampling{1, 1};
        CHECK(largest_difference(turned, got.front()) <= (is_full ? 3 : 48));
      }
    }
  }
  const Bytes grey = jpeg_of(333, 201, 1);
  const std::vector<Image> got = decode(codec, stream, {&grey}, {{333, 201, 1}});
  REQUIRE_FALSE(got.front().empty());
  CHECK(largest_difference(read_by(kJpegCodec, grey).image, got.front()) <= 2);
}

TEST_CASE("each picture of mixed batches in several threads is that of its own decoding") {
  if (is_skipped()) return;
  struct File {
    Bytes bytes;
    Upright shape;
    Image alone;
  };
  std::vector<File> files;
  SplitMix random(7);
  {
    test::CallersStream stream(DeviceKind::cuda);
    DeviceJpeg codec(0, 2);
    for (int i = 0; i < 60; ++i) {
      const int width = 1 + int(random.below(700)), height = 1 + int(random.below(500));
      const int channels = i % 5 == 0 ? 1 : 3;
      const Subsampling factors{1 + int(random.below(2)), 1 + int(random.below(2))};
      File file{jpeg_of(width, height, channels, factors), {width, height, channels}, {}};
      file.alone = std::move(decode(codec, stream, {&file.bytes}, {file.shape}).front());
      REQUIRE_FALSE(file.alone.empty());
      files.push_back(std::move(file));
    }
  }
  // Of 200 batches each thread does some, beside the others.
  constexpr int kThreads = 4, kBatches = 50;
  std::vector<std::thread> threads;
  std::atomic<int> failed{0}, wrong{0}, compared{0};
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      SplitMix choice(std::uint64_t(100 + thread));
      DeviceJpeg codec(0, 2);
      for (int batch = 0; batch < kBatches; ++batch) {
        test::CallersStream stream(DeviceKind::cuda);
        std::vector<const Bytes*> bytes;
        std::vector<Upright> shapes;
        std::vector<const File*> taken;
        for (int i = 0, count = 1 + int(choice.below(40)); i < count; ++i) {
          taken.push_back(&files[choice.below(files.size())]);
          bytes.push_back(&taken.back()->bytes);
          shapes.push_back(taken.back()->shape);
        }
        const std::vector<Image> got = decode(codec, stream, bytes, shapes);
        for (std::size_t i = 0; i < got.size(); ++i) {
          ++compared;
          failed += got[i].empty();
          wrong += !got[i].empty() && !same(got[i], taken[i]->alone);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(compared.load() > 2000);
  CHECK(failed.load() == 0);
  CHECK(wrong.load() == 0);
  MESSAGE(compared.load() << " pictures of " << kThreads * kBatches << " batches compared");
}

TEST_CASE("a picture is decoded to where another lay once that one has been read") {
  if (is_skipped()) return;
  // Hardware decoding in batches was seen to write before the stream had done its earlier work
  // (meta-pytorch/torchcodec#1634).
  constexpr int kSide = 512, kBatch = 16;
  constexpr std::size_t kRow = 3 * kSide, kPicture = kRow * kSide;
  test::CallersStream stream(DeviceKind::cuda);
  DeviceJpeg codec(0, 2);
  std::vector<Bytes> files;
  for (const int shade : {40, 200}) {
    Image image(kSide, kSide, 3, Depth::u8);
    for (int y = 0; y < kSide; ++y) std::fill_n(image.view().row(y), kRow, std::byte(shade));
    files.push_back(
        write_by(kJpegCodec, image, header_for(image, FormatId::jpeg, {}), {}, nullptr));
  }
  std::byte* const pixels = stream.allocate(kBatch * kPicture);
  std::byte* const kept = stream.allocate(kBatch * kPicture);
  std::vector<std::byte> host(kBatch * kPicture);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    for (const Bytes& file : files) {
      std::vector<DeviceJpeg::Input> inputs;
      for (int i = 0; i < kBatch; ++i)
        inputs.push_back(
            {file, 1, {pixels + std::size_t(i) * kPicture, kSide, kSide, 3, std::ptrdiff_t(kRow)}});
      for (const bool could : codec.decode(inputs, stream.get())) REQUIRE(could);
      // The second file is decoded while these wait for their turn.
      stream.delay();
      stream.copy(kept, pixels, kBatch * kPicture);
    }
    stream.copy(host.data(), kept, kBatch * kPicture);
    stream.wait();
    // What was copied last is the second file's.
    CHECK(std::ranges::all_of(host, [](std::byte b) { return std::abs(int(b) - 200) <= 3; }));
    stream.delay();
    stream.copy(host.data(), pixels, kBatch * kPicture);
    std::vector<DeviceJpeg::Input> inputs;
    for (int i = 0; i < kBatch; ++i)
      inputs.push_back(
          {files[0],
           1,
           {pixels + std::size_t(i) * kPicture, kSide, kSide, 3, std::ptrdiff_t(kRow)}});
    for (const bool could : codec.decode(inputs, stream.get())) REQUIRE(could);
    stream.wait();
    CHECK(std::ranges::all_of(host, [](std::byte b) { return std::abs(int(b) - 200) <= 3; }));
  }
}

TEST_CASE("what devices encode is what libjpeg reads: size, subsampling, quality and colours") {
  if (is_skipped()) return;
  test::CallersStream stream(DeviceKind::cuda);
  DeviceJpeg codec(0, 4);
  std::vector<DeviceJpeg::Output> outputs;
  std::vector<Image> images;
  for (const int channels : {1, 3})
    for (const auto& [width, height] : {std::pair{1, 1}, {17, 9}, {333, 201}})
      for (const int quality : {30, 95}) {
        Image image = pattern(width, height, channels, Depth::u8);
        const std::size_t bytes = image.row_bytes() * std::size_t(height);
        std::byte* const memory = stream.allocate(bytes);
        stream.copy(memory, std::as_const(image).view().row(0), bytes);
        outputs.push_back({{memory, width, height, channels, std::ptrdiff_t(image.row_bytes())},
                           quality,
                           quality == 30 ? Subsampling{2, 2} : Subsampling{1, 1}});
        images.push_back(std::move(image));
      }
  const std::vector<std::vector<unsigned char>> files = codec.encode(outputs, stream.get());
  for (std::size_t i = 0; i < files.size(); ++i) {
    CAPTURE(i);
    REQUIRE_FALSE(files[i].empty());
    const Read got = read_by(kJpegCodec, files[i]);
    REQUIRE(got.refusal.empty());
    CHECK(got.header.quality == outputs[i].quality);
    if (images[i].channels() == 3) CHECK(got.header.subsampling == outputs[i].subsampling);
    // libjpeg loses as much, with the same tables.
    Image bgr = images[i].clone();
    swap_red_and_blue(bgr);
    WriteOptions options;
    options.quality = outputs[i].quality;
    options.subsampling = outputs[i].subsampling;
    const Image by_libjpeg =
        read_by(kJpegCodec,
                write_by(kJpegCodec, bgr, header_for(bgr, FormatId::jpeg, {}), options, nullptr))
            .image;
    const int lost = largest_difference(by_libjpeg, images[i]);
    CHECK(largest_difference(got.image, images[i]) <= lost + lost / 2 + 4);
  }
}

TEST_CASE("data that are no JPEG are refused, and the next batch is none the worse") {
  if (is_skipped()) return;
  test::CallersStream stream(DeviceKind::cuda);
  DeviceJpeg codec(0, 2);
  const Bytes good = jpeg_of(64, 48, 3), none(100, 7), empty;
  for (int round = 0; round < 3; ++round) {
    const std::vector<Image> got =
        decode(codec, stream, {&none, &empty}, {{64, 48, 3}, {64, 48, 3}});
    CHECK(got[0].empty());
    CHECK(got[1].empty());
    const std::vector<Image> after =
        decode(codec, stream, {&good, &good}, {{64, 48, 3}, {64, 48, 3}});
    CHECK_FALSE(after[0].empty());
    CHECK_FALSE(after[1].empty());
  }
}
