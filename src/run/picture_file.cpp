#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>

#include "src/base/clock.hpp"
#include "src/filter/bands.hpp"
#include "src/run/passage.hpp"

namespace convfilt {
namespace {

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

struct Busy {
  std::atomic<std::int64_t> decode{0}, filter{0}, encode{0};  ///< nanoseconds
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
  BandView<const std::byte> result;          ///< rows of `out`, or of a picture
  std::vector<PictureWriter::Rows> encoded;  ///< of rows_at_a_time() rows each
};
using BandPtr = std::shared_ptr<Band>;

/// Rows that follow each other are cut for the writer, from row `first` of the picture on.
template <class Body>
void for_writers_rows(BandView<const std::byte> all, int first, int step, Body body) {
  for (int y = 0; y < all.height; y += step) {
    body(rows_of(all, y, std::min(step, all.height - y)), first + y);
  }
}

/// Takes an output of `height` rows to a file, in bands of `step` rows. `read` makes a band's
/// input, in order, and `result_of` gives the rows of its result, on all cores; both take their own
/// time.
template <class Read, class ResultOf>
int write_bands(int height, int step, const Passage& passage, PictureWriter& writer, Busy& busy,
                Read read, ResultOf result_of) {
  const int bands = std::max(1, height / step), at_once = writer.rows_at_a_time();
  int next = 0;
  const auto begin = [&] {
    if (passage.batch.is_stopped()) throw Stopped();
    auto band = std::make_shared<Band>();
    band->first = next * step;
    band->rows = next + 1 == bands ? height - band->first : step;
    ++next;
    read(*band);
    return band;
  };
  const auto encode = [&](const BandPtr& band) {
    band->result = result_of(*band);
    const Stopwatch watch(busy.encode);
    for_writers_rows(band->result, band->first, at_once,
                     [&](auto rows, int y) { band->encoded.push_back(writer.prepare(rows, y)); });
    return band;
  };
  const auto write = [&](const BandPtr& band) {
    const Stopwatch watch(busy.encode);
    std::size_t i = 0;
    for_writers_rows(band->result, band->first, at_once,
                     [&](auto rows, int) { writer.write(rows, std::move(band->encoded[i++])); });
  };
  const int workers = std::min(passage.threads, bands + 1);
  if (workers == 1 || bands == 1) {
    while (next < bands) write(encode(begin()));
    return bands;
  }
  const auto begin_or_stop = [&](tbb::flow_control& control) {
    if (next < bands) return begin();
    control.stop();
    return BandPtr();
  };
  constexpr auto kInOrder = tbb::filter_mode::serial_in_order;
  const auto pipeline = [&] {
    tbb::parallel_pipeline(
        std::size_t(workers) + 2,
        tbb::make_filter<void, BandPtr>(kInOrder, begin_or_stop) &
            tbb::make_filter<BandPtr, BandPtr>(tbb::filter_mode::parallel, encode) &
            tbb::make_filter<BandPtr, void>(kInOrder, write));
  };
  if (passage.arena) {
    passage.arena->grow(workers);
    // While it waits for its bands, this thread must not begin another picture.
    tbb::this_task_arena::isolate(pipeline);
  } else {
    Arena alone(workers);
    alone.grow(workers);
    alone.execute(pipeline);
  }
  return bands;
}

/// Through a filter to a file, in bands. `read` makes a band's input.
template <class Read>
int filter_bands(const Work& work, const Passage& passage, PictureWriter& writer, Busy& busy,
                 const Read& read) {
  tbb::enumerable_thread_specific<std::unique_ptr<Worker>> workers(
      [&] { return work.make_worker(); });
  return write_bands(
      work.out.height, band_rows(work, writer.rows_at_a_time(), kBandBytes), passage, writer, busy,
      [&](Band& band) {
        const Stopwatch watch(busy.decode);
        band.in = read(band.first, band.rows);
      },
      [&](Band& band) {
        const Stopwatch watch(busy.filter);
        band.out = Image(work.out.width, band.rows, work.out.channels, work.out.depth);
        const BandView<std::byte> rows(band.out.view(), band.first);
        workers.local()->push(band.in.view(), rows);
        band.in = {};
        return BandView<const std::byte>(rows);
      });
}

/// From a picture in memory to a file.
void write_whole(const Image& image, const Passage& passage, PictureWriter& writer, Busy& busy) {
  const int least = writer.rows_at_a_time();
  const int step = std::max(least, int(kBandBytes / image.row_bytes()) / least * least);
  write_bands(
      image.height(), std::min(step, image.height()), passage, writer, busy, [](Band&) {},
      [&](const Band& band) { return rows_of(BandView(image.view()), band.first, band.rows); });
}

/// Memory that bands under way take, at most, beside what lies in memory as a whole.
std::int64_t memory_of_bands(const Work& work, const PictureWriter& writer, int threads) {
  const int rows = band_rows(work, writer.rows_at_a_time(), kBandBytes);
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

Header output_header(const Header& input, const Shape& shape) {
  Header header = input;
  header.width = shape.width;
  header.height = shape.height;
  header.channels = shape.channels;
  header.depth = shape.depth;
  return header;
}

}  // namespace

FileReport filter_picture(Passage& passage, Convolver& convolver) {
  const auto start = Clock::now();
  const Job& job = passage.job;
  Busy busy;
  FileReport report;
  PictureReader reader(job.in, passage.reading());
  report.header = reader.header();

  const std::unique_ptr<Work> work = begin(*passage.batch.filter, upright_shape(report.header),
                                           convolver, &report.header.metadata.icc);
  report.why_whole = work->why_whole;
  const auto writer = std::make_shared<PictureWriter>(
      job.out, output_header(report.header, work->out), passage.batch.write);
  const bool turned = report.header.orientation != 1;
  if (!work->is_whole() && work->wraps())
    report.why_in_memory = "with --border=wrap the first rows need the last";
  else if (!work->is_whole() && turned)
    report.why_in_memory = "the file holds it turned";
  const bool by_rows = !work->is_whole() && report.why_in_memory.empty();
  Work::Needs needs;
  if (work->is_whole()) needs = work->needs(work->out.height);
  const auto memory_on = [&](int threads) {
    const std::int64_t in = bytes_of(report.header), out = bytes_of(work->out);
    const std::int64_t reading = turned ? 2 * in : by_rows ? 0 : in;
    std::int64_t writing = by_rows ? 0 : in;
    if (work->is_whole()) {
      // The input is given back before the result is written.
      writing = out + needs.plans +
                std::max(in + needs.buffers,
                         memory_of_encoding(work->out, *writer, threads) + writer->held_bytes());
    } else {
      writing += memory_of_bands(*work, *writer, threads) + writer->held_bytes();
    }
    return reader.held_bytes() + std::max(reading, writing);
  };
  // On one thread a picture takes the least.
  if (passage.threads > 1 && !passage.admission.has_room(passage, memory_on(passage.threads)))
    passage.threads = 1;
  passage.admission.admit(passage, memory_on(passage.threads), true);
  if (passage.batch.is_stopped()) throw Stopped();

  if (by_rows) {
    BandCutter cutter(*work);
    report.bands = filter_bands(*work, passage, *writer, busy, [&](int first, int rows) {
      return cutter.next(first, rows, [&](PictureView<std::byte> next) { reader.read(next); });
    });
  } else {
    Image image;
    {
      const Stopwatch watch(busy.decode);
      image = read_all(reader).image;
    }
    if (work->is_whole()) {
      Image out(work->out.width, work->out.height, work->out.channels, work->out.depth);
      {
        const Stopwatch watch(busy.filter);
        work->make_worker()->push(std::as_const(image).view(), out.view());
      }
      image = {};
      write_whole(out, passage, *writer, busy);
    } else {
      report.bands = filter_bands(*work, passage, *writer, busy, [&](int, int) {
        return PictureBand{image.part(0, 0, image.width(), image.height())};
      });
    }
  }
  work->finish();
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
  if (!work->note.empty()) report.warnings.push_back(job.in + ": " + work->note);
  report.warnings.insert(report.warnings.end(), reader.warnings().begin(), reader.warnings().end());
  report.warnings.insert(report.warnings.end(), writer->warnings().begin(),
                         writer->warnings().end());
  return report;
}

}  // namespace convfilt
