# packaging/release.sh sets the address, which has the version, and the sum.
class Convfilt < Formula
  desc "Exact, fast 2D convolution of pictures from the command-line"
  homepage "https://example.org/"
  url "https://example.org/convfilt-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "eigen" => :build
  depends_on "nlohmann-json" => :build
  depends_on "pkgconf" => :build
  depends_on "boost"
  depends_on "fmt"
  depends_on "highway"
  depends_on "isa-l"
  depends_on "jpeg-turbo"
  depends_on "jpeg-xl"
  depends_on "libheif"
  depends_on "libpng"
  depends_on "libtiff"
  depends_on :linux
  depends_on "little-cms2"
  depends_on "opencv"
  depends_on "openjpeg"
  depends_on "spdlog"
  depends_on "tbb"
  depends_on "webp"
  depends_on "zlib-ng-compat"

  def install
    system "cmake", "-S", ".", "-B", "build", "-DCONVFILT_CUDA=OFF", "-DCONVFILT_TESTS=OFF",
           "-DCONVFILT_MODULE_PYTHON=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    (testpath/"in.pgm").write "P2 3 1 255 10 20 30"
    system bin/"convfilt", "apply", "identity", "in.pgm", "out.pgm"
    assert_equal "\n\x14\x1E".b, (testpath/"out.pgm").binread[-3..]
  end
end
