#include "src/lab/explain/text.hpp"

#include <algorithm>
#include <cmath>

#include "src/base/suggest.hpp"
#include "src/lab/explain/count_reads.hpp"
#include "src/lab/explain/schedule.hpp"

namespace convfilt {
namespace {

std::string by(std::int64_t columns, std::int64_t rows) {
  return joined(columns, " x ", rows);
}

std::string area(std::int64_t columns, std::int64_t rows, const std::string& noun) {
  return by(columns, rows) + " = " + plural(columns * rows, noun);
}

/// "400 / 256 = 1.5625".
std::string quotient(std::int64_t a, std::int64_t b) {
  return joined(a, " / ", b, " = ", short_number(double(a) / b));
}

std::string share_text(double share) {
  return short_number(double(std::int64_t(share * 1000 + 0.5)) / 10) + " %";
}

/// Headings, and lines of a name and what there is to say.
class Lines {
 public:
  void heading(const std::string& text) { text_ += (text_.empty() ? "" : "\n") + text + "\n"; }
  template <class... Words>
  void line(const std::string& name, const Words&... words) {
    text_ += "  " + name + std::string(name.size() < kNames ? kNames - name.size() : 1, ' ') +
             joined(words...) + "\n";
  }
  void plain(const std::string& text) { text_ += text + "\n"; }
  const std::string& text() const { return text_; }

 private:
  static constexpr std::size_t kNames = 19;
  std::string text_;
};

const char* agreement(bool agree) {
  return agree ? "   formula and count agree" : "   FORMULA AND COUNT DIFFER";
}

std::string verdict(const Compared& reads) {
  if (!reads.formula) return "   by count alone";
  return reads.count ? agreement(!reads.differ()) : "   by formula alone";
}

/// Whether the strategy hands its sums to a library. Some of the transform family have kernels of
/// their own for all they do.
bool calls_library(const Explanation& e) {
  const Strategy& s = *e.strategy;
  return sums_by_library(s, e.tuning) && (s.needs.fft || s.has(Setting::gemm));
}

void write_strategy(const Explanation& e, Lines& lines) {
  const Strategy& s = *e.strategy;
  const Family family = s.family_of(e.tuning);
  const bool spatial = s.has(Setting::domain) && e.tuning[Setting::domain] == kSpatial;
  lines.heading(joined(s.name, ": ", s.summary, spatial ? "; here without transforms" : ""));
  lines.line("family", name_of(family), ", within ", bound_of(e));
  lines.line("problem", to_string(e.asked));
  if (const std::string tuning = to_string(e.tuning); !tuning.empty())
    lines.line("settings", tuning);
  if (!e.geometry) lines.line("block", "none to explain: ", why_no_block(e));
  if (e.parts > 1)
    lines.line("parts", "the mask is cut into ", e.parts, "; what follows is of the first, ",
               e.problem.mask.width, "x", e.problem.mask.height,
               ", as if it were a mask of its own, anchored in its middle");
}

std::string idle(int threads, int busy, const std::string& meanwhile) {
  const std::string rest = joined(", ", threads - busy, " idle ", meanwhile);
  return plural(busy, "thread") + (busy < threads ? rest : ": all of them");
}

void write_threads(const Explanation& e, Lines& lines) {
  const Geometry& g = *e.geometry;
  const int threads = g.block_columns * g.block_rows;
  if (threads == 0) return;
  lines.line("block", area(g.block_columns, g.block_rows, "thread"));
  // Between the two a library computes, whose threads nobody counts.
  const bool by_library = sums_by_library(*e.strategy, e.tuning);
  const bool several = g.in_columns > g.block_columns || g.in_rows > g.block_rows;
  const std::string fullest = by_library && several ? "; the fullest block of those of a tile" : "";
  if (g.loading_threads > 0)
    lines.line("loading", idle(threads, g.loading_threads, "while the tile is loaded"), fullest);
  if (g.computing_threads > 0)
    lines.line(by_library ? "writing" : "computing",
               idle(threads, g.computing_threads,
                    by_library ? "while outputs are written" : "while outputs are computed"));
  lines.line("shared memory", plural(std::int64_t(g.shared_bytes), "byte"));
  const Occupancy& o = e.occupancy;
  const std::vector<std::string> limits(o.limited_by.begin(), o.limited_by.end());
  lines.line("on " + std::string(e.architecture->name), plural(o.blocks, "block"),
             " per SM at most, limited by ", listed(limits), ": ", o.threads, " of ",
             e.architecture->threads, " threads (",
             share_text(double(o.threads) / e.architecture->threads),
             "); what registers allow, only a device tells");
}

void write_tiles(const Explanation& e, Lines& lines) {
  const Geometry& g = *e.geometry;
  lines.line("output tile", area(g.out_columns, g.out_rows, "output"));
  if (outputs_of(g) < std::int64_t(g.out_columns) * g.out_rows)
    lines.line("blocks apart", area(g.step_x(), g.step_y(), "output"),
               "; the output tiles overlap");
  if (g.in_columns == 0) {
    lines.line("input tile", "none is kept");
    return;
  }
  lines.line("input tile", area(g.in_columns, g.in_rows, "sample"));
  const std::int64_t inputs = std::int64_t(g.in_columns) * g.in_rows;
  if (g.in_columns < g.out_columns || g.in_rows < g.out_rows) return;
  const std::int64_t halo = inputs - std::int64_t(g.out_columns) * g.out_rows;
  const int right = g.in_columns - g.out_columns - g.lead_x;
  const int below = g.in_rows - g.out_rows - g.lead_y;
  if (halo > 0)
    lines.line("halo", plural(halo, "sample"), ": ", plural(g.lead_x, "column"), " left, ", right,
               " right, ", plural(g.lead_y, "row"), " above, ", below, " below");
  const std::int64_t inside = std::int64_t(e.axes.x.inputs_inside(0)) * e.axes.y.inputs_inside(0);
  lines.line("corner block", plural(inside, "sample"), " in the image, ",
             plural(inputs - inside, "ghost cell"));
}

void write_reads(const Explanation& e, Lines& lines) {
  const Geometry& g = *e.geometry;
  const std::int64_t outputs = outputs_of(g), taps = taps_of(g, e.problem.mask);
  if (!e.middle.known()) return;
  lines.heading((e.by_texture() ? "Texture fetches" : "Global reads") +
                std::string(" of a block in the middle, per output"));
  if (e.middle.formula)
    lines.line("by formula", quotient(e.middle.formula->global, outputs),
               g.loads_per_output.empty() ? "" : "   ", g.loads_per_output);
  if (e.middle.count)
    lines.line("by count", quotient(e.middle.count->global, outputs), "   in the emulator;",
               verdict(e.middle).substr(2));
  else
    lines.line("by count", "the emulator has no such block to count");
  const std::int64_t adds = atomic_adds_of(e), accesses = e.middle.value().global + adds;
  if (adds > 0)
    lines.line("atomic adds", quotient(adds, outputs), agreement(std::llround(g.adds) == adds));
  if (!sums_by_library(*e.strategy, e.tuning)) {
    lines.line("reuse", outputs, " * ", e.problem.mask.width * e.problem.mask.height, " / ",
               accesses, " = ", short_number(double(taps) / accesses),
               adds > 0 ? "   taps / (reads + atomic adds)" : "");
    const auto sample = std::int64_t(size_of(e.problem.depth));
    const std::int64_t bytes = (accesses - adds) * sample + adds * g.sum_bytes;
    const auto per = [&](std::int64_t moved, const std::string& what) {
      lines.line("operations", "2 * ", taps, " / ", moved, " = ",
                 short_number(2 * double(taps) / double(moved)), " per byte", what);
    };
    per(bytes, joined(adds > 0 ? " of reads and atomic adds" : " read",
                      "; a tap is a multiplication and an addition"));
    if (adds == 0) per(bytes + outputs * sample, " read or stored");
  }
  if (!e.watched && e.middle_counts && e.middle_counts->shared_reads > 0)
    lines.line("shared reads", quotient(std::int64_t(e.middle_counts->shared_reads), outputs),
               "   by count");
}

/// Describes the block's warps, where a formula stands beside each count.
void write_warps(const Explanation& e, Lines& lines) {
  if (!e.watched) return;
  const Counts& c = e.watched->count;
  const std::int64_t outputs = outputs_of(*e.geometry);
  const auto agrees = [&](const WatchedBlock& block, std::initializer_list<const char*> names) {
    for (const CountName& count : watched_counts())
      if (std::ranges::find(names, count.name) != names.end() &&
          count.of(block.formula) != count.of(block.count))
        return agreement(false);
    return agreement(true);
  };
  const auto per_output = [&](const char* name, std::uint64_t count, const std::string& what = "") {
    if (count > 0)
      lines.line(name, quotient(std::int64_t(count), outputs), what, agrees(*e.watched, {name}));
  };
  const auto pieces = [&](const WatchedBlock& block) {
    const WarpCounts& w = block.count.warps;
    return joined(w.sectors, " sectors of 32 bytes, ", w.bursts, " bursts of 64",
                  agrees(block, {"sectors", "bursts"}));
  };
  lines.heading(parts_with_launches(*e.geometry) > 1
                    ? "Memory of that block under the first part of the mask, and its warps"
                    : "Memory of that block, and its warps");
  per_output("global writes", c.global_writes);
  per_output("additions", c.sum_adds, " to sums, each a read and a write");
  per_output("mask reads", c.mask_reads, " from constant memory");
  per_output("shared writes", c.shared_writes);
  per_output("shared reads", c.shared_reads);
  if (c.shared_reads > 0)
    lines.line("bank conflicts", c.warps.bank_conflicts,
               c.warps.bank_conflicts > 0 ? ", because a warp's threads lie in several rows of the "
                                            "tile, whose cells share banks"
                                          : "",
               agrees(*e.watched, {"bank conflicts"}));
  // Without a barrier there is no tile, and nothing but computing.
  lines.line(
      "warps", c.warps.warps, ", of which ",
      c.barriers > 0 ? joined(c.warps.diverge_loading, " diverge while the tile is loaded, ") : "",
      c.warps.diverge_computing, c.barriers > 0 ? " while outputs are computed" : " diverge",
      agrees(*e.watched,
             {"warps", "warps that diverge while loading", "warps that diverge while computing"}));
  lines.line("reads and writes", pieces(*e.watched));
  if (e.packed) lines.line("if rows are packed", pieces(*e.packed));
  lines.line("side by side", c.warps.fewest_sectors, " sectors, if the bytes of each access were",
             agrees(*e.watched, {"fewest sectors"}));
}

/// The ghost cells among the samples that kernels ask for, and what the border does about them.
/// `bare` is what they read under Border::constant, which alone makes them up.
std::string ghost_cells_text(Border border, const Reads& bordered, const Reads& bare) {
  // Kernels that set whole words to ghost cells make up more of them than other borders read.
  const std::int64_t asked = bare.global + bare.made_up;
  const std::string text = asked == bordered.global + bordered.made_up
                               ? joined(bare.made_up, " of ", asked, " samples asked for")
                               : joined(bare.made_up, " beside ", bare.global, " samples read");
  if (bare.made_up == 0) return text;
  if (border == Border::constant) return text + "; made up instead of read, as -v counts them";
  return joined(text, "; border ", name_of(border), " reads others instead, and -v counts ",
                bordered.made_up);
}

void write_reads_of_all(const Explanation& e, Lines& lines) {
  if (!e.ghosts_out.known() || !e.with_border.known()) return;
  const bool whole = e.counted.width == e.problem.width && e.counted.height == e.problem.height;
  const std::string smaller = joined("a picture of ", e.counted.width, "x", e.counted.height,
                                     ", which has the same edges and can be counted in a moment");
  const std::int64_t outputs = std::int64_t(e.counted.out_width()) * e.counted.out_height();
  const Reads &bordered = e.with_border.value(), &bare = e.ghosts_out.value();
  lines.heading(joined(e.by_texture() ? "Texture fetches of " : "Global reads of ",
                       whole ? "the whole picture" : smaller, ", per output",
                       e.parts > 1 ? ", under one part" : ""));
  lines.line(joined("border ", name_of(e.counted.border)), quotient(bordered.global, outputs),
             verdict(e.with_border));
  lines.line("ghosts out", quotient(bare.global, outputs), verdict(e.ghosts_out));
  const bool by_library = sums_by_library(*e.strategy, e.tuning);
  if (calls_library(e))
    lines.line("of that",
               "by kernels of our own; what a library reads (Fourier, matrices) is not counted");
  lines.line("ghost cells", ghost_cells_text(e.counted.border, bordered, bare));
  if (by_library || atomic_adds_of(e) > 0 || !e.geometry || e.geometry->loads == 0) return;
  const std::int64_t taps = e.counted_axes.x.all_taps_inside() * e.counted_axes.y.all_taps_inside();
  if (taps == 0) return;  // the counted picture has other blocks
  lines.line("reuse", quotient(taps, bare.global),
             "   taps on samples of the image / their reads, ghost cells out");
}

void write_rows(const RowLayout& r, bool always_padded, Lines& lines) {
  if (r.pitch == r.bytes)
    return lines.line("rows", plural(r.bytes, "byte"), ", whole lines of ", kPitchBytes,
                      " bytes: no padding is needed");
  lines.line("rows", plural(r.bytes, "byte"), ", padded to ", r.pitch,
             ": each starts at a line of ", kPitchBytes, " bytes");
  if (!always_padded)
    lines.line("if packed", share_text(r.lost_if_packed),
               " of a row's first line would be the row before, on average");
}

void write_picture(const Explanation& e, Lines& lines) {
  if (!e.geometry && !e.strategy->runs_on(DeviceKind::emulator)) return;
  lines.heading("The whole picture");
  if (e.geometry) {
    const TileAxes& axes = e.axes;
    lines.line("grid", area(axes.x.tiles(), axes.y.tiles(), "block"));
    const int cut_x = axes.x.outputs % axes.x.step, cut_y = axes.y.outputs % axes.y.step;
    if (axes.x.step == axes.x.tile && axes.y.step == axes.y.tile && (cut_x || cut_y))
      lines.line("edge tiles",
                 cut_x ? plural(cut_x, "column") + " of outputs in the last column of blocks" : "",
                 cut_x && cut_y ? ", " : "",
                 cut_y ? plural(cut_y, "row") + " in the last row" : "");
  }
  if (e.strategy->runs_on(DeviceKind::emulator))
    write_rows(e.rows, e.geometry && e.geometry->always_padded, lines);
}

}  // namespace

std::string bound_of(const Explanation& e) {
  std::vector<Depth> taken;
  for (const Depth depth : kDepths) {
    Problem other = e.asked;
    other.depth = depth;
    if (e.strategy->refusal(other, e.tuning).empty()) taken.push_back(depth);
  }
  return bound_of(e.strategy->family_of(e.tuning), taken);
}

std::string why_no_block(const Explanation& e) {
  if (!e.strategy->runs_on(DeviceKind::emulator) && !e.strategy->runs_on(DeviceKind::cuda))
    return "it runs on the CPU alone";
  if (calls_library(e)) return "a library computes the sums";
  return "several kernels, each with blocks of its own, compute the sums";
}

std::string short_number(double value) {
  std::string number = with_format("%.4f", value);
  while (number.ends_with('0')) number.pop_back();
  if (number.ends_with('.')) number.pop_back();
  return number;
}

std::int64_t atomic_adds_of(const Explanation& e) {
  return e.middle_counts ? std::int64_t(e.middle_counts->atomic_adds) : 0;
}

std::string to_text(const Explanation& e) {
  Lines lines;
  write_strategy(e, lines);
  if (e.geometry) {
    lines.heading("One block");
    write_threads(e, lines);
    write_tiles(e, lines);
    if (!e.geometry->note.empty()) lines.line("note", e.geometry->note);
    if (e.geometry->adding_x.divisions > 0)
      for (const ScheduleText& schedule : schedule_texts(*e.strategy, e.asked, e.tuning)) {
        lines.heading(schedule.heading);
        for (const auto& [name, text] : schedule.lines) lines.line(name, text);
      }
    write_reads(e, lines);
    write_warps(e, lines);
  }
  write_picture(e, lines);
  write_reads_of_all(e, lines);
  const auto differences = e.differences();
  if (!differences.empty()) lines.heading("FORMULA AND COUNT DIFFER");
  for (const std::string& sentence : differences) lines.plain("  " + sentence);
  return lines.text();
}

}  // namespace convfilt
