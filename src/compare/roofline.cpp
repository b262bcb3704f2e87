// The roofline of Williams, Waterman and Patterson (2009): what a device can compute a second, by
// how many operations there are to a byte.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/base/errors.hpp"
#include "src/compare/plot.hpp"

namespace convfilt {
namespace {

constexpr int kPanelWidth = 620, kPanelHeight = 430, kTitle = 56;
/// Logarithm of how far apart labels must be.
constexpr double kTooClose = 0.7;

constexpr int kLeft = 90, kAbovePanel = 60, kBelowPanel = 60;

/// Room for the key: its sample of a line, and letters of its names.
constexpr int kLeastRight = 250, kSample = 70, kLetter = 7;

/// A strategy on a device, a point a mask.
struct Series {
  std::string contender;
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
      if (found == all.end()) found = all.insert(all.end(), {row.contender, {}});
      found->points.emplace_back(row.times->intensity, row.times->flops);
    }
  }
  for (Series& series : all) std::sort(series.points.begin(), series.points.end());
  return all;
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

/// Masks above the panel, where their points are; those that lie too close for two labels share
/// one.
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

/// What a device is called above its panel.
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
    // Colours come round again with other points.
    plots += ", " + block + " with linespoints lw 1.5 ps 1.1 pt " +
             std::to_string(4 + 3 * (k / std::size(kColours)) + k % 2) + " lc rgb '" + colour(k) +
             "' title " + in_gnuplot(all[k].contender);
  }
  // The bend of the roof is part of the picture.
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
         plain(most_y * 3 / 1e9) + "]\nplot " + limit +
         " with lines lw 3 lc rgb '#707070' title 'roof: copy, fp32 peak'" + plots + "\n";
}

}  // namespace

Drawing draw_roofline(std::span<const Comparison> comparisons, const ReportHead& head) {
  const std::vector<Location> locations = timed_locations(comparisons);
  if (locations.empty())
    throw IoError(
        "there are no times for a roofline: nothing ran on a CPU or GPU; draw --plot-kind=bars");
  int right = kLeastRight;
  for (const Location& location : locations)
    for (const Series& series : series_on(location, comparisons))
      right = std::max(right, kSample + kLetter * int(series.contender.size()));
  PlotSize size{kLeft + kPanelWidth + right, kTitle + int(locations.size()) * kPanelHeight};
  const auto across = [&](int x) { return plain(double(x) / size.width); };
  const auto up = [&](int y) { return plain(1 - double(y) / size.height); };
  std::string script = "set multiplot\n" + title_script(comparisons, head, size) +
                       "set logscale xyx2\nset format '%g'\nset grid lc rgb '#d0d0d0' lt 1\n"
                       "set border 31 lc rgb '#808080'\nset samples 500\n"
                       "set xlabel 'operations of the direct method (2 a tap) per byte read and "
                       "written'\nset ylabel 'GFLOP/s of the direct method'\n"
                       "set xtics nomirror textcolor rgb '#000000'\n"
                       "set ytics nomirror textcolor rgb '#000000'\n";
  script += "set lmargin at screen " + across(kLeft) + "\nset rmargin at screen " +
            across(kLeft + kPanelWidth) + "\n";
  for (std::size_t k = 0; k < locations.size(); ++k) {
    const int top = kTitle + int(k) * kPanelHeight;
    const int upper = top + kAbovePanel, lower = top + kPanelHeight - kBelowPanel;
    script += "set tmargin at screen " + up(upper) + "\nset bmargin at screen " + up(lower) +
              "\nset key at screen " + across(kLeft + kPanelWidth + 16) + "," + up(upper) +
              " left top Left reverse samplen 2 font ',10'\n" + panel(locations[k], comparisons) +
              "unset label\n";
  }
  return {script + "unset multiplot\n", size};
}

}  // namespace convfilt
