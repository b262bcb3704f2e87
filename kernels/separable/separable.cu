// separable: both passes of a mask of rank 1 to 3 in one kernel, so that each sample is read and
// written once. (Podlozhnyuk, "Image Convolution with CUDA", 2007, fused as a line buffer:
// Brunhaver, "Design and Optimization of a Stencil Engine", 2015.)
//
//   A block walks down a strip of columns. It loads the next rows, takes each through the row pass
//   once, and keeps the row sums of the last h - 1 rows in a ring in shared memory. A column pass
//   over the ring gives the next rows of outputs.
//
//       rows of samples   ->  row pass  ->  | row sums, kept |  ->  column pass  ->  outputs
//       (on their way          16 row sums  | ...            |       8 rows x 4
//       while others are       a lane       | row sums, new  |       columns a lane
//       computed)                           +----------------+
//
//   Multiply-adds per output and term: w + h, and for the row sums above a block's first output
//   row w * (h - 1) / rows, e.g. 63 together at 31x31 with 1,024 rows a block. Each term has a
//   ring. Siblings: walk/walk.cu takes squares of up to 63 taps of 16-bit and float samples, and
//   keeps sums in registers; two_pass.cu, which writes the row sums to memory, takes masks of more
//   than kMostTaps, and devices with little shared memory.

#include "kernels/contract/separable.hpp"

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/device_plan.hpp"
#include "kernels/plan/even_rows.hpp"
#include "kernels/separable/load.hpp"
#include "kernels/separable/passes.hpp"
#include "kernels/separable/walk/walk.hpp"
#include "kernels/textbook/two_pass.hpp"

namespace convfilt::CONVFILT_BACKEND::separable {
namespace {

/// With kSum the mask may have several terms. Masks of one term have a kernel of their own, because
/// the loop over terms would cost them 5 % (H200).
template <class T, bool kSum>
__global__ void __launch_bounds__(kMostWarps * 32)
    separable_kernel(PlaneView<const T> in, PlaneView<T> out, T ghost, Border border, int channels,
                     BlockLayout s, const KernelMask<T> __grid_constant__ mask) {
  const SharedWords words = shared_words();
  const SharedWords row_sums = words.from(s.row_sums),
                    column_weights = words.from(s.column_weights);
  const int step_rows = s.step_rows();
  const int strip_x = blockIdx.x * s.across * kStripColumns, first_y = blockIdx.y * s.block_rows;
  const int end_y = min(first_y + s.block_rows, out.height);
  const int steps = s.first_steps() + (end_y - first_y + step_rows - 1) / step_rows;
  const int in_x = strip_x + (mask.dx - s.skip_x) * channels - s.lead;
  const int in_y = first_y + mask.dy - s.skip_y;
  const Source<T> source{in, ghost, border, channels, lies_at_multiples_of(16, in)};
  const bool out_aligned = lies_at_multiples_of(sizeof(Four<T>), out);
  constexpr bool kConverts = sizeof(T) < 4;
  const int terms = kSum ? mask.terms : 1;

  // Load the weights, and the first steps.
  const InsideChunks inside = inside_chunks(source, in_x, s.in_columns / Source<T>::kChunk);
  const int thread = threadIdx.y * 32 + threadIdx.x, threads = s.warps() * 32;
  for (int term = 0; term < terms; ++term) {
    for (int k = thread; k < s.row_pitch; k += threads) {
      const int i = k - s.skip_x, to = s.row_weights + term * s.row_pitch;
      words.set(to + k, i >= 0 && i < mask.width ? mask.row[term][i] : 0);
    }
    for (int k = thread; k < s.column_pitch; k += threads) {
      const int j = k - s.skip_y, to = s.column_weights + term * s.column_pitch;
      words.set(to + k, j >= 0 && j < mask.height ? mask.column[term][j] : 0);
    }
  }
  if (s.row_copies) {
    if (thread == 0) start_arrivals(words, 0, s.slots);
    __syncthreads();
  }
  int loading = 0, load_slot = 0;
  const auto load_next = [&] {
    if (loading < steps) {
      load_step(source, s, in_x, in_y + loading * step_rows, inside, load_slot, words);
    }
    commit_copies();
    ++loading;
    load_slot = load_slot + 1 == s.slots ? 0 : load_slot + 1;
  };
  int slot = 0, round = 0;  // the slot of the next step to arrive, and how often it was filled
  const auto next_slot = [&] {
    if (++slot < s.slots) return;
    slot = 0;
    ++round;
  };
  // Waits until this thread's copies of the next step are there. A barrier must follow.
  const auto finish_own = [&] {
    if (s.slots == 1) {
      finish_copies<0>();
    } else {
      finish_copies<1>();
    }
  };
  // Waits, after that barrier, until the rows that the device copies on its own are there.
  const auto await_rows = [&] {
    if (s.row_copies) await(words, 2 * slot, round);
  };
  for (int k = 0; k < s.slots; ++k) load_next();
  if constexpr (kConverts) {
    finish_own();
    __syncthreads();
    await_rows();
    convert_step<T>(s, slot, words);
    next_slot();
  }

  int next = 0;  // where the ring takes the next row sums, in steps
  for (int step = 0; step < steps; ++step) {
    if constexpr (!kConverts) finish_own();
    __syncthreads();
    if constexpr (kConverts) {
      load_next();
    } else {
      await_rows();
    }

    // Compute a step of row sums. Their samples may be overwritten behind the next barrier.
    const int in_rows = s.in_rows + (kConverts ? 0 : slot * step_rows * s.in_pitch);
    CONVFILT_UNROLL(1)
    for (int term = 0; term < terms; ++term) {
      row_pass(s, mask, term, channels, words.from(s.row_weights), words.from(in_rows),
               row_sums.from(next * step_rows * kRowSumPitch));
    }
    if constexpr (kConverts) finish_own();
    __syncthreads();
    if constexpr (kConverts) {
      if (step + 1 < steps) {
        await_rows();
        convert_step<T>(s, slot, words);
      }
    } else {
      load_next();
    }
    next_slot();

    // Compute the outputs whose last row sums these are. Their first ones are the oldest in the
    // ring.
    next = next + 1 == s.ring ? 0 : next + 1;
    const int row = (step - s.first_steps()) * step_rows;
    if (row >= 0) {
      column_pass(s, mask, terms, column_weights, row_sums, next * step_rows, out, strip_x,
                  first_y + row, end_y, out_aligned);
    }
  }
}

/// Whether one kernel gives the same bytes as two passes, although it does not finish float sums of
/// the row pass.
template <class T>
bool one_kernel_takes(const SeparableMask<T>& mask) {
  if (mask.width() > kMostTaps || mask.height() > kMostTaps) return false;
  if constexpr (std::is_same_v<SumOf<T>, float>) {
    // A finish that scales by 1 and adds 0 changes at most a zero's sign, which only an offset of
    // -0 shows.
    const auto& [row, column] = mask.terms.front();  // all terms end alike
    const FloatFinish &row_end = row.finish, &end = column.finish;
    return row_end.scale == 1 && row_end.offset == 0 &&
           !(end.offset == 0 && std::signbit(end.offset));
  }
  return true;
}

/// The mask as the kernel takes it. dx and dy are those of a whole picture.
template <class T>
KernelMask<T> kernel_mask(const SeparableMask<T>& mask) {
  KernelMask<T> m;
  m.width = mask.width();
  m.height = mask.height();
  for (const auto& [row, column] : mask.terms) {
    m.dx = -row.anchor_x;
    m.dy = -column.anchor_y;
    m.column_finish = column.finish;
    m.row_finish[m.terms] = row.finish;
    std::copy(row.weights.begin(), row.weights.end(), m.row[m.terms]);
    std::copy(column.weights.begin(), column.weights.end(), m.column[m.terms++]);
  }
  return m;
}

template <class T>
auto kernel_for(const KernelMask<T>& mask) {
  return mask.terms > 1 ? separable_kernel<T, true> : separable_kernel<T, false>;
}

/// The block's layout, without block_rows and row_copies.
template <class T>
BlockLayout layout_for(const KernelMask<T>& mask, int dx, int channels,
                       const SharedLimits& shared) {
  return best_layout(mask.width, mask.height, mask.terms, dx, channels, sizeof(T), shared.block,
                     shared.multiprocessor);
}

/// Whether a block fits in the device's shared memory, wherever its rows start in chunks.
template <class T>
bool block_fits(const KernelMask<T>& mask, int channels, const SharedLimits& shared) {
  for (int dx = 0; dx < Source<T>::kChunk; ++dx)
    if (layout_for(mask, dx, channels, shared).words * 4 > shared.block) return false;
  return true;
}

/// Rows of outputs of a block, for a plane of width x height samples. Each row of row sums that a
/// block computes above its own costs the row pass's share of a row.
template <class T>
int block_rows_for(const BlockLayout& s, const KernelMask<T>& mask, int width, int height) {
  const int at_once = blocks_at_once(kernel_for(mask), dim3(32, s.warps()), s.words * 4);
  const int step = s.step_rows(), strips = ceil_div(width, s.across * kStripColumns);
  const double above = double(s.first_steps()) * step * mask.width / (mask.width + mask.height);
  return even_rows(height, step, strips, at_once, above);
}

template <class T>
class SeparablePlan : public DevicePlan {
 public:
  SeparablePlan(const Problem& problem, const PlanOptions& options, const SeparableMask<T>& mask)
      : DevicePlan(problem, options, {.interleaved = problem.channels <= kMostChannels}),
        ghost_(ghost_sample<T>(problem)),
        shared_(most_shared(options)),
        row_copies_(row_copies(options)),
        mask_(kernel_mask(mask)) {}

  bool fits() const { return block_fits(mask_, step(), shared_); }

 protected:
  void filter(const DevicePlane& in, const DevicePlane& out, Shift shift) override {
    KernelMask<T> mask = mask_;
    mask.dx += shift.x;
    mask.dy += shift.y;
    BlockLayout layout = layout_for(mask, mask.dx, step(), shared_);
    layout.row_copies = row_copies_;
    layout.block_rows = block_rows_for(layout, mask, out.width, out.height);
    const dim3 grid(ceil_div(out.width, layout.across * kStripColumns),
                    ceil_div(out.height, layout.block_rows));
    launch_shared(grid, dim3(32, layout.warps()), layout.words * 4, stream_, kernel_for(mask),
                  in.view<const T>(), out.view<T>(), ghost_, problem_.border, step(), layout, mask);
  }

 private:
  const T ghost_;
  const SharedLimits shared_;
  const bool row_copies_;
  const KernelMask<T> mask_;
};

/// The geometry for pictures of one channel.
Geometry geometry(const Problem& p, const Tuning&) {
  return with_depth(p.depth, [&]<class T>(TypeTag<T>) -> Geometry {
    const auto prepared = prepare_separable<T>(p.mask);
    const SharedLimits shared = most_shared({});
    if (!one_kernel_takes(prepared)) return two_pass::geometry();
    if constexpr (std::is_same_v<SumOf<T>, float>) {
      if (walk::square_mask(prepared)) return walk::geometry<T>(p);
    }
    const KernelMask<T> mask = kernel_mask(prepared);
    if (!block_fits(mask, 1, shared)) return two_pass::geometry();
    const BlockLayout s = layout_for(mask, -p.lead_x(), 1, shared);
    const int above = s.first_steps() * s.step_rows();
    Geometry g;
    g.block_columns = 32;
    g.block_rows = s.warps();
    g.computing_threads = 32 * s.warps();
    g.out_columns = s.across * kStripColumns;
    g.out_rows = block_rows_for(s, mask, p.out_width(), p.out_height());
    g.shared_bytes = std::size_t(s.words) * 4;
    g.loads = double(s.in_columns) * (above + g.out_rows);
    g.loads_per_output = std::to_string(s.in_columns) + " * (rows + " + std::to_string(above) +
                         ") / (" + std::to_string(g.out_columns) + " * rows)";
    g.note = "A block walks down its rows, " + std::to_string(s.step_rows()) +
             " at a time, and keeps those between the passes in shared memory: " +
             std::to_string(g.out_rows) +
             " rows here, on a GPU as many as let all its multiprocessors end together.";
    return g;
  });
}

std::unique_ptr<Plan> prepare(const Problem& problem, const PlanOptions& options) {
  return with_depth(problem.depth, [&]<class T>(TypeTag<T>) -> std::unique_ptr<Plan> {
    const auto mask = prepare_separable<T>(problem.mask);
    if (one_kernel_takes(mask)) {
      if constexpr (std::is_same_v<SumOf<T>, float>) {
        const auto square = walk::square_mask(mask);
        if (square && walk::takes(problem.channels, options)) {
          return walk::make_plan<T>(problem, options, *square);
        }
      }
      auto plan = std::make_unique<SeparablePlan<T>>(problem, options, mask);
      if (plan->fits()) return plan;
    }
    return make_separable_plan(problem, options, two_pass::run_rows, two_pass::run_columns);
  });
}

}  // namespace

extern const Strategy strategy{
    .name = "separable",
    .summary = "row and column pass in one kernel, for masks of rank 1 to 3",
    .family = Family::separable,
    .refuses = separable_refuses,
    .make_plan = prepare,
    .geometry = geometry,
};

}  // namespace convfilt::CONVFILT_BACKEND::separable
