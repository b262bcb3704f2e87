/// Comparisons as charts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/lab/compare/report.hpp"
#include "src/lab/plot.hpp"

namespace convfilt {

enum class PlotKind {
  bars,      ///< times as multiples of a copy, and what the emulator counted, a panel a mask
  roofline,  ///< rates of arithmetic below what bandwidth and peak allow, a panel a device
};

inline constexpr PlotKind kPlotKinds[] = {PlotKind::bars, PlotKind::roofline};

std::string_view name_of(PlotKind kind);

inline constexpr const char* kOnePicture =
    "a chart shows one picture; measure and draw one --size, --depth and --channels at a time";

/// Draws to an .svg or .png. Throws IoError where there is nothing to draw, UsageError with
/// kOnePicture where there are several pictures, and as plot_to_file().
void plot_comparisons(const std::string& path, std::span<const Comparison> comparisons,
                      const ReportHead& head, PlotKind kind);

/// Both throw IoError where there is nothing to draw.
Drawing draw_bars(std::span<const Comparison> comparisons, const ReportHead& head);
Drawing draw_roofline(std::span<const Comparison> comparisons, const ReportHead& head);

}  // namespace convfilt
