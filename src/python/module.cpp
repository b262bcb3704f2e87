// The Python module's compiled part: convfilt.h for Python. convfilt/__init__.py has what users
// call.
#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/library/convfilt.h"

namespace nb = nanobind;

namespace {

struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(convfilt_status status) {
  switch (status) {
    case CONVFILT_OK: return;
    case CONVFILT_USAGE: throw nb::value_error(convfilt_error());
    case CONVFILT_IO: PyErr_SetString(PyExc_OSError, convfilt_error()); throw nb::python_error();
    case CONVFILT_DEVICE: throw DeviceError(convfilt_error());
    case CONVFILT_FAILED: break;
  }
  throw std::runtime_error(convfilt_error());
}

/// A text for C, which would end at a NUL.
const char* c_text(const std::string& text) {
  if (text.find('\0') != text.npos) throw nb::value_error("a text has a NUL; leave it out");
  return text.c_str();
}

/// Lets other threads of Python run while `work` does.
template <class Work>
convfilt_status without_gil(const Work& work) {
  PyThreadState* const thread = PyEval_SaveThread();
  const convfilt_status status = work();
  // Before 3.14 Python ends a daemon thread here while the interpreter ends. The frames above do
  // not stand that, so the thread sleeps until the process ends, as from 3.14 on.
  try {
    PyEval_RestoreThread(thread);
  } catch (const abi::__forced_unwind&) {
    while (true) pause();
  }
  return status;
}

/// Width, height, channels and depth of a picture.
using ShapeTuple = std::tuple<int, int, int, int>;

convfilt_shape shape_of(const ShapeTuple& shape) {
  const auto [width, height, channels, depth] = shape;
  return {width, height, channels, convfilt_depth(depth)};
}

/// An address, and the bytes between rows, pixels and channels.
using PixelsTuple = std::tuple<std::uintptr_t, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t>;

convfilt_pixels pixels_of(const PixelsTuple& pixels) {
  const auto [address, row, pixel, channel] = pixels;
  return {reinterpret_cast<void*>(address), row, pixel, channel};
}

class Mask {
 public:
  Mask(const std::string& text) {
    check(without_gil([&, of = c_text(text)] { return convfilt_mask_from_text(of, &mask_); }));
  }
  Mask(const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& weights,
       double divisor) {
    check(without_gil([&, rows = int(weights.shape(0)), columns = int(weights.shape(1))] {
      return convfilt_mask_from_array(weights.data(), columns, rows, divisor, &mask_);
    }));
  }
  static Mask from_file(const std::string& path_or_name) {
    Mask mask;
    check(without_gil(
        [&, from = c_text(path_or_name)] { return convfilt_mask_from_file(from, &mask.mask_); }));
    return mask;
  }
  Mask(Mask&& other) noexcept : mask_(std::exchange(other.mask_, nullptr)) {}
  ~Mask() { convfilt_mask_free(mask_); }

  /// Rows and columns, as arrays have them.
  std::tuple<int, int> shape() const {
    int width = 0, height = 0;
    convfilt_mask_size(mask_, &width, &height);
    return {height, width};
  }
  std::vector<std::vector<double>> weights() const {
    const auto [height, width] = shape();
    std::vector<std::vector<double>> rows;
    for (int y = 0; y < height; ++y) {
      rows.emplace_back();
      for (int x = 0; x < width; ++x) rows.back().push_back(convfilt_mask_weight(mask_, x, y));
    }
    return rows;
  }
  std::string text() const {
    const char* text = nullptr;
    check(without_gil([&] {
      text = convfilt_mask_text(mask_);
      return text ? CONVFILT_OK : CONVFILT_FAILED;
    }));
    return text;
  }
  Mask normalized() const {
    Mask mask;
    check(convfilt_mask_normalized(mask_, &mask.mask_));
    return mask;
  }
  Mask flipped() const {
    Mask mask;
    check(convfilt_mask_flipped(mask_, &mask.mask_));
    return mask;
  }
  const convfilt_mask* get() const { return mask_; }

 private:
  Mask() = default;
  convfilt_mask* mask_ = nullptr;
};

class Filter {
 public:
  Filter(const std::string& recipe) {
    check(without_gil(
        [&, text = c_text(recipe)] { return convfilt_filter_from_recipe(text, &filter_); }));
  }
  Filter(const Mask& mask) { check(convfilt_filter_from_mask(mask.get(), &filter_)); }
  Filter(const Filter&) = delete;
  ~Filter() { convfilt_filter_free(filter_); }

  void set(const std::string& name, const std::string& value) {
    check(convfilt_filter_set(filter_, c_text(name), c_text(value)));
  }
  std::string refusal(const std::string& strategy, const ShapeTuple& shape,
                      const std::string& device) const {
    const convfilt_shape of = shape_of(shape);
    return convfilt_strategy_refuses(c_text(strategy), filter_, &of, c_text(device));
  }
  const convfilt_filter* get() const { return filter_; }

 private:
  convfilt_filter* filter_ = nullptr;
};

class Plan {
 public:
  /// `gpu` is a CUDA device, or -1 for host memory.
  Plan(const Filter& filter, const ShapeTuple& shape, int gpu) {
    const convfilt_shape of = shape_of(shape);
    check(without_gil([&] {
      return gpu < 0 ? convfilt_plan_make(filter.get(), &of, &plan_)
                     : convfilt_plan_make_on_gpu(filter.get(), &of, gpu, &plan_);
    }));
  }
  Plan(const Plan&) = delete;
  ~Plan() {
    // A plan on a GPU waits for its work, which may wait for Python.
    without_gil([&] {
      convfilt_plan_free(plan_);
      return CONVFILT_OK;
    });
  }

  ShapeTuple result() const {
    convfilt_shape shape;
    convfilt_plan_result(plan_, &shape);
    return {shape.width, shape.height, shape.channels, shape.depth};
  }
  std::string text() const { return convfilt_plan_text(plan_); }

  /// Filters `count` pictures, which lie that many bytes apart.
  void run(const PixelsTuple& in, std::ptrdiff_t in_step, const PixelsTuple& out,
           std::ptrdiff_t out_step, std::ptrdiff_t count, std::uintptr_t stream, bool on_gpu) {
    convfilt_pixels from = pixels_of(in), to = pixels_of(out);
    // Ctrl-C ends a batch behind the picture that is under way.
    constexpr std::chrono::milliseconds kBetweenSignals{100};
    std::ptrdiff_t k = 0;
    const auto run_some = [&] {
      const auto end = std::chrono::steady_clock::now() + kBetweenSignals;
      convfilt_status status = CONVFILT_OK;
      for (; k < count && status == CONVFILT_OK && std::chrono::steady_clock::now() < end; ++k) {
        status = on_gpu
                     ? convfilt_plan_run_on_gpu(plan_, &from, &to, reinterpret_cast<void*>(stream))
                     : convfilt_plan_run(plan_, &from, &to);
        from.data = static_cast<char*>(from.data) + in_step;
        to.data = static_cast<char*>(to.data) + out_step;
      }
      return status;
    };
    while (k < count) {
      check(without_gil(run_some));
      if (k < count && PyErr_CheckSignals() != 0) throw nb::python_error();
    }
  }

 private:
  convfilt_plan* plan_ = nullptr;
};

/// What an array that speaks DLPack is: address, shape, strides in samples, the type's kind and
/// bits, the device's kind and number, and what keeps the memory.
template <class Array>
auto describe(const Array& array) {
  std::vector<std::int64_t> shape, strides;
  for (std::size_t k = 0; k < array.ndim(); ++k) {
    shape.push_back(std::int64_t(array.shape(k)));
    strides.push_back(array.stride(k));
  }
  const nb::capsule keep(new Array(array),
                         [](void* kept) noexcept { delete static_cast<Array*>(kept); });
  return std::make_tuple(reinterpret_cast<std::uintptr_t>(array.data()), shape, strides,
                         int(array.dtype().code), array.dtype().bits * array.dtype().lanes,
                         int(array.device_type()), int(array.device_id()), keep);
}

/// Memory of large results, which comes back when the last array over it is gone. A fresh page
/// costs the system more time than a blur of what lies in it.
class Pool {
 public:
  void* take(std::size_t bytes) {
    {
      const std::lock_guard lock(lock_);
      const auto found = idle_.find(bytes);
      if (found != idle_.end()) {
        void* memory = found->second;
        idle_.erase(found);
        held_ -= bytes;
        return memory;
      }
    }
    if (void* memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc();
  }
  void give(void* memory, std::size_t bytes) {
    const std::lock_guard lock(lock_);
    if (held_ + bytes > kMost) {
      for (const auto& [size, each] : idle_) std::free(each);
      idle_.clear();
      held_ = 0;
    }
    if (bytes > kMost) return std::free(memory);
    idle_.emplace(bytes, memory);
    held_ += bytes;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{256} << 20;
  std::mutex lock_;
  std::multimap<std::size_t, void*> idle_;
  std::size_t held_ = 0;
};

/// Memory of the pool, as the owner of an array.
struct Memory {
  void* data;
  std::size_t bytes;
};

Pool& pool() {
  static Pool& all = *new Pool;  // arrays may outlive everything else
  return all;
}

nb::object empty(const std::vector<std::size_t>& shape, int depth) {
  const nb::dlpack::dtype types[] = {nb::dtype<std::uint8_t>(), nb::dtype<std::uint16_t>(),
                                     nb::dtype<float>()};
  const nb::dlpack::dtype type = types[depth];
  std::size_t bytes = type.bits / 8;
  for (const std::size_t side : shape) bytes *= side;
  auto* memory = new Memory{pool().take(bytes), bytes};
  const nb::capsule owner(memory, [](void* owned) noexcept {
    auto* of = static_cast<Memory*>(owned);
    pool().give(of->data, of->bytes);
    delete of;
  });
  return nb::cast(
      nb::ndarray<nb::numpy>(memory->data, shape.size(), shape.data(), owner, nullptr, type));
}

}  // namespace

NB_MODULE(_core, module) {
  nb::set_leak_warnings(false);  // daemon threads may still hold plans when the interpreter ends
  nb::exception<DeviceError>(module, "DeviceError", PyExc_RuntimeError);
  module.def("version", &convfilt_version);
  module.def("gpus", [] {
    int gpus = 0;
    without_gil([&] {
      gpus = convfilt_gpus();
      return CONVFILT_OK;
    });
    return gpus;
  });
  module.def("empty", &empty);
  module.def("describe", &describe<nb::ndarray<nb::ro>>);
  module.def("describe_writable", &describe<nb::ndarray<>>);
  module.def("strategies", [] {
    std::vector<std::string> names;
    for (int k = 0; convfilt_strategy(k); ++k) names.emplace_back(convfilt_strategy(k));
    return names;
  });
  nb::class_<Mask>(module, "Mask")
      .def(nb::init<const std::string&>())
      .def(nb::init<const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>&,
                    double>())
      .def_static("from_file", &Mask::from_file)
      .def("shape", &Mask::shape)
      .def("weights", &Mask::weights)
      .def("text", &Mask::text)
      .def("normalized", &Mask::normalized)
      .def("flipped", &Mask::flipped);
  nb::class_<Filter>(module, "Filter")
      .def(nb::init<const std::string&>())
      .def(nb::init<const Mask&>())
      .def("set", &Filter::set)
      .def("refusal", &Filter::refusal);
  nb::class_<Plan>(module, "Plan")
      .def(nb::init<const Filter&, const ShapeTuple&, int>())
      .def("result", &Plan::result)
      .def("text", &Plan::text)
      .def("run", &Plan::run);
}
