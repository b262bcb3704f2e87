#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "src/base/clock.hpp"
#include "src/base/source_text.hpp"
#include "src/filter/bands.hpp"
#include "src/filter/nodata.hpp"
#include "src/picture/codecs/tiff/tags.hpp"
#include "src/run/crew.hpp"
#include "src/run/report.hpp"

namespace convfilt {

struct PictureLane::Busy {
  std::atomic<std::int64_t> decode{0}, filter{0}, encode{0};  ///< nanoseconds
};

namespace {

using Busy = PictureLane::Busy;
namespace tbb = oneapi::tbb;

/// Adds the time of its life to a sum that several threads share.
class Stopwatch {
 public:
  explicit Stopwatch(std::atomic<std::int64_t>& sum) : sum_(sum), start_(Clock::now()) {}
  ~Stopwatch() {
    const auto spent = Clock::now() - start_;
    sum_ += std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::atomic<std::int64_t>& sum_;
  Clock::time_point start_;
};

/// A band and its result stay in a second-level cache of 1 MB between decoding and encoding. Lower
/// bands would prepare too many rows twice: each has the mask's height of rows that its neighbour
/// has, too.
constexpr std::size_t kBandBytes = std::size_t{1} << 19;

/// A band on its way.
struct Band {
  int first = 0, rows = 0;  ///< of the output
  PictureBand in;
  Image out;
  BandView<const std::byte> result;                  ///< rows of `out`, or of a picture
  std::vector<PictureWriter::PreparedRows> encoded;  ///< of rows_at_a_time() rows each
};
using BandPtr = std::shared_ptr<Band>;

/// Rows that follow each other are cut for the writer, from row `first` of the picture on.
template <class Body>
void for_writers_rows(BandView<const std::byte> all, int first, int step, Body body) {
  for (int y = 0; y < all.height; y += step) {
    body(rows_of(all, y, std::min(step, all.height - y)), first + y);
  }
}

/// Where bands come from and go to.
struct Ends {
  const Work* work = nullptr;  ///< filters them; null where `image` is filtered
  PictureReader* reader = nullptr;
  const Image* image = nullptr;     ///< a picture in memory in place of the reader
  Image* result = nullptr;          ///< takes the result in memory
  PictureWriter* writer = nullptr;  ///< takes it else
};

/// Takes a picture to a file, in bands: each is read, then filtered and encoded on any core, then
/// written in its turn. Each of these takes its own time.
class Bands {
 public:
  Bands(const Passage& passage, Busy& busy, const Ends& ends)
      : passage_(passage),
        busy_(busy),
        ends_(ends),
        height_(ends.work ? ends.work->out.height : ends.image->height()) {
    const int least = ends.writer ? ends.writer->rows_at_a_time() : 1;
    if (ends.work)
      step_ = band_rows(*ends.work, least, kBandBytes);
    else
      step_ = std::min(std::max(least, int(kBandBytes / ends.image->row_bytes()) / least * least),
                       height_);
    if (!ends.image) cutter_.emplace(*ends.work);
  }

  /// Gives the number of bands.
  int run() {
    bands_ = std::max(1, height_ / step_);
    const int workers = std::min(passage_.threads, bands_ + 1);
    if (workers == 1 || bands_ == 1) {
      while (next_ < bands_) write(filter(begin()));
      return bands_;
    }
    const auto begin_or_stop = [&](tbb::flow_control& control) {
      if (next_ < bands_) return begin();
      control.stop();
      return BandPtr();
    };
    constexpr auto kInOrder = tbb::filter_mode::serial_in_order;
    const auto pipeline = [&] {
      tbb::parallel_pipeline(
          std::size_t(workers) + 2,
          tbb::make_filter<void, BandPtr>(kInOrder, begin_or_stop) &
              tbb::make_filter<BandPtr, BandPtr>(
                  tbb::filter_mode::parallel,
                  [&](BandPtr band) { return filter(std::move(band)); }) &
              tbb::make_filter<BandPtr, void>(kInOrder, [&](const BandPtr& band) { write(band); }));
    };
    if (passage_.arena) {
      passage_.arena->grow(workers);
      // While it waits for its bands, this thread must not begin another picture.
      tbb::this_task_arena::isolate(pipeline);
    } else {
      Arena alone(workers);
      alone.grow(workers);
      alone.execute(pipeline);
    }
    return bands_;
  }

 private:
  BandPtr begin() {
    if (passage_.batch.is_stopped()) throw Stopped();
    auto band = std::make_shared<Band>();
    band->first = next_ * step_;
    band->rows = ++next_ == bands_ ? height_ - band->first : step_;
    if (!ends_.work) return band;
    const Stopwatch watch(busy_.decode);
    if (ends_.image)
      band->in.rows = ends_.image->part(0, 0, ends_.image->width(), ends_.image->height());
    else
      band->in = cutter_->next(band->first, band->rows,
                               [&](PictureView<std::byte> rows) { ends_.reader->read(rows); });
    return band;
  }

  /// Filters the band, unless that was done, and encodes it.
  BandPtr filter(BandPtr band) {
    if (ends_.work) {
      const Stopwatch watch(busy_.filter);
      const Shape& out = ends_.work->out;
      if (!ends_.result) band->out = Image(out.width, band->rows, out.channels, out.depth);
      const BandView<std::byte> rows =
          ends_.result ? rows_of(BandView(ends_.result->view()), band->first, band->rows)
                       : BandView(band->out.view(), band->first);
      std::unique_ptr<Worker>& worker = workers_.local();
      if (!worker) worker = ends_.work->make_worker();
      worker->push(band->in.view(), rows);
      band->in = {};
      band->result = rows;
    } else {
      band->result = rows_of(BandView(ends_.image->view()), band->first, band->rows);
    }
    if (!ends_.writer) return band;
    const Stopwatch watch(busy_.encode);
    for_writers_rows(
        band->result, band->first, ends_.writer->rows_at_a_time(),
        [&](auto rows, int y) { band->encoded.push_back(ends_.writer->prepare(rows, y)); });
    return band;
  }

  void write(const BandPtr& band) {
    if (!ends_.writer) return;
    const Stopwatch watch(busy_.encode);
    std::size_t i = 0;
    for_writers_rows(
        band->result, band->first, ends_.writer->rows_at_a_time(),
        [&](auto rows, int) { ends_.writer->write(rows, std::move(band->encoded[i++])); });
  }

  const Passage& passage_;
  Busy& busy_;
  const Ends ends_;
  std::optional<BandCutter> cutter_;
  tbb::enumerable_thread_specific<std::unique_ptr<Worker>> workers_;
  int height_, step_ = 0;  ///< rows of the output, and of its bands
  int bands_ = 0;
  int next_ = 0;  ///< the first that is not begun
};

/// Memory that bands under way take, at most, beside what lies in memory as a whole.
std::int64_t memory_of_bands(const Work& work, int writer_step, int threads) {
  const int rows = band_rows(work, writer_step, kBandBytes);
  const std::int64_t in_row = bytes_of({work.in.width, 1, work.in.channels, work.in.depth});
  const std::int64_t out_row = bytes_of({work.out.width, 1, work.out.channels, work.out.depth});
  // The last band has up to twice the rows. What is encoded, or fitted to the format, may take as
  // much as the output; the cutter keeps one band.
  const std::int64_t band = 2 * (in_row * (rows + work.window.height) + 2 * out_row * rows);
  return band * (threads == 1 ? 2 : threads + 3) +
         work.needs(std::min(2 * rows, work.out.height)).buffers * threads;
}

/// Memory for bands of a whole result that are encoded, or fitted to the format.
std::int64_t memory_of_encoding(const Shape& result, const PictureWriter& writer, int threads) {
  const std::int64_t row = bytes_of(result) / result.height;
  const std::int64_t band = 2 * std::max(std::int64_t(kBandBytes), row * writer.rows_at_a_time());
  return band * (threads == 1 ? 2 : threads + 3);
}

void warn_once(std::vector<std::string>& warnings, const std::string& warning) {
  if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
}

/// Adds a warning where metadata that are no longer true are left out.
Header output_header(const PictureReader& reader, const Work& work, const WriteOptions& options,
                     const Filter& filter, const std::string& in,
                     std::vector<std::string>& warnings) {
  Header header = reader.header();
  const Shape in_shape = upright_shape(header);
  const auto warn = [&](const std::string& text) {
    warn_once(warnings, shown_input(in) + ": " + text);
  };
  if (!header.metadata.paths.empty() && options.strip == Strip::none &&
      (header.orientation != 1 || in_shape.width != work.out.width ||
       in_shape.height != work.out.height)) {
    header.metadata.paths.clear();
    warn("its clipping paths fit its own size and orientation alone, and are left out");
  }
  Bytes& exif = header.metadata.exif;
  const std::string nodata = quoted_name(nodata_of(exif));
  const auto lacking = sample_without_data(header.metadata, header.depth);
  if (lacking && !work.knows_nodata)
    warn("samples that stand for no data (" + nodata +
         ") are filtered like any other; --nodata=auto leaves them out");
  const bool has_other_samples =
      work.out.depth != header.depth || !(filter.keeps_lightness() || work.knows_nodata);
  if (lacking && has_other_samples && options.strip == Strip::none) {
    exif = without_tags(exif, kNodataTag);
    warn("its value for no data (" + nodata + ") means no sample of the result, and is left out");
  } else if (lacking && header.metadata.stored != Metadata::Stored{}) {
    exif = with_nodata(exif, float(*lacking));
  }
  if (has_tags(exif, kPlaceTags) && options.strip == Strip::none) {
    if (header.orientation == 1) {
      exif = with_moved_place(exif, work.offset_x, work.offset_y);
    } else {
      exif = without_tags(exif, kPlaceTags);
      warn("its place on earth is that of the picture before it is turned, and is left out");
    }
  }
  const bool is_same = in_shape.width == work.out.width && in_shape.height == work.out.height &&
                       in_shape.channels == work.out.channels &&
                       (header.pages == 1 || reader.takes_all());
  if (!is_same && options.strip == Strip::none && describes_stack(exif)) {
    exif = without_tags(exif, kDescriptionTag);
    warn(
        "its ImageDescription tells another number or shape of pictures than the result has, and "
        "is left out");
  }
  if (!reader.takes_all()) {
    header.pages = 1;
    header.frame.reset();
    header.bytes_behind = 0;
  }
  header.bytes_behind = std::int64_t(double(header.bytes_behind) * double(bytes_of(work.out)) /
                                     double(bytes_of(header)));
  header.width = work.out.width;
  header.height = work.out.height;
  header.channels = work.out.channels;
  header.depth = work.out.depth;
  header.two_levels = work.two_levels;
  header.is_response = !filter.keeps_lightness();
  return header;
}

/// Memory for a picture on its way, on so many threads. `needs` are those of a whole picture.
std::int64_t memory_of(const Work& work, const Work::Needs& needs, const PictureReader& reader,
                       const PictureWriter& writer, bool by_rows, int threads) {
  const std::int64_t in = bytes_of(reader.header()), out = bytes_of(work.out);
  const std::int64_t reading = reader.header().orientation != 1 ? 2 * in : by_rows ? 0 : in;
  std::int64_t writing = by_rows ? 0 : in;
  if (work.is_whole()) {
    // The input is given back before the result is written.
    const std::int64_t taking = by_rows ? memory_of_bands(*work.in_bands(), 1, threads) : in;
    writing = out + needs.plans +
              std::max(taking + needs.buffers,
                       memory_of_encoding(work.out, writer, threads) + writer.held_bytes());
  } else {
    writing += memory_of_bands(work, writer.rows_at_a_time(), threads) + writer.held_bytes();
  }
  return reader.held_bytes() + std::max(reading, writing);
}

}  // namespace

PictureLane::PictureLane(const Batch& batch, ConvolverOptions options)
    : batch_(batch), convolver_(std::move(options)) {}

FileReport PictureLane::filter(Passage& passage) {
  // Memory that plans keep between pictures is not counted against the limit.
  struct DropLargePlans {
    Convolver* convolver;
    ~DropLargePlans() {
      if (convolver) convolver->drop_large_plans();
    }
  } const drop{batch_.max_memory > 0 ? &convolver_ : nullptr};

  const auto start = Clock::now();
  const Job& job = passage.job;
  Busy busy;
  FileReport report;
  report.bands = 0;
  PictureReader reader(job.in, passage.reading());
  report.header = reader.header();
  std::unique_ptr<Work> work;  // the writer may need the last one's regions until its end
  std::shared_ptr<PictureWriter> writer;
  do {
    work = filter_picture(passage, reader, writer, busy, report);
    ++report.pictures;
    report.pixels += std::int64_t{reader.header().width} * reader.header().height;
  } while (reader.next());
  reader.check_replaced_by(job.out);
  {
    const Stopwatch watch(busy.encode);
    writer->finish();
  }
  passage.commit = [writer, &passage] {
    writer->commit(
        [&](const FileStamp& stamp) { passage.events.before_commit(passage.outcome, stamp); },
        passage.batch.replaces());
  };
  report.ms = {double(busy.decode) / 1e6, double(busy.filter) / 1e6, double(busy.encode) / 1e6};
  report.all_ms = ms_since(start);
  report.warnings.insert(report.warnings.end(), reader.warnings().begin(), reader.warnings().end());
  report.warnings.insert(report.warnings.end(), writer->warnings().begin(),
                         writer->warnings().end());
  report.strategy = convolver_.report().choice.strategy->name;
  report.device = name_of(convolver_.report().choice.device);
  if (batch_.selection.is_one) {
    if (report.bands > 0) convolver_.add_bands(report.ms.filter, report.bands);
    report.details = details_of(convolver_.report());
  }
  report.bands = std::max(report.bands, 1);
  return report;
}

std::unique_ptr<Work> PictureLane::filter_picture(Passage& passage, PictureReader& reader,
                                                  std::shared_ptr<PictureWriter>& writer,
                                                  Busy& busy, FileReport& report) {
  const auto chroma =
      batch_.filter->keeps_chroma() ? reader.chroma_for(passage.job.out, batch_.write) : nullptr;
  report.keeps_chroma = chroma != nullptr;
  if (chroma || batch_.filter->needs_only_luma()) reader.take_luma();
  const Header& header = reader.header();
  std::unique_ptr<Work> work =
      begin(*batch_.filter, upright_shape(header), convolver_, &header.metadata);
  report.why_whole = work->why_whole;
  const Original original{reader, work->regions, chroma};
  Header written =
      output_header(reader, *work, batch_.write, *batch_.filter, passage.job.in, report.warnings);
  if (chroma) written.channels = 3;
  if (writer)
    writer->next(written);
  else
    writer =
        std::make_shared<PictureWriter>(passage.job.out, written, batch_.write,
                                        chroma || !work->regions.empty() ? &original : nullptr);
  if (!work->is_whole() && work->wraps())
    report.why_in_memory = "with --border=wrap the first rows need the last";
  else if (!work->is_whole() && header.orientation != 1)
    report.why_in_memory = "the file holds it turned";
  const bool is_in_order = !work->wraps() && header.orientation == 1;
  const bool by_rows = is_in_order && (!work->is_whole() || work->in_bands());
  Work::Needs needs;
  if (work->is_whole()) needs = work->needs(work->out.height);
  const auto memory_on = [&](int threads) {
    return memory_of(*work, needs, reader, *writer, by_rows, threads);
  };
  // On one thread a picture takes the least.
  if (passage.threads > 1 && !passage.admission.has_room(passage, memory_on(passage.threads)))
    passage.threads = 1;
  // Of several pictures, one that takes more than those before is admitted anew.
  const std::int64_t memory = memory_on(passage.threads);
  if (report.pictures == 0 || memory > passage.memory)
    passage.admission.admit(passage, memory, true);
  if (batch_.is_stopped()) throw Stopped();

  Image image;
  if (!by_rows) {
    const Stopwatch watch(busy.decode);
    image = read_all(reader).image;
  }
  if (work->is_whole()) {
    Image out(work->out.width, work->out.height, work->out.channels, work->out.depth);
    if (by_rows)
      report.bands +=
          Bands(passage, busy, {.work = work->in_bands(), .reader = &reader, .result = &out}).run();
    {
      const Stopwatch watch(busy.filter);
      if (by_rows)
        work->complete(out.view());
      else
        work->make_worker()->push(std::as_const(image).view(), out.view());
    }
    image = {};
    Bands(passage, busy, {.image = &out, .writer = writer.get()}).run();
  } else {
    report.bands += Bands(passage, busy,
                          {.work = work.get(),
                           .reader = &reader,
                           .image = by_rows ? nullptr : &image,
                           .writer = writer.get()})
                        .run();
  }
  work->finish();
  if (!work->note.empty()) warn_once(report.warnings, passage.job.in + ": " + work->note);
  return work;
}

std::optional<int> PictureLane::gpu() const {
  return gpu_of(convolver_.options().request, this_machine());
}

}  // namespace convfilt
