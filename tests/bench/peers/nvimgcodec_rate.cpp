// What nvImageCodec does alone: JPEGs decoded and encoded again on a GPU, from memory to memory, in
// several threads at once, so that the decoding of one batch lies beside the encoding of another.
// Nothing is filtered, read or written. The quality is 90, the chroma subsampling the file's own.
//
//   nvimgcodec_rate both|decode|encode LANES BATCH THREADS SECONDS FILE...
//
// The library brings its memory itself, as it does for every program that asks for nothing else;
// with RATE_POOLS in the environment it takes convfilt's pools. It prints the pictures a second,
// once the first batch of each lane is done.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "kernels/backend/device_queue.hpp"
#include "src/picture/codecs/jpeg/device.hpp"
#include "src/picture/io.hpp"

using namespace convfilt;

int main(int argc, char** argv) {
  if (argc < 7) {
    std::fprintf(stderr,
                 "usage: nvimgcodec_rate both|decode|encode LANES BATCH THREADS SECONDS FILE...\n");
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  const bool missing = !DeviceJpeg::missing().empty();
  std::fprintf(
      stderr, "%6.0f ms library loaded\n",
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  if (missing) {
    std::fprintf(stderr, "%s\n", DeviceJpeg::missing().c_str());
    return 1;
  }
  const auto memory =
      std::getenv("RATE_POOLS") ? DeviceJpeg::Memory::pools : DeviceJpeg::Memory::library;
  const std::string what = argv[1];
  const int lanes = std::atoi(argv[2]), batch = std::atoi(argv[3]), threads = std::atoi(argv[4]);
  const double seconds = std::atof(argv[5]);
  struct File {
    std::vector<unsigned char> bytes;
    Header header;
  };
  std::vector<File> files;
  for (int i = 6; i < argc; ++i) {
    PictureReader reader(argv[i], {});
    const auto bytes = reader.file();
    files.push_back({{bytes.begin(), bytes.end()}, reader.header()});
  }
  std::atomic<int> warm{0};
  std::atomic<bool> ends{false}, counts{false}, failed{false};
  std::atomic<long> done{0};
  std::vector<std::thread> workers;
  for (int lane = 0; lane < lanes; ++lane) {
    workers.emplace_back([&, lane] {
      const auto begin = std::chrono::steady_clock::now();
      const auto phase = [&](const char* what) {
        if (lane == 0 && warm == 0)
          std::fprintf(
              stderr, "%6.0f ms %s\n",
              std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                  .count(),
              what);
      };
      DeviceQueue queue(0);
      phase("context and stream");
      DeviceJpeg codec(0, threads, memory);
      phase("decoder and encoder");
      std::size_t next = std::size_t(lane);
      for (bool first = true; !ends; first = false) {
        std::vector<const File*> taken;
        std::size_t bytes = 0;
        const auto pitch = [](const File& file) {
          return (std::size_t(file.header.width) * std::size_t(file.header.channels) + 511) / 512 *
                 512;
        };
        for (int i = 0; i < batch; ++i, next += std::size_t(lanes)) {
          taken.push_back(&files[next % files.size()]);
          bytes += pitch(*taken.back()) * std::size_t(taken.back()->header.height);
        }
        std::byte* at = queue.reserve(bytes);
        std::vector<DeviceJpeg::Input> inputs;
        std::vector<DeviceJpeg::Output> outputs;
        for (const File* file : taken) {
          const Header& header = file->header;
          const PictureView<std::byte> view{at, header.width, header.height, header.channels,
                                            std::ptrdiff_t(pitch(*file))};
          at += pitch(*file) * std::size_t(header.height);
          inputs.push_back({file->bytes, 1, view});
          outputs.push_back({view, 90, header.subsampling.value_or(Subsampling{})});
        }
        if (what != "encode" || first)
          for (const bool could : codec.decode(inputs, queue.stream()))
            if (!could) failed = true;
        queue.synchronize();
        if (first) phase("first batch decoded");
        if (what != "decode")
          for (const auto& file : codec.encode(outputs, queue.stream()))
            if (file.empty()) failed = true;
        queue.synchronize();
        if (first) phase("first batch encoded");
        if (failed) return;
        if (first) ++warm;
        if (counts) done += batch;
      }
    });
  }
  while (warm < lanes && !failed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto start = std::chrono::steady_clock::now();
  counts = true;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const long all = done;
  const double spent =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ends = true;
  for (std::thread& worker : workers) worker.join();
  if (failed) {
    std::fprintf(stderr, "a picture could not be decoded or encoded\n");
    return 1;
  }
  std::printf("%.1f\n", double(all) / spent);
  return 0;
}
