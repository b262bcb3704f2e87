/// CUDA libraries are loaded when they are first used, so that the program starts fast, and runs
/// where they are missing.
#pragma once

#include <initializer_list>
#include <string>

namespace convfilt::cuda {

/// A shared library. Its code stays in the process, since CUDA libraries clean up when that ends.
class Library {
 public:
  /// The first of `files` that can be loaded: from the loader's path, or the toolkit that this was
  /// built with. Throws DeviceError with the remedy when there is none.
  Library(std::string name, std::initializer_list<const char*> files);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  /// The function of that name; F is a pointer to function, as the library's header has it.
  template <class F>
  F function(const char* symbol) const {
    return reinterpret_cast<F>(address(symbol));
  }

 private:
  void* address(const char* symbol) const;

  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace convfilt::cuda
