/// Comparisons as programs read them: JSON and CSV; and JSON read back.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/lab/compare/report.hpp"

namespace convfilt {

/// The figures of json_report(), one line a row below the columns' names (RFC 4180).
std::string csv_report(std::span<const Comparison> comparisons, const ReportHead& head);

/// Every figure of the tables in full precision, its unit in its name; null where there is none.
std::string json_report(std::span<const Comparison> comparisons, const ReportHead& head);

}  // namespace convfilt
