#!/usr/bin/env bash
# Writes a tarball of the command line that runs on any x86-64 Linux, since it brings every library along, the C library
# too. It is made on Debian, from whose packages the libraries and their licences come.
#
#   packaging/tarball.sh [BUILD [OUT]]     BUILD is build/package by default; OUT's name ends in .tar.xz, or .tar.gz, or .tar
#
# The same build and packages give the same bytes. packaging/try_tarball.sh tries it.
set -euo pipefail
export LC_ALL=C
die() { echo "packaging/tarball.sh: $*" >&2; exit 1; }
case ${1:-} in -h | --help) sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"; exit ;; esac
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(realpath "${1:-$source/build/package}")
[ -x "$build/bin/convfilt" ] || die "there is no $build/bin/convfilt; samples/setup.sh package builds it"
[[ $(uname -m) = x86_64 && -n $(command -v dpkg-query) ]] || die "the tarball is made on Debian on x86-64"
setting() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
version=$(setting CMAKE_PROJECT_VERSION)
name=convfilt-$version-any-linux-x86_64
out=${2:-$build/$name.tar.xz}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/$name runtime=$work/$name/libexec/convfilt-runtime licences=$work/$name/share/doc/convfilt/licences
mkdir -p "$runtime" "$licences"

# The program, its modules and its data.
modules=(gif heif jxl opencv)
for module in "${modules[@]}"; do
  [ -e "$build/$(setting CMAKE_INSTALL_LIBDIR)/convfilt/libconvfilt_$module.so" ] || die "the build has no module '$module'; samples/setup.sh package installs what it needs and builds it"
done
[ -z "$(find /usr/lib -path '*/libheif/plugins' 2>/dev/null)" ] || die "libheif has its encoders as plugins here, which this does not bring; make the tarball on Debian 12"
for component in convfilt outside_debian "${modules[@]}"; do
  cmake --install "$build" --prefix "$root" --component "$component" --strip >"$work/log" 2>&1 || { cat "$work/log" >&2; die "cmake --install fails"; }
  rm -f "$build/install_manifest_$component.txt"
done
mv "$root/bin/convfilt" "$runtime/"
"${CC:-cc}" -static -Os -s -Wall -Wextra -Wl,--build-id=none -o "$root/bin/convfilt" "$source/packaging/launcher.c"

# OpenCV's codecs are linked with GDAL and GDCM, which bring over 100 more libraries, for formats that convfilt does not
# know. They get stand-ins, in which every function returns 0: OpenCV then finds that they read nothing.
mkdir "$work/stand_ins"
codecs=$(find "$root" -name libconvfilt_opencv.so -exec ldd {} + | sed -n 's/.*libopencv_imgcodecs.* => \([^ ]*\) .*/\1/p')
symbols() { nm -D "$1" "$2" | sed 's/@.*//' | awk '{ print $NF, $(NF - 1) }' | sort -u; }  # NAME KIND
ldd "$codecs" | sed -n 's/^\t\(lib\(gdal\|gdcm[A-Z]*\)\.[^ ]*\) => \([^ ]*\) .*/\1 \3/p' | while read -r soname file; do
  symbols --undefined-only "$codecs" | join - <(symbols --defined-only "$file") >"$work/asked"
  awk '{ if ($3 !~ /[TWi]/) exit 1; print ".globl " $1 "\n.type " $1 ",@function\n" $1 ":" } END { print "xorl %eax, %eax\nret" }' "$work/asked" >"$work/stand_in.s" ||
    die "OpenCV takes data from $soname, for which there is no stand-in"
  "${CC:-cc}" -shared -nostdlib -s -Wl,--build-id=none -Wl,-soname,"$soname" -o "$work/stand_ins/$soname" "$work/stand_in.s"
done

# The libraries of all of these. Drivers of GPUs ask for parts that the C library once had, and must not get the system's.
find "$root" \( -name '*.so' -o -path "$runtime/convfilt" \) -exec env LD_LIBRARY_PATH="$work/stand_ins" ldd {} + | sed -n 's/^\t\([^ ]*\) => \([^ ]*\).*/\1 \2/p' | sort -u >"$work/libraries"
! grep ' not$' "$work/libraries" >&2 || die "these are not found"
libc=$(dirname "$(sed -n 's/^libc\.so\.6 //p' "$work/libraries")")
for soname in libdl.so.2 libpthread.so.0 libresolv.so.2 librt.so.1 libutil.so.1; do echo "$soname $libc/$soname"; done >>"$work/libraries"
while read -r soname file; do cp -L "$file" "$runtime/$soname"; done <"$work/libraries"
cp -L "$libc/ld-linux-x86-64.so.2" "$root/libexec/convfilt"
chmod 755 "$root/libexec/convfilt"

# Their licences, those of what the program has been compiled with, and where their sources are.
awk -v ours="$work/" 'index($2, ours) != 1 { print $2 }' "$work/libraries" | xargs realpath | sed 's|^/usr||' | sort -u >"$work/files"
sed 'p; s|^|/usr|' "$work/files" | xargs dpkg-query -S 2>/dev/null | sed 's|: /usr/|: /|' | awk -F ': ' '{ print $2, $1 }' | sort -u >"$work/owners" || true
unowned=$(join -v 1 "$work/files" "$work/owners")
[ -z "$unowned" ] || die "no package owns: $unowned"
sed 's/.* //; s/:.*//' "$work/owners" >"$work/packages"
printf '%s\n' libc6-dev libcli11-dev libhwy-dev libspdlog-dev nlohmann-json3-dev >>"$work/packages"
sort -u -o "$work/packages" "$work/packages"
while read -r package; do cp -L "/usr/share/doc/$package/copyright" "$licences/$package"; done <"$work/packages"
cat "$licences"/* | grep -o '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' | sort -u | while read -r text; do [ ! -f "$text" ] || cp -L "$text" "$licences/"; done
xargs dpkg-query -W -f '${Package} ${Version}, from the source package ${source:Package} ${source:Version}\n' <"$work/packages" | sort >"$licences/packages.txt"
cuda="It has CUDA kernels for sm_$(setting CONVFILT_CUDA_ARCHITECTURES | sed 's/-real//g; s/;/, sm_/g'), and NVIDIA's CUDA runtime, under NVIDIA's licence for it. They run where
NVIDIA's driver is installed. cuFFT, cuBLAS and nvImageCodec are the system's, where it has them."
! grep -q 'this build has no CUDA' < <("$build/bin/convfilt" list devices) || cuda="This build has no CUDA: kernels written for a GPU run in an emulator."

cat >"$root/README" <<EOF
convfilt $version for any Linux on x86-64. It brings every library along, the C library too, and runs where it lies:

    bin/convfilt blur photo.jpg blurred.jpg
    man -l share/man/man1/convfilt.1.gz

A link to bin/convfilt works, too: ln -s "\$PWD/bin/convfilt" ~/.local/bin/

Formats: JPEG, PNG, TIFF, WebP, PNM; as modules BMP, GIF, HEIC and AVIF, JPEG 2000, JPEG XL, OpenEXR and Radiance HDR. That
is every format that convfilt knows.
$cuda
From the system it takes gnuplot for the charts of "compare", and g++ 12 or later for "try", where these are installed.

convfilt is under the Apache License 2.0 (share/doc/convfilt/LICENSE). The libraries in libexec/convfilt-runtime are Debian's,
each under its own licence: share/doc/convfilt/licences has the licences, and packages.txt there names the packages and their
sources. libx265, which encodes HEIC, is under the GNU GPL.
EOF

# Dates are that of the newest entry of the changelog.
date=${SOURCE_DATE_EPOCH:-$(date -d "$(sed -n 's/^ -- .*>  //p;T;q' "$source/packaging/changelog")" +%s)}
chmod -R u=rwX,go=rX "$root"
case $out in
  *.tar.xz) pack=(xz -9) ;;
  *.tar.gz) pack=(gzip -9n) ;;
  *.tar) pack=(cat) ;;
  *) die "$out: the name must end in .tar.xz, .tar.gz or .tar" ;;
esac
tar -C "$work" --sort=name --format=gnu --mtime="@$date" --owner=0 --group=0 --numeric-owner -cf - "$name" | "${pack[@]}" >"$work/packed"
mv "$work/packed" "$out"
echo "$out: $(stat -c %s "$out") bytes; unpacked $(du -s --apparent-size -B 1 "$root" | cut -f 1) bytes, $(find "$runtime" -name '*.so*' | wc -l) libraries"
