/// How the host's part of a file launches its kernel.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/lesson/tokens.hpp"

namespace convfilt {

/// A launch `kernel<arguments of a template><<<grid, block, bytes>>>(...)`, whose sizes are
/// computed from the numbers that the file holds: macros, constants, and variables that are set
/// once.
class HostLaunch {
 public:
  /// The first launch of that kernel; nothing where there is none. `code` has no comments; it must
  /// outlive this.
  static std::optional<HostLaunch> find(std::string_view code, std::string_view kernel);

  std::size_t at = 0;                           ///< of the kernel's name in the code
  std::vector<std::string> template_arguments;  ///< as numbers, where they are some
  std::vector<std::string> arguments;           ///< the names that the kernel is passed, or ""
  std::map<std::string, double, std::less<>>
      given;  ///< what names stand for that the file leaves open

  /// Columns, rows and planes of a block, and whether it is one number; nothing where the file does
  /// not tell them.
  struct Sides {
    std::array<std::int64_t, 3> of{1, 1, 1};
    bool is_number = false;
  };
  std::optional<Sides> block() const;

  /// The outputs of a block: so many that the grid is for pictures of any size. `names` are those
  /// of the picture's sides in the launch; `is_plane` says that it has more than one row.
  std::optional<Sides> outputs(const std::vector<std::string>& names, bool is_plane) const;

  /// Bytes of dynamic shared memory; 0 where the launch has none.
  std::optional<std::int64_t> shared_bytes() const;

 private:
  struct Number {
    double value = 0;
    bool is_whole = true;
  };
  class Reader;
  std::optional<Number> value_of(tokens::Tokens expression) const;
  /// The components of a dim3, or one number.
  std::optional<std::vector<double>> components_of(tokens::Tokens expression) const;

  std::vector<tokens::Token> tokens_;
  std::map<std::string, tokens::Tokens, std::less<>> numbers_;             ///< what names stand for
  std::map<std::string, std::vector<tokens::Tokens>, std::less<>> sides_;  ///< dim3 by its name
  std::vector<std::vector<tokens::Token>> macros_;
  std::vector<tokens::Tokens> sizes_;  ///< grid, block, bytes
  std::vector<std::string> sought_;    ///< names that stand for the picture's sides
  double unknown_ = 0;                 ///< what a name stands for that is set nowhere; 0: nothing
  mutable std::vector<std::string_view> open_;  ///< names whose values are being computed
  mutable int depth_ = 0;
};

}  // namespace convfilt
