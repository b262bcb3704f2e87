#include "src/lab/compare/plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/base/table.hpp"
#include "src/base/terminal.hpp"

namespace convfilt {
namespace {

/// Okabe and Ito's colours, which the colour-blind tell apart; without the yellow, which is too
/// pale on white.
constexpr std::string_view kColours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                         "#56B4E9", "#E69F00", "#000000"};

/// Numbers as gnuplot reads them.
std::string plain(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// Whether two problems have pictures of the same size, channels and depth.
bool same_picture(const Problem& a, const Problem& b) {
  return a.width == b.width && a.height == b.height && a.channels == b.channels &&
         a.depth == b.depth;
}

/// The comparisons' common facts, and the devices: two lines above a chart of that size.
std::string title_script(std::span<const Comparison> comparisons, const ReportHead& head,
                         PlotSize size) {
  Problem problem = comparisons.front().problem;
  // The file's folder would push the rest out of the drawing.
  const std::string name = std::filesystem::path(head.input).filename().string();
  std::string what = name + ", " + std::to_string(problem.width) + "x" +
                     std::to_string(problem.height) + "x" + std::to_string(problem.channels) + " " +
                     std::string(name_of(problem.depth));
  std::string devices;
  for (const Comparison& comparison : comparisons) {
    for (const DeviceFacts& facts : comparison.devices) {
      const std::string line =
          name_of(facts.location) + ": " + facts.peak.name +
          (facts.peak.threads > 0 ? ", " + std::to_string(facts.peak.threads) + " threads" : "");
      if (devices.find(line) == devices.npos) devices += (devices.empty() ? "" : "; ") + line;
    }
  }
  const auto up = [&](int y) { return plain(1 - double(y) / size.height); };
  return "set label " + in_gnuplot("Ways to convolve: " + what) + " at screen 0.5," + up(20) +
         " center font ',15'\nset label " + in_gnuplot(devices + "; convfilt " + head.version) +
         " at screen 0.5," + up(42) + " center font ',10' tc rgb '#505050'\n";
}

/// Bars of times and of counted reads, a panel a mask.
namespace bars {

// Points of the drawing.
constexpr int kTitle = 62, kLegend = 34;
constexpr int kPanel = 250, kGap = 18, kRight = 24, kLetter = 7;
constexpr int kBar = 20, kAbovePanel = 34, kBelowPanel = 58;
constexpr std::size_t kPanelsAcross = 4;

/// The longest bar leaves room for its number.
constexpr double kRoom = 8;

/// One kind of bar.
struct Quantity {
  std::string axis;
  std::function<double(const Row&)> value;  ///< above 0; 0 where there is none
  bool reference;                           ///< whether a line is drawn at 1
};

std::string colour_of(Family family) {
  return std::string(kColours[std::size_t(family)]);
}

/// "0x0072B2", as data files have it.
std::string colour_number(Family family) {
  return "0x" + colour_of(family).substr(1);
}

/// Places panels and writes them; positions count from the top.
class BarChart {
 public:
  BarChart(std::span<const Comparison> comparisons, const ReportHead& head)
      : comparisons_(comparisons), head_(head) {}

  void add(const Quantity& quantity) {
    std::vector<const Comparison*> all;
    for (const Comparison& comparison : comparisons_) all.push_back(&comparison);
    const std::vector<const Row*> bars = distinct_rows(all, quantity.value);
    if (bars.empty()) return;
    const bool one_device = std::ranges::all_of(
        bars, [&](const Row* bar) { return bar->location == bars.front()->location; });
    std::vector<std::string> labels;
    for (const Row* bar : bars) {
      labels.push_back(bar->contender + (one_device ? "" : ", " + name_of(bar->location)));
      gutter_ = std::max(gutter_, kLetter * int(width_of(labels.back())) + 20);
      families_.push_back(bar->family);
    }
    groups_.push_back({quantity, bars, labels});
  }

  Drawing finish() {
    if (groups_.empty())
      throw IoError("there is nothing to draw: no strategy was measured; see the table");
    const std::size_t across = std::min(kPanelsAcross, comparisons_.size());
    const std::size_t lines = (comparisons_.size() + across - 1) / across;
    // The title needs room, however few the panels.
    size_.width = std::max(720, gutter_ + int(across) * (kPanel + kGap) - kGap + kRight);
    panel_ = (size_.width - gutter_ - kRight + kGap) / int(across) - kGap;
    size_.height = kTitle + kLegend;
    for (const Group& group : groups_) size_.height += int(lines) * height_of(group);
    int top = kTitle;
    for (const Group& group : groups_) {
      for (std::size_t first = 0; first < comparisons_.size(); first += across) {
        const std::size_t count = std::min(across, comparisons_.size() - first);
        for (std::size_t k = 0; k < count; ++k)
          panel(group, comparisons_[first + k], gutter_ + int(k) * (panel_ + kGap), top, k == 0);
        top += height_of(group);
      }
    }
    return {"set multiplot\n" + title_script(comparisons_, head_, size_) + legend() + script_ +
                "unset multiplot\n",
            size_};
  }

 private:
  struct Group {
    Quantity quantity;
    std::vector<const Row*> bars;
    std::vector<std::string> labels;
  };

  static int height_of(const Group& group) {
    return kAbovePanel + kBar * int(group.bars.size()) + kBelowPanel;
  }

  std::string across(int x) const { return plain(double(x) / size_.width); }
  std::string up(int y) const { return plain(1 - double(y) / size_.height); }

  /// The colours' meaning, at the bottom; drawn once, with the title.
  std::string legend() const {
    std::string text;
    int x = gutter_;
    for (const Family family : kFamilies) {
      if (std::find(families_.begin(), families_.end(), family) == families_.end()) continue;
      const std::string name = std::string(name_of(family)) + " family";
      text += "set label " + in_gnuplot(name) + " at screen " + across(x) + "," +
              up(size_.height - kLegend / 2) + " left offset 1,0 point pt 5 ps 1.4 lc rgb '" +
              colour_of(family) + "'\n";
      x += kLetter * int(name.size()) + 50;
    }
    return text;
  }

  /// The range that all panels of a group share.
  std::pair<double, double> range_of(const Group& group) const {
    double least = 1, most = 1;
    for (const Comparison& comparison : comparisons_)
      for (const Row& row : comparison.rows)
        if (const double value = group.quantity.value(row); value > 0) {
          least = std::min(least, value);
          most = std::max(most, value);
        }
    return {0.6 * least, kRoom * most};
  }

  void panel(const Group& group, const Comparison& comparison, int left, int top, bool labelled) {
    const int bars = int(group.bars.size());
    const int upper = top + kAbovePanel, lower = upper + kBar * bars;
    const auto [from, to] = range_of(group);
    script_ += "set lmargin at screen " + across(left) + "\nset rmargin at screen " +
               across(left + panel_) + "\nset tmargin at screen " + up(upper) +
               "\nset bmargin at screen " + up(lower) + "\n";
    script_ += "set title " + in_gnuplot("mask " + mask_label(comparison.problem.mask)) +
               " offset 0,-0.6\n";
    script_ += "set xlabel " + in_gnuplot(group.quantity.axis) + " offset 0,0.3\n";
    script_ += "set xrange [" + plain(from) + ":" + plain(to) + "]\nset yrange [" +
               std::to_string(bars) + ":0]\nset logscale x\n" + decades(from, to) +
               "set grid xtics lc rgb '#d0d0d0' lt 1\nset tics nomirror scale 0.5\nunset key\n"
               "set border 3 lc rgb '#808080'\nset xtics textcolor rgb '#000000'\n";
    script_ += ytics(group, labelled) + data(group, comparison);
    script_ += "unset arrow\n";
    if (group.quantity.reference)
      script_ += "set arrow from 1,graph 0 to 1,graph 1 nohead dt 2 lc rgb '#606060' back\n";
    script_ += "plot $bars using 2:1:(" + plain(from) +
               "):2:($1-0.36):($1+0.36):3 with boxxyerror fs solid noborder lc rgb variable, "
               "$bars using 2:1:4 with labels left offset 0.6,0 font ',9', "
               "$none using (" +
               plain(from) + "):1:2 with labels left offset 4,0 font ',9' tc rgb '#707070'\n";
    script_ += "unset label\n";  // the labels of the whole drawing have been drawn by now
  }

  /// Powers of ten, with names so short that they do not touch: 0.1, 1, 10, 100, 1k.
  static std::string decades(double from, double to) {
    static constexpr std::string_view kThousands[] = {"", "k", "M", "G"};
    std::string tics;
    for (int power = int(std::ceil(std::log10(from))); std::pow(10, power) <= to; ++power) {
      const int thousands = std::clamp(power / 3, 0, 3);
      tics += (tics.empty() ? "" : ", ") +
              in_gnuplot(plain(std::pow(10, power - 3 * thousands)) +
                         std::string(kThousands[thousands])) +
              " " + plain(std::pow(10, power));
    }
    return "set xtics (" + tics + ")\n";
  }

  static std::string ytics(const Group& group, bool labelled) {
    if (!labelled) return "unset ytics\n";
    std::string text = "set ytics (";
    for (std::size_t k = 0; k < group.labels.size(); ++k)
      text += (k ? ", " : "") + in_gnuplot(group.labels[k]) + " " + plain(double(k) + 0.5);
    return text + ") scale 0 textcolor rgb '#000000'\n";
  }

  static std::string data(const Group& group, const Comparison& comparison) {
    std::string bars = "$bars << END\n", none = "$none << END\n";
    for (std::size_t k = 0; k < group.bars.size(); ++k) {
      const Row* row = row_like(comparison, *group.bars[k]);
      const double value = row ? group.quantity.value(*row) : 0;
      const std::string at = plain(double(k) + 0.5);
      if (value > 0)
        bars +=
            at + " " + plain(value) + " " + colour_number(row->family) + " " + figure(value) + "\n";
      else
        none += at + (row && row->refused ? " refused\n" : " \"no figure\"\n");
    }
    // gnuplot needs a line in each block; these lie outside every range.
    return bars + "-9 1 0 .\nEND\n" + none + "-9 .\nEND\n";
  }

  std::span<const Comparison> comparisons_;
  const ReportHead& head_;
  std::vector<Group> groups_;
  std::vector<Family> families_;
  int gutter_ = 60, panel_ = kPanel;
  PlotSize size_;
  std::string script_;
};

}  // namespace bars

/// The roofline of Williams, Waterman and Patterson (2009): how much a device can compute in a
/// second, by how many operations there are to a byte.
namespace roofline {

constexpr int kPanelWidth = 620, kPanelHeight = 430, kTitle = 56;
/// The least distance between labels, as a natural logarithm.
constexpr double kTooClose = 0.7;

constexpr int kLeft = 90, kAbovePanel = 60, kBelowPanel = 60;

/// The key needs room for a sample of a line and for the letters of its names, in as many columns
/// as the panel's height makes of it.
constexpr int kLeastRight = 250, kSample = 70, kLetter = 7, kKeyRow = 15;
constexpr int kKeyRows = (kPanelHeight - kAbovePanel - kBelowPanel) / kKeyRow;

constexpr std::string_view kRoofName = "roof: copy, fp32 peak";

/// Marks strategies of which no formula says how many bytes they read and write.
constexpr std::string_view kNoFormula = " °";

/// A strategy on a device, a point a mask.
struct Series {
  std::string contender;
  bool by_formula = true;
  std::vector<std::pair<double, double>> points;  ///< operations a byte, a second
};

std::vector<Location> timed_locations(std::span<const Comparison> comparisons) {
  std::vector<Location> locations;
  for (const Comparison& comparison : comparisons)
    for (const Row& row : comparison.rows)
      if (row.times &&
          std::find(locations.begin(), locations.end(), row.location) == locations.end())
        locations.push_back(row.location);
  return locations;
}

std::vector<Series> series_on(const Location& location, std::span<const Comparison> comparisons) {
  std::vector<Series> all;
  for (const Comparison& comparison : comparisons) {
    for (const Row& row : comparison.rows) {
      if (!row.times || row.location != location) continue;
      auto found = std::find_if(all.begin(), all.end(),
                                [&](const Series& s) { return s.contender == row.contender; });
      if (found == all.end()) found = all.insert(all.end(), {row.contender, true, {}});
      found->by_formula = found->by_formula && row.times->own_intensity;
      found->points.emplace_back(row.times->own_intensity.value_or(row.times->intensity),
                                 row.times->flops);
    }
  }
  for (Series& series : all) std::sort(series.points.begin(), series.points.end());
  return all;
}

std::string name_in_key(const Series& series) {
  return series.contender + (series.by_formula ? "" : std::string(kNoFormula));
}

/// How many points wide the key of a panel is, where gnuplot begins a new column after kKeyRows.
int key_width(const std::vector<Series>& all) {
  std::size_t longest = kRoofName.size();
  for (const Series& series : all) longest = std::max(longest, name_in_key(series).size());
  const int columns = (int(all.size()) + kKeyRows) / kKeyRows;  // with the roof's line
  return columns * (kSample + kLetter * int(longest));
}

/// Roof of a device: the best copy seen, and the peak; 0 where that is not known.
struct Roof {
  double bytes_per_second = 0, flops = 0;
};

Roof roof_of(const Location& location, std::span<const Comparison> comparisons) {
  Roof roof;
  for (const Comparison& comparison : comparisons) {
    for (const DeviceFacts& facts : comparison.devices) {
      if (facts.location != location) continue;
      roof.bytes_per_second = std::max(roof.bytes_per_second, facts.bytes_per_second);
      roof.flops = facts.peak.fp32;
    }
  }
  return roof;
}

std::string colour(std::size_t k) {
  return std::string(kColours[k % std::size(kColours)]);
}

/// Masks above the panel, where the points lie of a strategy that asks for each sample once; those
/// that lie too close for two labels share one.
std::string mask_tics(std::span<const Comparison> comparisons) {
  std::map<double, std::string> labels;
  for (const Comparison& comparison : comparisons) {
    const auto& rows = comparison.rows;
    const auto timed = std::find_if(rows.begin(), rows.end(),
                                    [](const Row& row) { return row.times.has_value(); });
    if (timed == rows.end()) continue;
    const Mask& mask = comparison.problem.mask;
    const double at = timed->times->intensity;
    const auto near = std::find_if(labels.begin(), labels.end(), [&](const auto& label) {
      return std::abs(std::log(label.first / at)) < kTooClose;
    });
    const std::string name = std::to_string(mask.width) + "x" + std::to_string(mask.height);
    if (near == labels.end())
      labels[at] = name;
    else if (near->second.find(name) == std::string::npos)
      near->second += ", " + name;
  }
  std::string text;
  for (const auto& [at, name] : labels)
    text += (text.empty() ? "" : ", ") + in_gnuplot(name) + " " + plain(at);
  return "set x2tics (" + text + ") textcolor rgb '#000000'\n";
}

/// The name of a device above its panel.
std::string title_of(const Location& location, std::span<const Comparison> comparisons) {
  for (const Comparison& comparison : comparisons)
    for (const DeviceFacts& facts : comparison.devices)
      if (facts.location == location) return name_of(location) + ": " + facts.peak.name;
  return name_of(location);
}

std::string panel(const Location& location, std::span<const Comparison> comparisons) {
  const std::vector<Series> all = series_on(location, comparisons);
  const Roof roof = roof_of(location, comparisons);
  double least_x = 1e300, most_x = 0, least_y = 1e300, most_y = roof.flops;
  std::string data, plots;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::string block = "$series" + std::to_string(k);
    data += block + " << END\n";
    for (const auto& [x, y] : all[k].points) {
      data += plain(x) + " " + plain(y / 1e9) + "\n";
      least_x = std::min(least_x, x), most_x = std::max(most_x, x);
      least_y = std::min(least_y, y), most_y = std::max(most_y, y);
    }
    data += "END\n";
    // When the colours come round again, the points have another shape.
    plots += ", " + block + " with linespoints lw 1.5 ps 1.1 pt " +
             std::to_string(4 + 3 * (k / std::size(kColours)) + k % 2) + " lc rgb '" + colour(k) +
             "' title " + in_gnuplot(name_in_key(all[k]));
  }
  // The bend of the roof must be in sight.
  if (roof.flops > 0) least_x = std::min(least_x, roof.flops / roof.bytes_per_second / 2);
  const std::string bandwidth = plain(roof.bytes_per_second / 1e9);
  const std::string limit = roof.flops > 0
                                ? "(x * " + bandwidth + " < " + plain(roof.flops / 1e9) +
                                      " ? x * " + bandwidth + " : " + plain(roof.flops / 1e9) + ")"
                                : "x * " + bandwidth;
  return data + mask_tics(comparisons) + "set title " +
         in_gnuplot(title_of(location, comparisons)) + " offset 0,0.4\nset xrange [" +
         plain(least_x / 2) + ":" + plain(most_x * 2) + "]\nset x2range [" + plain(least_x / 2) +
         ":" + plain(most_x * 2) + "]\nset yrange [" + plain(least_y / 2e9) + ":" +
         plain(most_y * 3 / 1e9) + "]\nplot " + limit + " with lines lw 3 lc rgb '#707070' title " +
         in_gnuplot(std::string(kRoofName)) + plots + "\n";
}

/// The meaning of x. On the CPU no accesses are counted, so all strategies have the same x.
std::string axis_label(const Location& location, bool marked) {
  const std::string bytes = "per byte of picture and result";
  const std::string what = location.kind == DeviceKind::cuda
                               ? "per byte that a strategy reads and writes; above" +
                                     std::string(marked ? ", and with °" : "") + ": " + bytes
                               : bytes + ", each moved once: the same for all strategies";
  return "set xlabel 'operations (2 a tap) " + what + "'\n";
}

}  // namespace roofline

}  // namespace

std::string_view name_of(PlotKind kind) {
  return kind == PlotKind::bars ? "bars" : "roofline";
}

Drawing draw_bars(std::span<const Comparison> comparisons, const ReportHead& head) {
  bars::BarChart chart(comparisons, head);
  chart.add({"time / time of a copy (log)",
             [](const Row& row) { return row.times ? row.times->copies : 0; }, true});
  chart.add({"taps / global read, emulated (log)",
             [](const Row& row) { return row.counted && !row.times ? row.counted->reuse : 0; },
             false});
  return chart.finish();
}

Drawing draw_roofline(std::span<const Comparison> comparisons, const ReportHead& head) {
  using namespace roofline;
  const std::vector<Location> locations = timed_locations(comparisons);
  if (locations.empty())
    throw IoError(
        "there are no times for a roofline: nothing ran on a CPU or GPU; draw --plot-kind=bars");
  int right = kLeastRight;
  bool marked = false;
  for (const Location& location : locations) {
    const std::vector<Series> all = series_on(location, comparisons);
    right = std::max(right, key_width(all));
    marked = marked || !std::ranges::all_of(all, &Series::by_formula);
  }
  PlotSize size{kLeft + kPanelWidth + right, kTitle + int(locations.size()) * kPanelHeight};
  const auto across = [&](int x) { return plain(double(x) / size.width); };
  const auto up = [&](int y) { return plain(1 - double(y) / size.height); };
  std::string script = "set multiplot\n" + title_script(comparisons, head, size) +
                       "set logscale xyx2\nset format '%g'\nset grid lc rgb '#d0d0d0' lt 1\n"
                       "set border 31 lc rgb '#808080'\nset samples 500\n"
                       "set ylabel 'GFLOP/s of the direct method'\n"
                       "set xtics nomirror textcolor rgb '#000000'\n"
                       "set ytics nomirror textcolor rgb '#000000'\n";
  script += "set lmargin at screen " + across(kLeft) + "\nset rmargin at screen " +
            across(kLeft + kPanelWidth) + "\n";
  for (std::size_t k = 0; k < locations.size(); ++k) {
    const int top = kTitle + int(k) * kPanelHeight;
    const int upper = top + kAbovePanel, lower = top + kPanelHeight - kBelowPanel;
    script += "set tmargin at screen " + up(upper) + "\nset bmargin at screen " + up(lower) +
              "\nset key at screen " + across(kLeft + kPanelWidth + 16) + "," + up(upper) +
              " left top Left reverse samplen 2 maxrows " + std::to_string(kKeyRows) +
              " font ',10'\n" + axis_label(locations[k], marked) +
              panel(locations[k], comparisons) + "unset label\n";
  }
  return {script + "unset multiplot\n", size};
}

void plot_comparisons(const std::string& path, std::span<const Comparison> comparisons,
                      const ReportHead& head, PlotKind kind) {
  for (const Comparison& comparison : comparisons)
    if (!same_picture(comparison.problem, comparisons.front().problem))
      throw UsageError(kOnePicture);
  const Drawing drawing =
      kind == PlotKind::bars ? draw_bars(comparisons, head) : draw_roofline(comparisons, head);
  plot_to_file(path, drawing.script, drawing.size);
}

}  // namespace convfilt
