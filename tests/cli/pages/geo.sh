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
tifffile.imwrite("turned.tif", rng.integers(0, 1000, (64, 48)).astype(np.uint16), metadata=None, extratags=[
    (33922, 12, 6, (0, 0, 0, 5.0, 5.0, 0), True), (274, 3, 1, 6, True)])
P
for name in point point_big matrix; do
  for mode in same valid full; do try apply box5 $name.tif ${name}_$mode.tif --mode=$mode; done
done
try apply identity point.tif point.png
try apply identity turned.tif upright.tif
try apply identity point.tif bare.tif --strip
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
for name in "upright.tif", "bare.tif": assert not set(tags(name)) & {33550, 33922, 34264, 34735, 42112, 42113}, tags(name)
P
