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
try apply box5 matrix.tif none.tif --nodata auto
try apply box5 matrix.tif none.tif --nodata any
printf '1 0 -1\n---\n1 2 1\n' >two.txt
try apply two.txt matrix.tif none.tif --nodata 0
try sharpen matrix.tif none.tif --nodata 0 --threshold 3
try blur matrix.tif none.tif --nodata 0 --linear
# Of 16 bits with a sign, which are read as floats.
try apply box5 elevation.tif mean.tif --nodata auto --compression 0
try edge elevation.tif edges.tif
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
P
