/// Charts and drawings by gnuplot, a program of its own: a script goes in, a picture comes out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convfilt {

enum class PlotFormat { svg, png };

/// By the end of the file's name; throws UsageError for other ends.
PlotFormat plot_format_of(const std::string& path);

/// Of the drawing, in points of an SVG; a PNG has two pixels for each, so that it is sharp in
/// print.
struct PlotSize {
  int width = 900, height = 600;
};

/// The picture that the script draws. The script is complete but for the terminal, which is chosen
/// here: UTF-8, plain text ("enhanced" is off), lines and letters of a size that suits both
/// formats. Throws IoError with the package's name where gnuplot is missing, and with what it says
/// where it fails.
std::vector<unsigned char> run_gnuplot(const std::string& script, PlotFormat format, PlotSize size);

/// run_gnuplot() to a file, whole or not at all; the format is chosen by the end of its name.
void plot_to_file(const std::string& path, const std::string& script, PlotSize size);

/// To be called before any work: throws as plot_to_file() would for the file's name or place, or
/// where gnuplot is missing.
void check_plot(const std::string& path);

/// The text as a string of gnuplot's language, quotes included.
std::string in_gnuplot(std::string_view text);

}  // namespace convfilt
