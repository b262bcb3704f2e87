#include "src/batch/picture_file.hpp"

#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "src/base/clock.hpp"
#include "src/batch/arena.hpp"
#include "src/filter/bands.hpp"
#include "src/picture/samples.hpp"

namespace convfilt {
namespace {

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
  std::atomic<std::int64_t> read{0}, filter{0}, write{0};  ///< nanoseconds
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

/// Rows that follow each other are cut for the writer, from row `first` of the picture on.
template <class Body>
void for_writers_rows(BandView<const std::byte> all, int first, int step, Body body) {
  for (int y = 0; y < all.height; y += step) {
    body(rows_of(all, y, std::min(step, all.height - y)), first + y);
  }
}

/// Workers of a filter, each for one thread at a time.
class Workers {
 public:
  explicit Workers(const Work& work) : work_(work) {}

  std::unique_ptr<Worker> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Worker> worker = std::move(idle_.back());
        idle_.pop_back();
        return worker;
      }
    }
    return work_.make_worker();
  }

  void give_back(std::unique_ptr<Worker> worker) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
  }

 private:
  const Work& work_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

int cores(int threads) {
  return threads > 0 ? threads : std::max(1, int(std::thread::hardware_concurrency()));
}

/// Takes bands of `step` rows of an output of `height` rows through three stages. `read` makes the
/// input of a band and `write` takes its output, each in order; `work` runs on all cores.
template <class Read, class Work, class Write>
int run_stages(int height, int step, const FileJob& job, Read read, Work work, Write write) {
  const int bands = std::max(1, height / step);
  int next = 0;
  const auto begin = [&] {
    if (job.stop && job.stop->load()) throw Stopped();
    Band band;
    band.first = next * step;
    band.rows = next + 1 == bands ? height - band.first : step;
    ++next;
    read(band);
    return band;
  };
  const int workers = std::min(cores(job.threads), bands + 1);
  if (workers == 1 || bands == 1) {
    while (next < bands) {
      Band band = begin();
      work(band);
      write(band);
    }
    return bands;
  }
  namespace tbb = oneapi::tbb;
  const auto pipeline = [&] {
    tbb::parallel_pipeline(std::size_t(workers) + 2,
                           tbb::make_filter<void, std::shared_ptr<Band>>(
                               tbb::filter_mode::serial_in_order,
                               [&](tbb::flow_control& control) -> std::shared_ptr<Band> {
                                 if (next < bands) return std::make_shared<Band>(begin());
                                 control.stop();
                                 return nullptr;
                               }) &
                               tbb::make_filter<std::shared_ptr<Band>, std::shared_ptr<Band>>(
                                   tbb::filter_mode::parallel,
                                   [&](std::shared_ptr<Band> band) {
                                     work(*band);
                                     return band;
                                   }) &
                               tbb::make_filter<std::shared_ptr<Band>, void>(
                                   tbb::filter_mode::serial_in_order,
                                   [&](const std::shared_ptr<Band>& band) { write(*band); }));
  };
  // While it waits for its bands, this thread must not begin another picture.
  if (job.shares_threads) {
    tbb::this_task_arena::isolate(pipeline);
  } else {
    Arena(workers).execute(pipeline);
  }
  return bands;
}

/// Takes bands to a file. `read` makes a band's input, in order, and `result_of` gives the rows of
/// its result, on all cores; both see to their own time.
template <class Read, class ResultOf>
int write_bands(int height, int step, const FileJob& job, PictureWriter& writer, Busy& busy,
                Read read, ResultOf result_of) {
  const int at_once = writer.rows_at_a_time();
  return run_stages(
      height, step, job, read,
      [&](Band& band) {
        band.result = result_of(band);
        const Stopwatch watch(busy.write);
        for_writers_rows(band.result, band.first, at_once, [&](auto rows, int y) {
          band.encoded.push_back(writer.prepare(rows, y));
        });
      },
      [&](Band& band) {
        const Stopwatch watch(busy.write);
        std::size_t i = 0;
        for_writers_rows(band.result, band.first, at_once,
                         [&](auto rows, int) { writer.write(rows, std::move(band.encoded[i++])); });
      });
}

/// Through a filter to a file, in bands. `read` makes a band's input.
template <class Read>
int filter_bands(const Work& work, const FileJob& job, PictureWriter& writer, Busy& busy,
                 const Read& read) {
  Workers workers(work);
  return write_bands(
      work.out.height, band_rows(work, writer.rows_at_a_time(), kBandBytes), job, writer, busy,
      [&](Band& band) {
        const Stopwatch watch(busy.read);
        band.in = read(band.first, band.rows);
      },
      [&](Band& band) {
        const Stopwatch watch(busy.filter);
        band.out = Image(work.out.width, band.rows, work.out.channels, work.out.depth);
        const BandView<std::byte> rows(band.out.view(), band.first);
        std::unique_ptr<Worker> worker = workers.take();
        worker->push(band.in.view(), rows);
        workers.give_back(std::move(worker));
        band.in = {};
        return BandView<const std::byte>(rows);
      });
}

/// From a picture in memory to a file.
void write_whole(const Image& image, const FileJob& job, PictureWriter& writer, Busy& busy) {
  const int least = writer.rows_at_a_time();
  const int step = std::max(least, int(kBandBytes / image.row_bytes()) / least * least);
  write_bands(
      image.height(), std::min(step, image.height()), job, writer, busy, [](Band&) {},
      [&](const Band& band) { return rows_of(BandView(image.view()), band.first, band.rows); });
}

/// What bands under way take, at most, beside what lies in memory as a whole.
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

/// What bands take of a whole result that are encoded, or fitted to the format.
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

FileReport filter_file(const FileJob& asked, const Filter& filter, Convolver& convolver) {
  const auto start = Clock::now();
  Busy busy;
  FileReport report;
  std::shared_ptr<PictureWriter> writer;
  ReadOptions read = asked.read;
  if (asked.admit) read.admit = [&](std::int64_t bytes) { asked.admit(bytes, false); };
  PictureReader reader(asked.in, read);
  report.header = reader.header();

  Shape shape{report.header.width, report.header.height, report.header.channels,
              report.header.depth};
  if (turns_sideways(report.header.orientation)) std::swap(shape.width, shape.height);
  const std::unique_ptr<Work> work = begin(filter, shape, convolver, &report.header.metadata.icc);
  report.why_whole = work->why_whole;
  writer = std::make_shared<PictureWriter>(asked.out, output_header(report.header, work->out),
                                           asked.write);
  const bool turned = report.header.orientation != 1;
  const bool by_rows = !work->is_whole() && !work->wraps() && !turned;
  const auto memory_on = [&](int threads) {
    const std::int64_t in = bytes_of(report.header), out = bytes_of(work->out);
    const std::int64_t reading = turned ? 2 * in : by_rows ? 0 : in;
    std::int64_t writing = by_rows ? 0 : in;
    if (work->is_whole()) {
      const Work::Needs needs = work->needs(work->out.height);
      // The input is given back before the result is written.
      writing = out + needs.plans +
                std::max(in + needs.buffers,
                         memory_of_encoding(work->out, *writer, threads) + writer->held_bytes());
    } else {
      writing += memory_of_bands(*work, *writer, threads) + writer->held_bytes();
    }
    return reader.held_bytes() + std::max(reading, writing);
  };
  FileJob job = asked;
  if (cores(job.threads) > 1 && job.has_room && !job.has_room(memory_on(cores(job.threads))))
    job.threads = 1;
  if (job.admit) job.admit(memory_on(cores(job.threads)), true);
  if (job.stop && job.stop->load()) throw Stopped();

  if (by_rows) {
    BandCutter cutter(*work);
    report.bands = filter_bands(*work, job, *writer, busy, [&](int first, int rows) {
      return cutter.next(first, rows, [&](PictureView<std::byte> next) { reader.read(next); });
    });
  } else {
    Image image;
    {
      const Stopwatch watch(busy.read);
      image = read_all(reader).image;
    }
    if (work->is_whole()) {
      Image out(work->out.width, work->out.height, work->out.channels, work->out.depth);
      {
        const Stopwatch watch(busy.filter);
        work->make_worker()->push(std::as_const(image).view(), out.view());
      }
      image = {};
      write_whole(out, job, *writer, busy);
    } else {
      report.bands = filter_bands(*work, job, *writer, busy, [&](int, int) {
        return PictureBand{image.part(0, 0, image.width(), image.height())};
      });
    }
  }
  work->finish();
  reader.check_replaced_by(job.out);
  const auto commit = [writer, before = job.before_commit, replaces = job.replaces] {
    writer->commit(before, replaces);
  };
  {
    const Stopwatch watch(busy.write);
    writer->finish();
    if (!job.commits_later) commit();
  }
  if (job.commits_later) report.commit = commit;
  report.read_ms = double(busy.read) / 1e6;
  report.filter_ms = double(busy.filter) / 1e6;
  report.write_ms = double(busy.write) / 1e6;
  report.all_ms = ms_since(start);
  if (!work->note.empty()) report.warnings.push_back(job.in + ": " + work->note);
  report.warnings.insert(report.warnings.end(), reader.warnings().begin(), reader.warnings().end());
  report.warnings.insert(report.warnings.end(), writer->warnings().begin(),
                         writer->warnings().end());
  return report;
}

}  // namespace convfilt
