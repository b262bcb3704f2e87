/// Charts and drawings by the program gnuplot: it turns a script into a picture.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convfilt {

enum class PlotFormat { svg, png };

/// The format by the end of the file's name. Throws UsageError for other ends.
PlotFormat plot_format_of(const std::string& path);

/// The size of a drawing in SVG points. A PNG has two pixels per point, so that it is sharp in
/// print.
struct PlotSize {
  int width = 900, height = 600;
};

/// A script for run_gnuplot(), and the size of what it draws.
struct Drawing {
  std::string script;
  PlotSize size;
};

/// Draws the script's picture. The script has everything except the terminal, which is chosen here:
/// UTF-8, plain text ("enhanced" is off), and lines and letters whose size suits both formats; the
/// script finds it in the variable `letter`. The font ':Bold' is bold. Throws IoError with the
/// package's name if gnuplot is missing, and with gnuplot's message if it fails.
std::vector<unsigned char> run_gnuplot(const std::string& script, PlotFormat format, PlotSize size);

/// run_gnuplot() to a file, whole or not at all; the end of its name gives the format.
void plot_to_file(const std::string& path, const Drawing& drawing);

/// Throws what plot_to_file() would throw for the file's name or place, or if gnuplot is missing.
/// Call it before any work.
void check_plot(const std::string& path);

/// The text as a gnuplot string, with quotes.
std::string in_gnuplot(std::string_view text);

}  // namespace convfilt
