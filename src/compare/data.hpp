/// Comparisons as programs read them: JSON and CSV; and JSON read back.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/compare/report.hpp"

namespace convfilt {

/// One line a row, after one with the columns' names (RFC 4180). The figures of json_report().
std::string csv_report(std::span<const Comparison> comparisons, const ReportHead& head);

/// Every figure of the tables in full precision, its unit in its name; null where there is none.
std::string json_report(std::span<const Comparison> comparisons, const ReportHead& head);

}  // namespace convfilt
