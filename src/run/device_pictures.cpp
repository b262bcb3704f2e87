#include "src/run/device_pictures.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/backend/device_errors.hpp"
#include "src/base/clock.hpp"
#include "src/base/errors.hpp"
#include "src/filter/device.hpp"
#include "src/picture/codecs/jpeg/stream.hpp"

namespace convfilt {
namespace {

bool is_jpeg(const std::string& extension) {
  const Format* format = find_format(extension);
  return format && format->id == FormatId::jpeg;
}

bool becomes_jpeg(const std::string& out, const WriteOptions& write) {
  return is_jpeg(write.format.empty() ? extension_of(out) : write.format);
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

/// Host memory that a picture takes: the file that goes in and the one that comes back, both of
/// which the library holds once more, and the codes of the former. Half a byte for each pixel is a
/// file of high quality.
std::int64_t host_bytes_of(PictureReader& reader) {
  const Header& header = reader.header();
  const auto in = std::int64_t(reader.file_bytes());
  const std::int64_t out = std::max(in, std::int64_t{header.width} * header.height / 2);
  return 3 * in + 2 * out;
}

constexpr const char* kNotPlain = "it is no plain JPEG of one scan, or damaged";

class DevicePictures : public BatchDevice {
 public:
  DevicePictures(int ordinal, const ConvolverOptions& options, FilterPtr filter,
                 std::shared_ptr<SharedCodec> codec)
      : name_("cuda:" + std::to_string(ordinal)),
        queue_(ordinal),
        filter_(on(name_, options), std::move(filter), queue_),
        walker_(huffman::make_walker(ordinal)),
        shared_(std::move(codec)) {}

  std::string name() const override { return name_; }

  std::vector<DeviceResult> run(std::span<const PassagePtr> pictures) override {
    try {
      return filtered(pictures);
    } catch (const DeviceMemoryError&) {
      // Fewer pictures at a time shall not find the memory of many taken.
      filter_.release();
      queue_.release();
      walker_->release();
      const std::scoped_lock lock(shared_->decodes, shared_->encodes);
      shared_->codec.release();
      throw;
    }
  }

 private:
  /// A picture of the batch, and where it lies.
  struct Placed {
    std::size_t number = 0;
    PictureView<std::byte> in, out;
  };

  static ConvolverOptions on(const std::string& device, ConvolverOptions options) {
    options.request.device = device;
    return options;
  }

  std::vector<DeviceResult> filtered(std::span<const PassagePtr> pictures) {
    std::vector<DeviceResult> results(pictures.size());
    const double share = 1.0 / double(pictures.size());
    const std::vector<Placed> decoded = decode(pictures, results);
    std::vector<Placed> done;
    Clock::time_point start = Clock::now();
    for (const Placed& picture : decoded) {
      try {
        const Strategy& strategy = filter_.run(picture.in, Depth::u8, picture.out);
        results[picture.number].strategy = strategy.name;
        done.push_back(picture);
      } catch (const UsageError&) {
        // The CPU's way says why, or finds a strategy.
      }
    }
    queue_.synchronize();
    const double filter_ms = ms_since(start) * share;

    std::vector<DeviceJpeg::Output> outputs;
    for (const Placed& picture : done) {
      const Passage& passage = *pictures[picture.number];
      const WriteOptions settings = jpeg_settings(passage.reader->header(), passage.batch.write);
      outputs.push_back({picture.out, std::max(1, *settings.quality), *settings.subsampling});
    }
    std::vector<std::vector<unsigned char>> files;
    {
      const std::lock_guard lock(shared_->encodes);
      start = Clock::now();
      files = shared_->codec.encode(outputs, queue_.stream());
      // Where the device failed meanwhile, none of this counts.
      queue_.synchronize();
    }
    const double encode_ms = ms_since(start) * share;
    for (std::size_t i = 0; i < done.size(); ++i) {
      DeviceResult& result = results[done[i].number];
      result.file = std::move(files[i]);
      result.ms.filter = filter_ms;
      result.ms.encode = encode_ms;
    }
    return results;
  }

  /// Walks over the codes of each picture once, and says of those that have damage that they are
  /// none for a GPU.
  void find_damage(std::span<const PassagePtr> pictures, std::vector<DeviceResult>& results) {
    std::vector<const huffman::Scan*> scans;
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      if (!pictures[i]->codes || pictures[i]->codes->segments.empty()) continue;
      scans.push_back(pictures[i]->codes.get());
      numbers.push_back(i);
    }
    const std::vector<bool> hold = walker_->hold(scans);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      Passage& passage = *pictures[numbers[k]];
      if (!hold[k] && !jpeg::is_plain(passage.reader->file()))
        results[numbers[k]].why_cpu = kNotPlain;
      else
        passage.codes.reset();
    }
  }

  /// Those that could be decoded, each with room for its result.
  std::vector<Placed> decode(std::span<const PassagePtr> pictures,
                             std::vector<DeviceResult>& results) {
    Clock::time_point start = Clock::now();
    find_damage(pictures, results);
    double ms = ms_since(start);
    std::vector<Placed> placed;
    std::vector<std::size_t> places;
    std::vector<Shape> shapes;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      if (!results[i].why_cpu.empty()) continue;
      const Shape in = upright_shape(pictures[i]->reader->header());
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
          view_at(memory + places[i] + pitched_bytes_of(shapes[i]), results[picture.number].shape);
      PictureReader& reader = *pictures[picture.number]->reader;
      inputs.push_back({reader.file(), reader.header().orientation, picture.in});
    }
    std::vector<bool> could;
    {
      const std::lock_guard lock(shared_->decodes);
      start = Clock::now();
      could = shared_->codec.decode(inputs, queue_.stream());
      queue_.synchronize();
      ms += ms_since(start);
    }
    std::vector<Placed> decoded;
    for (std::size_t i = 0; i < placed.size(); ++i)
      if (could[i]) decoded.push_back(placed[i]);
    for (DeviceResult& result : results) result.ms.decode = ms / double(pictures.size());
    return decoded;
  }

  std::string name_;
  DeviceQueue queue_;
  ResidentFilter filter_;
  std::unique_ptr<huffman::ScanWalker> walker_;
  std::shared_ptr<SharedCodec> shared_;
};

}  // namespace

std::unique_ptr<BatchDevice> device_pictures(int ordinal, const Batch& batch,
                                             std::shared_ptr<SharedCodec> codec) {
  return std::make_unique<DevicePictures>(ordinal, batch.convolver, batch.filter, std::move(codec));
}

bool stays_jpeg(const Job& job, const WriteOptions& write) {
  return is_jpeg(extension_of(job.in)) && becomes_jpeg(job.out, write);
}

bool open_for_device(Passage& passage) {
  const auto start = Clock::now();
  const auto refuse = [&](const char* why) {
    passage.outcome.report.why_cpu = why;
    return false;
  };
  const Batch& batch = passage.batch;
  if (!becomes_jpeg(passage.job.out, batch.write) || batch.write.needs_coefficients() ||
      batch.read.loader != Loader::automatic)
    return false;
  auto reader = std::make_unique<PictureReader>(passage.job.in, passage.reading());
  const Header& header = reader->header();
  if (header.format != FormatId::jpeg) return false;
  const WriteOptions settings = jpeg_settings(header, batch.write);
  if (header.channels > 1 && !DeviceJpeg::has(*settings.subsampling))
    return refuse("GPUs do not write its subsampling");
  const std::int64_t memory = host_bytes_of(*reader);
  // By rows of the CPU's codec the same picture takes less.
  if (batch.max_memory > 0 && memory > batch.max_memory)
    return refuse("for a GPU it takes more memory than --max-memory allows");
  passage.admission.admit(passage, memory, true);
  // A GPU's codec decodes damaged data without a word; the CPU's says what is wrong with them.
  passage.codes = jpeg::codes_of_plain(reader->file());
  if (!passage.codes) return refuse(kNotPlain);
  passage.reader = std::move(reader);
  passage.outcome.report.ms.decode = ms_since(start);
  return true;
}

FileReport write_result(Passage& passage, const DeviceResult& result, const std::string& device) {
  FileReport report = std::move(passage.outcome.report);
  report.header = passage.reader->header();
  report.pictures = 1;
  report.pixels = std::int64_t{report.header.width} * report.header.height;
  report.warnings = passage.reader->warnings();
  passage.reader->check_replaced_by(passage.job.out);
  Header shape = report.header;
  shape.width = result.shape.width;
  shape.height = result.shape.height;
  shape.channels = result.shape.channels;
  write_encoded_jpeg(
      passage.job.out, shape, passage.batch.write, result.file, report.warnings,
      [&](const FileStamp& stamp) { passage.events.before_commit(passage.outcome, stamp); },
      passage.batch.replaces());
  report.device_ms = result.ms;
  report.all_ms = report.ms.all() + report.device_ms.all();
  report.strategy = result.strategy;
  report.device = device;
  report.codec = "gpu";
  return report;
}

}  // namespace convfilt
