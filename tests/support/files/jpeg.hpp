/// JPEGs as libjpeg-turbo itself writes and reads them.
#pragma once

#include <cstdio>  // jpeglib.h needs it before

#include <jpeglib.h>

#include <cstdlib>
#include <functional>
#include <vector>

#include "tests/support/files/picture.hpp"

namespace convfilt::testing {

using Configure = std::function<void(jpeg_compress_struct&)>;

/// A JPEG as libjpeg-turbo writes it with these settings, from rows of that colour space.
inline Bytes encoded(const Image& image, J_COLOR_SPACE space, int channels,
                     const Configure& configure) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  errors.output_message = [](j_common_ptr) {};
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = JDIMENSION(image.width());
  info.image_height = JDIMENSION(image.height());
  info.in_color_space = space;
  info.input_components = channels;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 90, TRUE);
  configure(info);
  jpeg_start_compress(&info, TRUE);
  std::vector<unsigned char> row(std::size_t(image.width()) * std::size_t(channels));
  for (int y = 0; y < image.height(); ++y) {
    const auto* from = reinterpret_cast<const unsigned char*>(image.view().row(y));
    for (int x = 0; x < image.width(); ++x) {
      for (int c = 0; c < channels; ++c)
        row[std::size_t(x * channels + c)] = from[x * image.channels() + c % image.channels()];
    }
    JSAMPROW line = row.data();
    jpeg_write_scanlines(&info, &line, 1);
  }
  jpeg_finish_compress(&info);
  Bytes bytes(memory, memory + size);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return bytes;
}

inline Bytes colour(
    const Image& image, const Configure& configure = [](jpeg_compress_struct&) {}) {
  return encoded(image, JCS_EXT_BGR, 3, configure);
}

inline Bytes grey(
    const Image& image, const Configure& configure = [](jpeg_compress_struct&) {}) {
  return encoded(image, JCS_GRAYSCALE, 1, configure);
}

inline Configure sampling(int across, int down) {
  return [=](jpeg_compress_struct& info) {
    info.comp_info[0].h_samp_factor = across;
    info.comp_info[0].v_samp_factor = down;
  };
}

inline void progressive(jpeg_compress_struct& info) {
  jpeg_simple_progression(&info);
}

inline void arithmetic(jpeg_compress_struct& info) {
  info.arith_code = TRUE;
}

/// A component of a file as it is coded.
struct Component {
  int across = 1, down = 1;     ///< samples for each of the coarsest component
  int width = 0, height = 0;    ///< in blocks
  std::vector<int> table;       ///< quantisation
  std::vector<short> values{};  ///< 64 a block, row by row

  const short* block(int x, int y) const {
    return values.data() + (std::size_t(y) * std::size_t(width) + std::size_t(x)) * DCTSIZE2;
  }
};

inline std::vector<Component> components_of(const Bytes& bytes) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, bytes.data(), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&info, TRUE);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&info);
  std::vector<Component> all;
  for (int i = 0; i < info.num_components; ++i) {
    const jpeg_component_info& from = info.comp_info[i];
    Component component{from.h_samp_factor,
                        from.v_samp_factor,
                        int(from.width_in_blocks),
                        int(from.height_in_blocks),
                        {}};
    component.table.assign(from.quant_table->quantval, from.quant_table->quantval + DCTSIZE2);
    for (int y = 0; y < component.height; ++y) {
      const JBLOCKROW row = info.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&info),
                                                         arrays[i], JDIMENSION(y), 1, FALSE)[0];
      for (int x = 0; x < component.width; ++x)
        component.values.insert(component.values.end(), row[x], row[x] + DCTSIZE2);
    }
    all.push_back(std::move(component));
  }
  jpeg_destroy_decompress(&info);
  return all;
}

}  // namespace convfilt::testing
