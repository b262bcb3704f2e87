# GeoTIFF's and GDAL's tags stay true: kept where the picture keeps its place, moved with it, or gone with a warning.
need_python numpy tifffile
python3 - <<'P'
import numpy as np, tifffile
rng = np.random.default_rng(1)
tags = [(33550, 12, 3, (10.0, 10.0, 0.0), True), (34735, 3, 4, (1, 1, 0, 0), True), (42113, 2, 0, "999", True),
        (42112, 2, 0, '<GDALMetadata>\n<Item name="STATISTICS_MAXIMUM" sample="0">999</Item>\n<Item name="kept">7</Item>\n</GDALMetadata>', True)]
for order in "<", ">":
    tifffile.imwrite("point%s.tif" % {"<": "", ">": "_big"}[order], rng.integers(0, 1000, (64, 48)).astype(np.uint16), metadata=None, byteorder=order,
                     extratags=tags + [(33922, 12, 6, (0, 0, 0, 500000.0, 5000000.0, 0), True)])
tifffile.imwrite("matrix.tif", rng.integers(0, 1000, (64, 48)).astype(np.uint16), metadata=None, extratags=[
    (34264, 12, 16, (10.0, 1, 0, 500000, 2, -10, 0, 5000000, 0, 0, 0, 0, 0, 0, 0, 1), True), (34735, 3, 4, (1, 1, 0, 0), True)])
heights = rng.integers(-100, 3000, (64, 48)).astype(np.int16); heights[rng.random(heights.shape) < 0.1] = -9999
tifffile.imwrite("elevation.tif", heights, metadata=None, extratags=tags[:2] + [(42113, 2, 0, "-9999", True)])
tifffile.imwrite("turned.tif", rng.integers(0, 1000, (64, 48)).astype(np.uint16), metadata=None, extratags=[
    (33922, 12, 6, (0, 0, 0, 5.0, 5.0, 0), True), (274, 3, 1, 6, True)])
P
printf 'P5\n4 2\n255\n\11\11\0\11\11\11\11\11' >flat.pgm
for name in point point_big matrix; do
  for mode in same valid full; do try apply box5 $name.tif ${name}_$mode.tif --mode=$mode; done
done
try apply identity point.tif point.png
try apply identity turned.tif upright.tif
try apply identity point.tif bare.tif --strip
try apply identity point.tif nowhere.tif --strip=gps
# Samples that stand for no data neither count nor change.
try apply box5 point.tif auto.tif --nodata auto --compression 0
try apply box5 point.tif given.tif --nodata 999 --compression 0
same auto.tif given.tif
try apply box5 point.tif opaque.tif --nodata auto --keep-hidden --compression 0
same auto.tif opaque.tif
try apply box5 matrix.tif none.tif --nodata auto
try apply box5 matrix.tif none.tif --nodata any
printf '1 0 -1\n---\n1 2 1\n' >two.txt
try apply two.txt point.tif two.tif --nodata auto --compression 0
try sharpen point.tif crisp.tif --nodata auto --threshold 3 --compression 0
try edge point.tif sobel.tif --nodata auto --sigma 0 --gain 1 --compression 0
try edge point.tif canny.tif --nodata auto --method canny --high 0.5 --compression 0
try run 'blur --box 3 | edge --sigma 0 --gain 1' point.tif steps.tif --nodata auto --compression 0
try edge point.tif other.tif --nodata 5 --compression 0
try edge flat.pgm flat_edge.pgm --nodata 0
cat flat_edge.pgm | od -An -tu1 -w4 -j11 -v
try blur matrix.tif none.tif --nodata 0 --linear
# Of 16 bits with a sign, which are read as floats.
try apply box5 elevation.tif mean.tif --nodata auto --compression 0
try edge elevation.tif edges.tif
try edge elevation.tif slopes.tif --nodata auto --compression 0
python3 - <<'P'
import tifffile
def tags(name): return {t.code: t.value for t in tifffile.TiffFile(name).pages[0].tags.values()}
for name in "point", "point_big":
    for mode, by in ("same", 0), ("valid", -2), ("full", 2):
        a = tags("%s_%s.tif" % (name, mode))
        assert a[33922] == (by, by, 0, 500000.0, 5000000.0, 0), (name, mode, a[33922])
        assert a[33550] == (10.0, 10.0, 0.0) and tuple(a[34735]) == (1, 1, 0, 0) and a[42113] == "999"
        assert "STATISTICS" not in a[42112] and '<Item name="kept">7</Item>' in a[42112]
for mode, by in ("same", 0), ("valid", 2), ("full", -2):
    a = tags("matrix_%s.tif" % mode)[34264]
    assert a == (10.0, 1, 0, 500000 + 11 * by, 2, -10, 0, 5000000 - 8 * by, 0, 0, 0, 0, 0, 0, 0, 1), a
for name in "upright.tif", "bare.tif", "nowhere.tif": assert not set(tags(name)) & {33550, 33922, 34264, 34735, 42112, 42113}, tags(name)
assert not any(b"\0\0\0\x80\x84\x1e\x41" in open(name, "rb").read() for name in ("bare.tif", "nowhere.tif"))  # 500000.0
import numpy as np
before, after = (tifffile.imread(name).astype(float) for name in ("point.tif", "auto.tif"))
has = np.pad(before != 999, 2, "edge")
windows = np.lib.stride_tricks.sliding_window_view
values = windows(np.pad(before, 2, "edge") * has, (5, 5)).sum((2, 3)) / windows(has, (5, 5)).sum((2, 3))
assert (before == 999).sum() > 1 and (after[before == 999] == 999).all()
assert np.abs(after - values)[before != 999].max() <= 0.5001
before, after = tifffile.imread("elevation.tif").astype(float), tifffile.imread("mean.tif").astype(float) * 32767
has = np.pad(before != -9999, 2, "edge")
values = windows(np.pad(before, 2, "edge") * has, (5, 5)).sum((2, 3)) / windows(has, (5, 5)).sum((2, 3))
assert np.abs(after - np.where(before == -9999, before, values)).max() < 0.01
assert np.float32(float(tags("mean.tif")[42113])) == np.float32(-9999 / 32767) and 42113 not in tags("edges.tif")
after = tifffile.imread("slopes.tif")
assert np.float32(float(tags("slopes.tif")[42113])) == np.float32(-9999 / 32767)
assert ((after == np.float32(-9999 / 32767)) == (before == -9999)).all()
# A sample without data counts as the nearest with data: of several the upper, then the left.
lacks = tifffile.imread("point.tif") == 999
def filled(picture, reach):
    picture = picture.copy()
    for y, x in np.argwhere(lacks):
        found = [(dx * dx + dy * dy, dy, dx) for dy in range(-reach, reach + 1) for dx in range(-reach, reach + 1)
                 if 0 <= y + dy < 64 and 0 <= x + dx < 48 and not lacks[y + dy, x + dx]]
        picture[y, x] = picture[min(found)[1] + y, min(found)[2] + x]
    return picture
def sobel(picture):
    w = windows(np.pad(filled(picture, 1), 1, "edge"), (3, 3))
    across, down = np.outer([1, 2, 1], [-1, 0, 1]), np.outer([-1, 0, 1], [1, 2, 1])
    return np.hypot((w * across).sum((2, 3)), (w * down).sum((2, 3))) / 4
def box3(picture):
    has = np.pad(~lacks, 1, "edge")
    return windows(np.pad(picture, 1, "edge") * has, (3, 3)).sum((2, 3)) / np.maximum(windows(has, (3, 3)).sum((2, 3)), 1)
before = tifffile.imread("point.tif").astype(float)
for name, values in ("sobel.tif", sobel(before)), ("steps.tif", sobel(box3(before))):
    after = tifffile.imread(name).astype(float)
    assert (after[lacks] == 999).all() and np.abs(after - values)[~lacks].max() < 1.001, name
for name in "two.tif", "crisp.tif", "sobel.tif", "canny.tif", "steps.tif":
    assert tags(name)[42113] == "999" and ((tifffile.imread(name) == 999) == lacks).all(), name
assert set(np.unique(tifffile.imread("canny.tif"))) == {0, 999, 65535} and 42113 not in tags("other.tif")
P
