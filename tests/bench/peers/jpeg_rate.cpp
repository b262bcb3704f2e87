// The bound of a folder of JPEGs on the CPU: libjpeg-turbo alone, which decodes and encodes each
// picture with its usual settings at QUALITY (0: the picture's own tables) and the picture's own
// chroma subsampling, and writes it, on WORKERS threads.
//
//   jpeg_rate WORKERS QUALITY OUT FILES...    prints pictures a second

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <jpeglib.h>

namespace {

void transcode(const std::string& in, const std::string& out, int quality) {
  std::FILE* file = std::fopen(in.c_str(), "rb");
  jpeg_error_mgr errors;
  jpeg_decompress_struct from{};
  from.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&from);
  jpeg_stdio_src(&from, file);
  jpeg_read_header(&from, TRUE);
  jpeg_start_decompress(&from);
  const std::size_t row = std::size_t(from.output_width) * 3;

  std::FILE* written = std::fopen(out.c_str(), "wb");
  jpeg_compress_struct to{};
  to.err = &errors;
  jpeg_create_compress(&to);
  jpeg_stdio_dest(&to, written);
  to.image_width = from.output_width;
  to.image_height = from.output_height;
  to.input_components = 3;
  to.in_color_space = JCS_RGB;
  jpeg_set_defaults(&to);
  if (quality > 0) jpeg_set_quality(&to, quality, TRUE);
  for (int i = 0; i < NUM_QUANT_TBLS && quality == 0; ++i) {
    if (const JQUANT_TBL* own = from.quant_tbl_ptrs[i]) {
      const std::vector<unsigned> table(own->quantval, own->quantval + DCTSIZE2);
      jpeg_add_quant_table(&to, i, table.data(), 100, TRUE);
    }
  }
  for (int i = 0; i < to.num_components; ++i) {
    to.comp_info[i].h_samp_factor = from.comp_info[i].h_samp_factor;
    to.comp_info[i].v_samp_factor = from.comp_info[i].v_samp_factor;
  }
  jpeg_start_compress(&to, TRUE);

  // Sixteen rows at a time stay in the cache between the two.
  // Where they are aligned to 32 bytes, libjpeg-turbo writes them past the cache, an eighth slower.
  constexpr std::size_t kAligned = 32;
  std::vector<unsigned char> rows(row * 16 + 2 * kAligned);
  void* first = rows.data();
  std::size_t room = rows.size();
  std::align(kAligned, row * 16 + kAligned, first, room);
  JSAMPROW lines[16];
  for (int i = 0; i < 16; ++i)
    lines[i] = static_cast<unsigned char*>(first) + kAligned / 2 + std::size_t(i) * row;
  while (from.output_scanline < from.output_height) {
    const JDIMENSION count = jpeg_read_scanlines(&from, lines, 16);
    jpeg_write_scanlines(&to, lines, count);
  }
  jpeg_finish_decompress(&from);
  jpeg_destroy_decompress(&from);
  jpeg_finish_compress(&to);
  jpeg_destroy_compress(&to);
  std::fclose(file);
  std::fclose(written);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string out = argv[3];
  std::atomic<int> next{4};
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> workers;
  for (int i = 0; i < std::atoi(argv[1]); ++i)
    workers.emplace_back([&] {
      for (int file; (file = next++) < argc;) {
        const std::string in = argv[file];
        transcode(in, out + "/" + in.substr(in.rfind('/') + 1), std::atoi(argv[2]));
      }
    });
  for (std::thread& worker : workers) worker.join();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  std::printf("%.1f\n", (argc - 4) / spent.count());
}
