/// Common parts of codecs: readers and writers of whole pictures, words for damage, small helpers.
#pragma once

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "kernels/contract/dispatch.hpp"
#include "src/base/suggest.hpp"
#include "src/picture/byte_order.hpp"
#include "src/picture/codec.hpp"
#include "src/picture/image.hpp"

namespace convfilt {

/// Whether other frames of an animation may be read than its first.
inline bool reads_frames(const ReadOptions& options) {
  return options.page.value_or(0) > 0 || (!options.page && options.several != Several::none);
}

inline std::int64_t samples_of(const Header& header) {
  return std::int64_t{header.width} * header.height * header.channels;
}

/// A reader of a file's first picture, or of the frames of an animation.
class FirstPictureReader : public RowReader {
 protected:
  FirstPictureReader(ByteSource& source, ReadContext& context, FormatId format)
      : source_(source), context_(context) {
    header_.format = format;
  }

  /// Throws IoError as ReadContext::check_size() does.
  void set_size(std::int64_t width, std::int64_t height) {
    context_.check_size(width, height);
    header_.width = int(width);
    header_.height = int(height);
  }

  /// Refuses a file of which nothing is left; says whether --on-damage=warn helps.
  [[noreturn]] void give_up(const std::string& damage) const {
    if (context_.options().refuse_damaged) context_.damaged(damage);
    context_.fail("nothing of this " + std::string(name_of(header_.format)) +
                  " can be read: " + damage);
  }

  ByteSource& source_;
  ReadContext& context_;
};

/// Decodes everything when the first row is asked for, and hands out rows.
class WholeReader : public FirstPictureReader {
 public:
  WholeReader(ByteSource& source, ReadContext& context, FormatId format)
      : FirstPictureReader(source, context, format), file_bytes_(std::int64_t(source.size())) {}

  void read(PictureView<std::byte> rows) final {
    if (next_ == 0) decode();
    for (int y = 0; y < rows.height; ++y) copy_row(next_++, rows.row(y));
  }

  /// The library holds one more picture beside the one that it gives, and the file is in memory.
  std::int64_t held_bytes() const override {
    return file_bytes_ + 2 * bytes_of(header_) + library_bytes_;
  }

 protected:
  /// Throws IoError.
  virtual void decode() = 0;

  /// Row `y` of what was decoded, as the header describes it.
  virtual void copy_row(int y, std::byte* to) const = 0;

  /// Has the next row be the first of the next picture.
  void begin_again() { next_ = 0; }

  const std::int64_t file_bytes_;
  std::int64_t library_bytes_ = 0;  ///< beyond that while it decodes, measured with noise

 private:
  int next_ = 0;
};

/// Collects rows, and encodes them when all are there.
class WholeWriter : public RowWriter {
 public:
  WholeWriter(ByteSink& sink, const Header& header) : sink_(sink), header_(header) {}

  void write(PictureView<const std::byte> rows, EncodedRows) final {
    if (next_ == 0) begin();
    for (int y = 0; y < rows.height; ++y) put_row(next_++, rows.row(y));
  }

  std::int64_t held_bytes() const override { return 2 * bytes_of(header_) + library_bytes_; }

 protected:
  /// Makes room for the pixels.
  virtual void begin() {
    image_ = Image(header_.width, header_.height, header_.channels, header_.depth);
  }

  virtual void put_row(int y, const std::byte* from) {
    std::copy_n(from, image_.row_bytes(), image_.view().row(y));
  }

  /// Has the next row be the first of the next picture.
  void begin_again() { next_ = 0; }

  [[noreturn]] void fail(const std::string& why) const { fail_to_encode(header_, why); }

  ByteSink& sink_;
  const Header header_;
  Image image_;                     ///< the rows, of writers that do not put them elsewhere
  std::int64_t library_bytes_ = 0;  ///< beyond that while it encodes, measured with noise

 private:
  int next_ = 0;
};

/// Refuses a canvas that would take too much memory. A few bytes name one of any size around a
/// smaller picture, so it counts with all that the filter needs: alpha, and colours as floats.
inline void check_canvas(const ReadContext& context, const Header& header, int width, int height) {
  constexpr std::uint64_t kRead = 4, kFiltered = 24;
  const std::uint64_t canvas = std::uint64_t(header.width) * std::uint64_t(header.height),
                      picture = std::uint64_t(width) * std::uint64_t(height);
  context.check_memory(canvas * (picture < canvas ? kFiltered : kRead) + picture);
}

inline constexpr const char* kDamagedProfile = "its colour profile is damaged, and is left out";

inline std::string cmyk_becomes_rgb(bool has_profile) {
  return std::string("its CMYK becomes RGB by the plain formula") +
         (has_profile ? "; its colour profile is left out" : "");
}

/// The damage of a file that goes on behind its picture.
inline std::string bytes_follow(std::uint64_t count) {
  return plural(count, "byte") + (count == 1 ? " follows" : " follow") + " the end of the picture";
}

/// The EXIF block in a box of HEIC, AVIF or JPEG XL: a number before it says how many bytes to
/// skip. Empty where there is none.
inline ByteView exif_in_box(ByteView box) {
  const std::uint64_t skipped = box.size() < 4 ? 4 : 4 + big_endian(box, 0);
  return box.subspan(std::size_t(std::min<std::uint64_t>(skipped, box.size())));
}

/// For libraries in C whose functions are left by std::longjmp() when they give up. Calls `work`;
/// false when it was left by exit.jump. Nothing that has a destructor may live in the frames
/// between, which belong to the library, its callbacks and `work`.
template <class Exit, class Work>
bool attempt(Exit& exit, const Work& work) {
  static_assert(std::is_trivially_destructible_v<Work>);
  if (setjmp(exit.jump)) return false;
  work();
  return true;
}

/// Lets a library in C destroy its object.
template <auto kDestroy>
struct Destroy {
  void operator()(auto* object) const { kDestroy(object); }
};

/// Exchanges the first and the third of 3 or 4 channels: BGR becomes RGB, and back.
template <class T>
void swap_red_and_blue(T* row, int width, int channels) {
  if (channels < 3) return;
  for (T* end = row + std::ptrdiff_t(width) * channels; row != end; row += channels)
    std::swap(row[0], row[2]);
}

/// Copies a row of the header's depth and channels, and does the same. Swapping in place takes
/// fewer instructions than to copy sample by sample.
inline void copy_row_reversed(const std::byte* from, std::byte* to, const Header& header) {
  std::copy_n(from, row_bytes(header), to);
  with_depth(header.depth, [&]<class T>(TypeTag<T>) {
    swap_red_and_blue(reinterpret_cast<T*>(to), header.width, header.channels);
  });
}

inline int bits_of_sample(const Header& header) {
  return header.two_levels ? 1 : int(8 * size_of(header.depth));
}

/// Bytes of a row as a file without compression has them.
inline std::size_t stored_row_bytes(const Header& header) {
  return header.two_levels ? (std::size_t(header.width) + 7) / 8 : row_bytes(header);
}

/// Rows for strips of so many bytes, or samples if there are two levels: more would leave threads
/// without work.
inline std::size_t rows_of_strip(const Header& header, std::size_t strip) {
  const std::size_t row = header.two_levels ? std::size_t(header.width) : row_bytes(header);
  return std::max<std::size_t>(1, strip / row);
}

/// Stores a row of Header::two_levels, the first sample in the highest bit.
inline void pack_row(const std::byte* from, const Header& header, unsigned char* to) {
  with_depth(header.depth, [&]<class T>(TypeTag<T>) {
    const T* sample = reinterpret_cast<const T*>(from);
    const T white = T(full_range(header.depth));
    for (int left = header.width; left > 0; left -= 8) {
      unsigned bits = 0;
      for (int i = 0; i < 8; ++i) {
        const T level = i < left ? *sample++ : T(0);
        if (level != 0 && level != white) throw std::logic_error("a grey level has no bit");
        bits = bits << 1 | unsigned(level == white);
      }
      *to++ = static_cast<unsigned char>(bits);
    }
  });
}

}  // namespace convfilt
