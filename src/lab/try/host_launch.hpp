/// How the host's part of a file launches its kernel.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/lab/try/tokens.hpp"

namespace convfilt {

/// A launch `kernel<arguments of a template><<<grid, block, bytes>>>(...)`, whose sizes are
/// computed from the numbers that the file holds: macros, constants, variables that are set once,
/// and functions that return one expression.
class HostLaunch {
 public:
  /// The first launch of that kernel with several blocks, or the last; nothing where there is none.
  static std::shared_ptr<HostLaunch> find(std::shared_ptr<const tokens::Code> code,
                                          std::string_view kernel);
  HostLaunch(const HostLaunch&) = delete;
  HostLaunch& operator=(const HostLaunch&) = delete;

  std::size_t at = 0;                           ///< of the kernel's name in the code
  int times = 0;                                ///< that the code launches the kernel
  std::string function;                         ///< that launches it, as "main()"
  std::vector<std::string> template_arguments;  ///< as numbers, where they are some
  /// The names that the kernel is passed, such as "width" or "picture.width", or "".
  std::vector<std::string> arguments;

  using Values = std::map<std::string, double, std::less<>>;
  /// The numbers with which the launch is computed.
  struct Numbers {
    Values sides;  ///< of the picture, by the names that the kernel is passed
    Values given;  ///< what names stand for that the file leaves open
  };

  /// Columns, rows and planes, and whether they are one number.
  struct Sides {
    std::array<std::int64_t, 3> of{1, 1, 1};
    bool is_number = false;

    std::int64_t product() const { return of[0] * of[1] * of[2]; }
  };
  /// Nothing where the file does not tell them.
  std::optional<Sides> grid(const Numbers& numbers) const { return sides_of(0, numbers); }
  std::optional<Sides> block(const Numbers& numbers) const { return sides_of(1, numbers); }

  /// Finds out whether the grid can be computed from these sides, which the kernel is passed in
  /// those places: they depend on nothing else that the grid depends on.
  void check_sides(const std::vector<std::size_t>& places, const Values& sides);

  /// Bytes of dynamic shared memory; 0 where the launch has none.
  std::optional<std::int64_t> shared_bytes(const Numbers& numbers) const;

  /// The argument that the kernel is passed in that place, by the file's own numbers.
  std::optional<double> argument(std::size_t i) const;
  /// Whether that is a number in the code, a macro or a constexpr.
  bool is_constant(std::size_t i) const;

  /// The expression that the latest of these could not compute.
  std::string failed() const { return failed_; }
  /// Whether the grid, or what it is computed by, has a ceil() along that axis.
  bool has_ceil(std::size_t axis) const;
  /// Where the grid is computed.
  std::size_t grid_at() const;

  /// The launch says <<<block, grid>>>: takes the second for the grid from now on.
  void exchange() {
    std::swap(sizes_[0], sizes_[1]);
    is_exchanged = true;
  }
  bool is_exchanged = false;

 private:
  struct Number {
    double value = 0;
    bool is_whole = true;
  };
  /// The text that `name`, or `name(parameters)`, stands for.
  struct Definition {
    tokens::Tokens value;                    ///< empty: several statements
    tokens::Tokens type;                     ///< of the result; empty: that of the value
    std::vector<tokens::Tokens> parameters;  ///< type and name of each
  };
  using Definitions = std::map<std::string, Definition, std::less<>>;
  class Reader;
  HostLaunch() = default;
  void find_macros();
  void find_functions();
  void find_changes(std::size_t first, std::size_t name);
  void find_numbers(std::size_t name);
  void add_number(std::size_t at, tokens::Tokens value, std::size_t launch);
  /// The names that the parts are computed by; sides are not looked up further.
  std::set<std::string_view> names_behind(std::vector<tokens::Tokens> parts,
                                          const Values& sides) const;
  /// The components of a dim3, or one number.
  std::vector<tokens::Tokens> components_of(tokens::Tokens expression) const;
  std::optional<Number> value_of(tokens::Tokens expression, const Numbers& with) const;
  std::optional<Sides> sides_of(std::size_t which, const Numbers& numbers) const;

  std::shared_ptr<const tokens::Code> code_;
  tokens::Tokens all_;
  Definitions numbers_, functions_;
  std::map<std::string, std::vector<tokens::Tokens>, std::less<>> sides_;  ///< dim3 by its name
  std::set<std::string, std::less<>> constants_;  ///< macros, and names that are const
  std::set<std::string, std::less<>> changed_;    ///< names that are set again, or counted up
  std::vector<tokens::Tokens> sizes_;             ///< grid, block, bytes
  std::vector<tokens::Tokens> passed_;
  std::string unclear_;  ///< what the sides depend on, so that the grid is not known from them
  mutable std::string failed_;
};

}  // namespace convfilt
