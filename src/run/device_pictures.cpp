#include "src/run/device_pictures.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/backend/device_errors.hpp"
#include "src/base/clock.hpp"
#include "src/base/errors.hpp"
#include "src/picture/jpeg/device.hpp"
#include "src/picture/jpeg/stream.hpp"
#include "src/picture/samples.hpp"

namespace convfilt {
namespace {

bool is_jpeg(const std::string& extension) {
  const Format* format = find_format(extension);
  return format && format->id == FormatId::jpeg;
}

bool becomes_jpeg(const std::string& out, const WriteOptions& write) {
  return is_jpeg(write.format.empty() ? extension_of(out) : write.format);
}

Shape upright_shape(const Header& header) {
  Shape shape{header.width, header.height, header.channels, header.depth};
  if (turns_sideways(header.orientation)) std::swap(shape.width, shape.height);
  return shape;
}

/// Rows begin where bursts of memory do.
std::size_t pitch_of(const Shape& shape) {
  constexpr std::size_t kAlignment = 512;
  const std::size_t bytes = std::size_t(shape.width) * std::size_t(shape.channels);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t pitched_bytes_of(const Shape& shape) {
  return pitch_of(shape) * std::size_t(shape.height);
}

PictureView<std::byte> view_at(std::byte* memory, const Shape& shape) {
  return {memory, shape.width, shape.height, shape.channels, std::ptrdiff_t(pitch_of(shape))};
}

/// What a picture takes of the host: the file that goes in and the one that comes back, both of
/// which the library holds once more. Half a byte for each pixel is a file of high quality.
std::int64_t host_bytes_of(PictureReader& reader) {
  const Header& header = reader.header();
  const auto in = std::int64_t(reader.file_bytes());
  const std::int64_t out = std::max(in, std::int64_t{header.width} * header.height / 2);
  return 2 * (in + out);
}

class DevicePictures : public BatchDevice {
 public:
  DevicePictures(int ordinal, const ConvolverOptions& options, FilterPtr filter, int threads)
      : name_("cuda:" + std::to_string(ordinal)),
        queue_(ordinal),
        filter_(on(name_, options), std::move(filter), queue_),
        codec_(ordinal, threads) {}

  std::string name() const override { return name_; }

  std::vector<DeviceResult> run(std::span<const DeviceJob> jobs) override {
    try {
      return filtered(jobs);
    } catch (const DeviceMemoryError&) {
      // Fewer pictures at a time shall not find the memory of many taken.
      filter_.release();
      queue_.release();
      codec_.release();
      throw;
    }
  }

 private:
  /// A picture of the batch, and where it lies.
  struct Placed {
    std::size_t job = 0;
    PictureView<std::byte> in, out;
  };

  static ConvolverOptions on(const std::string& device, ConvolverOptions options) {
    options.request.device = device;
    return options;
  }

  std::vector<DeviceResult> filtered(std::span<const DeviceJob> jobs) {
    std::vector<DeviceResult> results(jobs.size());
    const double share = 1.0 / double(jobs.size());
    const std::vector<Placed> decoded = decode(jobs, results);
    std::vector<Placed> done;
    Clock::time_point start = Clock::now();
    for (const Placed& picture : decoded) {
      try {
        const Strategy& strategy = filter_.run(picture.in, Depth::u8, picture.out);
        results[picture.job].strategy = strategy.name;
        done.push_back(picture);
      } catch (const UsageError&) {
        // The CPU's way says why, or finds a strategy.
      }
    }
    queue_.synchronize();
    const double filter_ms = ms_since(start) * share;

    start = Clock::now();
    std::vector<DeviceJpeg::Output> outputs;
    for (const Placed& picture : done) {
      const FileJob& file = jobs[picture.job].file;
      const WriteOptions settings = jpeg_settings(jobs[picture.job].reader->header(), file.write);
      outputs.push_back({picture.out, std::max(1, *settings.quality), *settings.subsampling});
    }
    std::vector<std::vector<unsigned char>> files = codec_.encode(outputs, queue_.stream());
    // Where the device failed meanwhile, none of this counts.
    queue_.synchronize();
    const double encode_ms = ms_since(start) * share;
    for (std::size_t i = 0; i < done.size(); ++i) {
      DeviceResult& result = results[done[i].job];
      result.file = std::move(files[i]);
      result.filter_ms = filter_ms;
      result.encode_ms = encode_ms;
    }
    return results;
  }

  /// Those that could be decoded, each with room for its result.
  std::vector<Placed> decode(std::span<const DeviceJob> jobs, std::vector<DeviceResult>& results) {
    const Clock::time_point start = Clock::now();
    std::vector<Placed> placed;
    std::vector<std::size_t> places;
    std::vector<Shape> shapes;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Shape in = upright_shape(jobs[i].reader->header());
      try {
        results[i].shape = filter_.result_of(in);
      } catch (const UsageError&) {
        continue;
      }
      placed.push_back({i, {}, {}});
      places.push_back(bytes);
      shapes.push_back(in);
      bytes += pitched_bytes_of(in) + pitched_bytes_of(results[i].shape);
    }
    std::byte* const memory = queue_.reserve(bytes);
    std::vector<DeviceJpeg::Input> inputs;
    for (std::size_t i = 0; i < placed.size(); ++i) {
      Placed& picture = placed[i];
      picture.in = view_at(memory + places[i], shapes[i]);
      picture.out =
          view_at(memory + places[i] + pitched_bytes_of(shapes[i]), results[picture.job].shape);
      PictureReader& reader = *jobs[picture.job].reader;
      inputs.push_back({reader.file(), reader.header().orientation, picture.in});
    }
    const std::vector<bool> could = codec_.decode(inputs, queue_.stream());
    queue_.synchronize();
    std::vector<Placed> decoded;
    for (std::size_t i = 0; i < placed.size(); ++i)
      if (could[i]) decoded.push_back(placed[i]);
    const double ms = ms_since(start) / double(jobs.size());
    for (DeviceResult& result : results) result.decode_ms = ms;
    return decoded;
  }

  std::string name_;
  DeviceQueue queue_;
  ResidentFilter filter_;
  DeviceJpeg codec_;
};

}  // namespace

MakeBatchDevice device_pictures(int ordinal, const ConvolverOptions& options, FilterPtr filter,
                                int threads) {
  return [=] { return std::make_unique<DevicePictures>(ordinal, options, filter, threads); };
}

bool stays_jpeg(const Job& job, const WriteOptions& write) {
  return is_jpeg(extension_of(job.in)) && becomes_jpeg(job.out, write);
}

std::optional<DeviceJob> device_job(std::size_t job, const FileJob& file, std::int64_t most_memory,
                                    std::string* why_cpu) {
  const auto start = Clock::now();
  const auto not_for_device = [&](const char* why) {
    if (why_cpu) *why_cpu = why;
    return std::nullopt;
  };
  if (!becomes_jpeg(file.out, file.write) || file.write.progressive ||
      file.read.loader != Loader::automatic)
    return std::nullopt;
  DeviceJob taken;
  taken.job = job;
  taken.file = file;
  ReadOptions read = file.read;
  if (file.admit) read.admit = [&](std::int64_t bytes) { file.admit(bytes, false); };
  taken.reader = std::make_unique<PictureReader>(file.in, read);
  const Header& header = taken.reader->header();
  if (header.format != FormatId::jpeg) return std::nullopt;
  const WriteOptions settings = jpeg_settings(header, file.write);
  if (header.channels > 1 && !DeviceJpeg::has(*settings.subsampling))
    return not_for_device("GPUs do not write its subsampling");
  const std::int64_t memory = host_bytes_of(*taken.reader);
  // By rows of the CPU's codec the same picture takes less.
  if (most_memory > 0 && memory > most_memory)
    return not_for_device("for a GPU it takes more memory than --max-memory allows");
  if (file.admit) file.admit(memory, true);
  taken.memory = memory;
  // A GPU's codec decodes damaged data without a word; the CPU's says what is wrong with them.
  if (!jpeg::is_plain(taken.reader->file()))
    return not_for_device("it is no plain JPEG of one scan, or damaged");
  taken.file.admit = {};
  taken.read_ms = ms_since(start);
  return taken;
}

FileReport write_result(const DeviceJob& job, const DeviceResult& result,
                        const std::string& device) {
  const auto start = Clock::now();
  FileReport report;
  report.header = job.reader->header();
  report.warnings = job.reader->warnings();
  job.reader->check_replaced_by(job.file.out);
  Header shape = report.header;
  shape.width = result.shape.width;
  shape.height = result.shape.height;
  write_encoded_jpeg(job.file.out, shape, job.file.write, result.file, report.warnings,
                     job.file.before_commit, job.file.replaces);
  report.device_ms = {result.decode_ms, result.filter_ms, result.encode_ms};
  report.read_ms = job.read_ms;
  report.write_ms = ms_since(start);
  report.all_ms =
      report.read_ms + result.decode_ms + result.filter_ms + result.encode_ms + report.write_ms;
  report.strategy = result.strategy;
  report.device = device;
  report.codec = "gpu";
  return report;
}

}  // namespace convfilt
