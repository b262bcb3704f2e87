/// Comparisons as charts.
#pragma once

#include <span>
#include <string>

#include "src/base/plot.hpp"
#include "src/compare/measure.hpp"
#include "src/compare/report.hpp"

namespace convfilt {

enum class PlotKind {
  bars,      ///< times as multiples of a copy, and what the emulator counted, a panel a mask
  roofline,  ///< rates of arithmetic over what bandwidth and units allow, a panel a device
};

inline constexpr PlotKind kPlotKinds[] = {PlotKind::bars, PlotKind::roofline};

std::string_view name_of(PlotKind kind);

inline constexpr const char* kOnePicture =
    "a chart shows one picture; measure and draw one --size, --depth and --channels at a time";

/// Draws to an .svg or .png. Throws IoError where there is nothing to draw, UsageError with
/// kOnePicture where there are several pictures, and as plot_to_file().
void plot_comparisons(const std::string& path, std::span<const Comparison> comparisons,
                      const ReportHead& head, PlotKind kind);

/// A script for run_gnuplot().
struct Drawing {
  std::string script;
  PlotSize size;
};

Drawing draw_bars(std::span<const Comparison> comparisons, const ReportHead& head);
Drawing draw_roofline(std::span<const Comparison> comparisons, const ReportHead& head);

/// "3x3" or "emboss3 3x3": how charts and messages name a mask.
std::string mask_label(const Mask& mask);

/// Whether two problems are of pictures alike.
bool same_picture(const Problem& a, const Problem& b);

/// What the comparisons have in common, and the devices: two lines above a chart of that size.
std::string title_script(std::span<const Comparison> comparisons, const ReportHead& head,
                         PlotSize size);

/// Numbers as gnuplot reads them.
std::string plain(double value);

/// Okabe and Ito's colours, which the colour-blind tell apart; without the yellow, too pale on
/// white.
inline constexpr std::string_view kColours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                "#56B4E9", "#E69F00", "#000000"};

}  // namespace convfilt
