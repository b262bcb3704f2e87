#include "src/lab/compare/plot.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/base/suggest.hpp"
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
  return with_format("%.9g", value);
}

// Places on a page, from points to gnuplot's shares of it.

std::string across(PlotSize page, int x) {
  return plain(double(x) / page.width);
}

std::string up(PlotSize page, int y) {
  return plain(1 - double(y) / page.height);
}

std::string margins(PlotSize page, int left, int top, int right, int bottom) {
  return "set lmargin at screen " + across(page, left) + "\nset rmargin at screen " +
         across(page, right) + "\nset tmargin at screen " + up(page, top) +
         "\nset bmargin at screen " + up(page, bottom) + "\n";
}

/// The comparisons' common facts, and the devices: two lines above a chart of that size.
std::string title_script(std::span<const Comparison> comparisons, const ReportHead& head,
                         PlotSize size) {
  Problem problem = comparisons.front().problem;
  // The file's folder would push the rest out of the drawing.
  const std::string name = std::filesystem::path(head.input).filename().string();
  std::string what = name + ", " + size_text(problem.width, problem.height) + "x" +
                     std::to_string(problem.channels) + " " + std::string(name_of(problem.depth));
  std::string devices;
  for (const Comparison& comparison : comparisons) {
    for (const DeviceFacts& facts : comparison.devices) {
      const std::string line =
          name_of(facts.location) + ": " + facts.peak.name +
          (facts.peak.threads > 0 ? ", " + std::to_string(facts.peak.threads) + " threads" : "");
      if (devices.find(line) == devices.npos) devices += (devices.empty() ? "" : "; ") + line;
    }
  }
  return "set label " + in_gnuplot("Ways to convolve: " + what) + " at screen 0.5," + up(size, 20) +
         " center font ',15'\nset label " + in_gnuplot(devices + "; convfilt " + head.version) +
         " at screen 0.5," + up(size, 42) + " center font ',10' tc rgb '#505050'\n";
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

struct Quantity {
  const char* axis;
  double (*value)(const Row&);  ///< above 0; 0 where there is none
  bool reference;               ///< whether a line is drawn at 1
};

constexpr Quantity kQuantities[] = {
    {"time / time of a copy (log)",
     [](const Row& row) { return row.times ? row.times->copies : 0; }, true},
    {"taps / global read, emulated (log)",
     [](const Row& row) { return row.counted && !row.times ? row.counted->reuse : 0; }, false}};

/// The panels of one quantity, which have the same bars and the same axis.
struct Group {
  Quantity quantity;
  std::vector<const Row*> bars;
  std::string labels;  ///< as gnuplot's ytics have them
  double least, most;  ///< of the axis
  int gutter = 60;     ///< points for the labels

  Group(const Quantity& drawn, std::span<const Comparison> comparisons) : quantity(drawn) {
    std::vector<const Comparison*> all;
    double low = 1, high = 1;
    for (const Comparison& comparison : comparisons) {
      all.push_back(&comparison);
      for (const Row& row : comparison.rows)
        if (const double value = quantity.value(row); value > 0)
          low = std::min(low, value), high = std::max(high, value);
    }
    least = 0.6 * low;
    most = kRoom * high;
    bars = distinct_rows(all, quantity.value);
    const bool one_device = std::ranges::all_of(
        bars, [&](const Row* bar) { return bar->location == bars.front()->location; });
    for (std::size_t k = 0; k < bars.size(); ++k) {
      const std::string label =
          bars[k]->contender + (one_device ? "" : ", " + name_of(bars[k]->location));
      gutter = std::max(gutter, kLetter * int(width_of(label)) + 20);
      labels += (k ? ", " : "") + in_gnuplot(label) + " " + plain(double(k) + 0.5);
    }
  }

  int height() const { return kAbovePanel + kBar * int(bars.size()) + kBelowPanel; }
};

std::string colour_of(Family family) {
  return std::string(kColours[std::size_t(family)]);
}

/// The colours' meaning, at the bottom; drawn once, with the title.
std::string legend(const std::vector<Group>& groups, PlotSize page, int left) {
  std::string text;
  for (const Family family : kFamilies) {
    if (std::ranges::none_of(groups, [&](const Group& group) {
          return std::ranges::find(group.bars, family, &Row::family) != group.bars.end();
        }))
      continue;
    const std::string name = std::string(name_of(family)) + " family";
    text += "set label " + in_gnuplot(name) + " at screen " + across(page, left) + "," +
            up(page, page.height - kLegend / 2) + " left offset 1,0 point pt 5 ps 1.4 lc rgb '" +
            colour_of(family) + "'\n";
    left += kLetter * int(name.size()) + 50;
  }
  return text;
}

/// Powers of ten, with names so short that they do not touch: 0.1, 1, 10, 100, 1k.
std::string decades(double from, double to) {
  constexpr std::string_view kThousands[] = {"", "k", "M", "G"};
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

/// The blocks of data `$bars` and `$none`, the rows without a figure.
std::string data(const Group& group, const Comparison& comparison) {
  std::string bars = "$bars << END\n", none = "$none << END\n";
  for (std::size_t k = 0; k < group.bars.size(); ++k) {
    const Row* row = row_like(comparison, *group.bars[k]);
    const double value = row ? group.quantity.value(*row) : 0;
    const std::string at = plain(double(k) + 0.5);
    if (value > 0)
      bars += at + " " + plain(value) + " 0x" + colour_of(row->family).substr(1) + " " +
              figure(value) + "\n";
    else
      none += at + (row && row->refused ? " refused\n" : " \"no figure\"\n");
  }
  // gnuplot needs a line in each block; these lie outside every range.
  return bars + "-9 1 0 .\nEND\n" + none + "-9 .\nEND\n";
}

/// Where the bars are drawn is already set.
std::string panel(const Group& group, const Comparison& comparison, bool labelled) {
  const std::string from = plain(group.least);
  std::string script = "set title " + in_gnuplot("mask " + mask_label(comparison.problem.mask)) +
                       " offset 0,-0.6\nset xlabel " + in_gnuplot(group.quantity.axis) +
                       " offset 0,0.3\nset xrange [" + from + ":" + plain(group.most) +
                       "]\nset yrange [" + std::to_string(group.bars.size()) +
                       ":0]\nset logscale x\n" + decades(group.least, group.most) +
                       "set grid xtics lc rgb '#d0d0d0' lt 1\nset tics nomirror scale 0.5\n"
                       "unset key\nset border 3 lc rgb '#808080'\n"
                       "set xtics textcolor rgb '#000000'\n";
  script += labelled ? "set ytics (" + group.labels + ") scale 0 textcolor rgb '#000000'\n"
                     : "unset ytics\n";
  script += data(group, comparison) + "unset arrow\n";
  if (group.quantity.reference)
    script += "set arrow from 1,graph 0 to 1,graph 1 nohead dt 2 lc rgb '#606060' back\n";
  return script + "plot $bars using 2:1:(" + from +
         "):2:($1-0.36):($1+0.36):3 with boxxyerror fs solid noborder lc rgb variable, "
         "$bars using 2:1:4 with labels left offset 0.6,0 font ',9', $none using (" +
         from + "):1:2 with labels left offset 4,0 font ',9' tc rgb '#707070'\n" +
         "unset label\n";  // the labels of the whole drawing have been drawn by now
}

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

std::string name_in_key(const Series& series) {
  return series.contender + (series.by_formula ? "" : std::string(kNoFormula));
}

/// A device, its roof (the best copy seen, and the peak; 0 where that is not known) and the
/// strategies that were timed on it.
struct Device {
  Location location;
  std::string title;
  double bytes_per_second = 0, flops = 0;
  std::vector<Series> series{};

  /// How many points wide the key is, where gnuplot begins a new column after kKeyRows.
  int key_width() const {
    std::size_t longest = kRoofName.size();
    for (const Series& one : series) longest = std::max(longest, width_of(name_in_key(one)));
    const int columns = (int(series.size()) + kKeyRows) / kKeyRows;  // with the roof's line
    return columns * (kSample + kLetter * int(longest));
  }
};

std::vector<Device> devices_of(std::span<const Comparison> comparisons) {
  std::vector<Device> devices;
  for (const Comparison& comparison : comparisons) {
    for (const Row& row : comparison.rows) {
      if (!row.times) continue;
      auto device = std::ranges::find(devices, row.location, &Device::location);
      if (device == devices.end())
        device = devices.insert(device, {row.location, name_of(row.location)});
      auto series = std::ranges::find(device->series, row.contender, &Series::contender);
      if (series == device->series.end())
        series = device->series.insert(series, {row.contender, true, {}});
      series->by_formula = series->by_formula && row.times->own_intensity;
      series->points.emplace_back(row.times->own_intensity.value_or(row.times->intensity),
                                  row.times->flops);
    }
  }
  for (Device& device : devices) {
    for (Series& series : device.series) std::ranges::sort(series.points);
    for (const Comparison& comparison : comparisons)
      for (const DeviceFacts& facts : comparison.devices)
        if (facts.location == device.location) {
          device.title = name_of(device.location) + ": " + facts.peak.name;
          device.bytes_per_second = std::max(device.bytes_per_second, facts.bytes_per_second);
          device.flops = facts.peak.fp32;
        }
  }
  return devices;
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
    const std::string name = size_text(mask.width, mask.height);
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

std::string panel(const Device& device, const std::string& mask_tics) {
  double least_x = 1e300, most_x = 0, least_y = 1e300, most_y = device.flops;
  std::string data, plots;
  for (std::size_t k = 0; k < device.series.size(); ++k) {
    const Series& series = device.series[k];
    const std::string block = "$series" + std::to_string(k);
    data += block + " << END\n";
    for (const auto& [x, y] : series.points) {
      data += plain(x) + " " + plain(y / 1e9) + "\n";
      least_x = std::min(least_x, x), most_x = std::max(most_x, x);
      least_y = std::min(least_y, y), most_y = std::max(most_y, y);
    }
    data += "END\n";
    // When the colours come round again, the points have another shape.
    plots += ", " + block + " with linespoints lw 1.5 ps 1.1 pt " +
             std::to_string(4 + 3 * (k / std::size(kColours)) + k % 2) + " lc rgb '" +
             std::string(kColours[k % std::size(kColours)]) + "' title " +
             in_gnuplot(name_in_key(series));
  }
  // The bend of the roof must be in sight.
  if (device.flops > 0) least_x = std::min(least_x, device.flops / device.bytes_per_second / 2);
  const std::string sloping = "x * " + plain(device.bytes_per_second / 1e9);
  const std::string peak = plain(device.flops / 1e9);
  const std::string limit =
      device.flops > 0 ? "(" + sloping + " < " + peak + " ? " + sloping + " : " + peak + ")"
                       : sloping;
  const std::string range = "range [" + plain(least_x / 2) + ":" + plain(most_x * 2) + "]\n";
  return data + mask_tics + "set title " + in_gnuplot(device.title) + " offset 0,0.4\nset x" +
         range + "set x2" + range + "set yrange [" + plain(least_y / 2e9) + ":" +
         plain(most_y * 3 / 1e9) + "]\nplot " + limit + " with lines lw 3 lc rgb '#707070' title " +
         in_gnuplot(std::string(kRoofName)) + plots + "\n";
}

/// The meaning of x. On the CPU no accesses are counted, so all strategies have the same x.
std::string axis_label(DeviceKind kind, bool marked) {
  const std::string bytes = "per byte of picture and result";
  const std::string what = kind == DeviceKind::cuda
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
  using namespace bars;
  std::vector<Group> groups;
  for (const Quantity& quantity : kQuantities)
    if (const Group group(quantity, comparisons); !group.bars.empty()) groups.push_back(group);
  if (groups.empty())
    throw IoError("there is nothing to draw: no strategy was measured; see the table");
  const int gutter = std::ranges::max(groups, {}, &Group::gutter).gutter;
  const std::size_t columns = std::min(kPanelsAcross, comparisons.size());
  const std::size_t lines = (comparisons.size() + columns - 1) / columns;
  // The title needs room, however few the panels.
  PlotSize page{std::max(720, gutter + int(columns) * (kPanel + kGap) - kGap + kRight),
                kTitle + kLegend};
  const int width = (page.width - gutter - kRight + kGap) / int(columns) - kGap;
  for (const Group& group : groups) page.height += int(lines) * group.height();
  std::string script =
      "set multiplot\n" + title_script(comparisons, head, page) + legend(groups, page, gutter);
  int top = kTitle;
  for (const Group& group : groups) {
    for (std::size_t k = 0; k < comparisons.size(); ++k) {
      const std::size_t column = k % columns;
      const int left = gutter + int(column) * (width + kGap);
      script +=
          margins(page, left, top + kAbovePanel, left + width, top + group.height() - kBelowPanel) +
          panel(group, comparisons[k], column == 0);
      if (column + 1 == columns || k + 1 == comparisons.size()) top += group.height();
    }
  }
  return {script + "unset multiplot\n", page};
}

Drawing draw_roofline(std::span<const Comparison> comparisons, const ReportHead& head) {
  using namespace roofline;
  const std::vector<Device> devices = devices_of(comparisons);
  if (devices.empty())
    throw IoError(
        "there are no times for a roofline: nothing ran on a CPU or GPU; draw --plot-kind=bars");
  int right = kLeastRight;
  bool marked = false;
  for (const Device& device : devices) {
    right = std::max(right, device.key_width());
    marked = marked || !std::ranges::all_of(device.series, &Series::by_formula);
  }
  const PlotSize page{kLeft + kPanelWidth + right, kTitle + int(devices.size()) * kPanelHeight};
  std::string script = "set multiplot\n" + title_script(comparisons, head, page) +
                       "set logscale xyx2\nset format '%g'\nset grid lc rgb '#d0d0d0' lt 1\n"
                       "set border 31 lc rgb '#808080'\nset samples 500\n"
                       "set ylabel 'GFLOP/s of the direct method'\n"
                       "set xtics nomirror textcolor rgb '#000000'\n"
                       "set ytics nomirror textcolor rgb '#000000'\n";
  int top = kTitle + kAbovePanel;
  for (const Device& device : devices) {
    script += margins(page, kLeft, top, kLeft + kPanelWidth,
                      top + kPanelHeight - kAbovePanel - kBelowPanel) +
              "set key at screen " + across(page, kLeft + kPanelWidth + 16) + "," + up(page, top) +
              " left top Left reverse samplen 2 maxrows " + std::to_string(kKeyRows) +
              " font ',10'\n" + axis_label(device.location.kind, marked) +
              panel(device, mask_tics(comparisons)) + "unset label\n";
    top += kPanelHeight;
  }
  return {script + "unset multiplot\n", page};
}

void plot_comparisons(const std::string& path, std::span<const Comparison> comparisons,
                      const ReportHead& head, PlotKind kind) {
  const auto shape = [](const Problem& p) {
    return std::tuple(p.width, p.height, p.channels, p.depth);
  };
  for (const Comparison& comparison : comparisons)
    if (shape(comparison.problem) != shape(comparisons.front().problem))
      throw UsageError(kOnePicture);
  plot_to_file(path, kind == PlotKind::bars ? draw_bars(comparisons, head)
                                            : draw_roofline(comparisons, head));
}

}  // namespace convfilt
