// scatter: one thread per INPUT sample (PMPP 4e, ch. 18.2, scatter versus gather; ch. 9.2,
// atomics).
//
//   A thread reads its sample once and adds it, times every weight, to all the outputs
//   that need it. Neighbours add to the same outputs, so every addition is atomic.
//
//        +-------------+
//        |   w x h     |      each sample is added to w * h outputs;
//        |      i      |      w * h samples meet in each output
//        +-------------+
//
//   Per output: 1 global read, w * h atomic additions (each a read and a write), e.g. 25 at 5x5;
//   and a plane of sums, zeroed before and finished afterwards.
//   Sibling: basic gathers, with w * h reads, which caches serve, and one plain write.

#include "kernels/contract/dispatch.hpp"
#include "kernels/plan/block_counts.hpp"
#include "kernels/plan/sums.hpp"

namespace convfilt::CONVFILT_BACKEND::scatter {
namespace {

constexpr int kBlockColumns = 32;  // one warp along a row: its additions fall into the same bursts
constexpr int kBlockRows = 8;

template <class T, Border B>
__global__ void scatter_kernel(PlaneView<const T> in, PlaneView<Total<T>> sums, T ghost,
                               int first_row, int end_row,
                               const MaskPart<T> __grid_constant__ mask) {
  // This thread has the sample that weight (0, 0) takes to output (x, y). There are w - 1 more
  // columns and h - 1 more rows of such samples than of outputs.
  const int x = blockIdx.x * kBlockColumns + threadIdx.x;
  const int y = first_row + int(blockIdx.y * kBlockRows + threadIdx.y);
  if (x >= sums.width + mask.width - 1 || y >= end_row) return;

  // Load it. Ghost cells take the border's value.
  const Total<T> sample = load<B>(in, x + mask.dx, y + mask.dy, ghost);

  // Add it to every output that needs it.
  for (int j = 0; j < mask.height; ++j) {
    if (y - j < 0 || y - j >= sums.height) continue;
    for (int i = 0; i < mask.width; ++i) {
      if (x - i < 0 || x - i >= sums.width) continue;
      atomic_add(sums.row(y - j)[x - i], Total<T>(weight_of(mask, i, j)) * sample);
    }
  }
}

template <class T>
class ScatterPlan : public AddingPlan<T, FinishOf<T>, Total<T>> {
 public:
  ScatterPlan(const Problem& problem, const PlanOptions& options, const PreparedMask<T>& mask)
      : AddingPlan<T, FinishOf<T>, Total<T>>(problem, options, mask.finish),
        parts_(mask.parts()),
        ghost_(ghost_sample<T>(problem)) {}

 protected:
  void add_up(const DevicePlane& in, const PlaneView<Total<T>>& sums, Shift shift) override {
    const dim3 block(kBlockColumns, kBlockRows);
    for (MaskPart<T> part : parts_) {
      part.dx += shift.x;
      part.dy += shift.y;
      const int columns = sums.width + part.width - 1, rows = sums.height + part.height - 1;
      for_row_chunks(rows, [&](int first, int count) {
        const dim3 grid(ceil_div(columns, kBlockColumns), ceil_div(count, kBlockRows));
        with_border(this->problem_.border, [&](auto border) {
          launch(grid, block, this->stream_, scatter_kernel<T, border()>, in.view<const T>(), sums,
                 ghost_, first, first + count, part);
        });
      });
    }
  }

 private:
  const std::vector<MaskPart<T>> parts_;
  const T ghost_;
};

std::unique_ptr<Plan> prepare(const Problem& p, const PlanOptions& options) {
  return with_depth(p.depth, [&]<class T>(TypeTag<T>) -> std::unique_ptr<Plan> {
    return std::make_unique<ScatterPlan<T>>(p, options, prepare_mask<T>(p.mask));
  });
}

Geometry geometry(const Problem& p, const Tuning&) {
  const auto [w, h] = first_part(p.mask);
  Geometry g;
  g.block_columns = kBlockColumns;
  g.block_rows = kBlockRows;
  g.loading_threads = g.computing_threads = kBlockColumns * kBlockRows;
  g.in_columns = kBlockColumns;
  g.in_rows = kBlockRows;
  g.out_columns = kBlockColumns + w - 1;
  g.out_rows = kBlockRows + h - 1;
  g.lead_x = p.lead_x() - (w - 1);  // negative, since the output tile starts further left
  g.lead_y = p.lead_y() - (h - 1);
  g.loads = kBlockColumns * kBlockRows;
  g.loads_per_output = '1';
  g.adds = g.loads * w * h;
  g.sum_bytes = total_bytes(p.depth);
  g.note =
      "Each thread reads one sample and adds it to " + std::to_string(w * h) +
      " outputs, atomically: w * h atomic additions per output. The output tile is shared with "
      "the blocks around.";
  return g;
}

std::optional<Counts> block_counts(const Problem& p, const Tuning& tuning,
                                   const BlockPlace& place) {
  const Sides mask = first_part(p.mask);
  BlockFormula block(p, geometry(p, tuning), place);
  // Weight (0, 0) takes a thread's sample to the last output that needs it, the others to outputs
  // before. Samples count from the one under that weight, so sample and last output are one cell.
  const auto to = [&](int i, int j) {
    return [=](int col, int row) {
      return BlockCell{col + mask.width - 1 - i, row + mask.height - 1 - j};
    };
  };
  block.read(to(0, 0));
  for_each_tap(mask, [&](int i, int j) {
    block.read_mask(BlockCell::own);
    block.add_atomically(to(i, j));
  });
  return block.counts();
}

}  // namespace

extern const Strategy strategy{
    .name = "scatter",
    .summary = "one thread per input sample, atomic additions: why not to",
    .family = Family::reordered,
    .refuses = direct_refuses,
    .make_plan = prepare,
    .geometry = geometry,
    .block_counts = block_counts,
};

}  // namespace convfilt::CONVFILT_BACKEND::scatter
