/// The walk over Huffman codes that GPUs take, in the emulator, beside the one from the beginning.
#include "kernels/huffman/walk.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <opencv2/imgcodecs.hpp>
#include <random>
#include <vector>

#include "kernels/strategy.hpp"
#include "src/picture/codecs/jpeg/stream.hpp"
#include "src/picture/io.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/files/codec.hpp"

namespace convfilt::emulator {
std::unique_ptr<huffman::ScanWalker> make_walker(const PlanOptions&);
}

using namespace convfilt;
using namespace convfilt::testing;

namespace {

const char* const kPhotograph = CONVFILT_SAMPLES "/rocket.jpg";

/// By OpenCV, which writes restart markers.
Bytes restarting(int channels, int interval) {
  Bytes bytes;
  cv::imencode(".jpg",
               cv::imread(kPhotograph, channels == 1 ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR),
               bytes, {cv::IMWRITE_JPEG_QUALITY, 80, cv::IMWRITE_JPEG_RST_INTERVAL, interval});
  return bytes;
}

/// Of a photograph, so that tables and lengths are as cameras have them.
std::vector<Bytes> photographs() {
  std::vector<Bytes> all = {restarting(1, 0), restarting(1, 33), restarting(3, 1),
                            restarting(3, 40)};
  const Image image = read_image(kPhotograph, {}, nullptr);
  for (const Subsampling factors : {Subsampling{1, 1}, Subsampling{2, 1}, Subsampling{2, 2}})
    for (const bool has_own_tables : {false, true}) {
      WriteOptions options;
      options.subsampling = factors;
      options.optimize = has_own_tables;
      options.quality = has_own_tables ? 55 : 95;
      all.push_back(
          write_by(kJpegCodec, image, header_for(image, FormatId::jpeg, {}), options, nullptr));
    }
  return all;
}

}  // namespace

TEST_CASE("a walk in parts holds what a walk from the beginning holds, and no more") {
  std::vector<std::unique_ptr<huffman::ScanWalker>> walkers;
  walkers.push_back(emulator::make_walker({}));
  if (test::cuda_missing().empty()) walkers.push_back(huffman::make_walker(0));
  std::mt19937 random(1);
  for (const Bytes& whole : photographs()) {
    REQUIRE(jpeg::is_plain(whole));
    std::vector<Bytes> files = {whole};
    for (int k = 0; k < 16; ++k) {
      Bytes changed = whole;
      changed[random() % changed.size()] ^= static_cast<unsigned char>(1 << random() % 8);
      if (k % 4 == 0) changed.erase(changed.begin() + std::ptrdiff_t(random() % changed.size()));
      if (k % 4 == 1) changed.resize(random() % changed.size());
      files.push_back(std::move(changed));
    }
    std::vector<std::unique_ptr<huffman::Scan>> scans;
    std::vector<const huffman::Scan*> taken;
    std::vector<bool> expected;
    for (const Bytes& file : files) {
      std::unique_ptr<huffman::Scan> scan = jpeg::codes_of_plain(file);
      if (!scan) {
        CHECK_FALSE(jpeg::is_plain(file));
        continue;
      }
      taken.push_back(scan.get());
      scans.push_back(std::move(scan));
      expected.push_back(jpeg::is_plain(file));
    }
    for (const auto& walker : walkers) CHECK(walker->hold(taken) == expected);
  }
}

TEST_CASE("a GPU's walk takes more codes at once than one copy uploads") {
  if (!test::cuda_missing().empty()) return;
  const Bytes whole = photographs().back();
  Bytes changed = whole;
  changed.erase(changed.end() - 40, changed.end() - 20);
  const auto scan = jpeg::codes_of_plain(whole), other = jpeg::codes_of_plain(changed);
  REQUIRE(scan);
  REQUIRE(other);
  REQUIRE_FALSE(jpeg::is_plain(changed));
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  std::vector<const huffman::Scan*> taken;
  std::vector<bool> expected;
  for (std::size_t bytes = 0; bytes < kBytes; bytes += scan->data.size()) {
    expected.push_back(taken.size() % 7 != 3);
    taken.push_back(expected.back() ? scan.get() : other.get());
  }
  const auto walker = huffman::make_walker(0);
  CHECK(walker->hold(taken) == expected);
  taken.resize(2);
  expected.resize(2);
  CHECK(walker->hold(taken) == expected);
}

TEST_CASE("a file with too many restart markers for a device is walked at once") {
  cv::Mat noise(4096, 2048, CV_8UC1);
  cv::randu(noise, 0, 256);
  Bytes whole;
  cv::imencode(".jpg", noise, whole,
               {cv::IMWRITE_JPEG_QUALITY, 10, cv::IMWRITE_JPEG_RST_INTERVAL, 1});
  const std::unique_ptr<huffman::Scan> scan = jpeg::codes_of_plain(whole);
  REQUIRE(scan);
  CHECK(scan->segments.empty());
  CHECK(scan->data.capacity() == 0);
  Bytes changed = whole;
  changed.erase(changed.end() - 12, changed.end() - 4);
  CHECK_FALSE(jpeg::codes_of_plain(changed));
}
