# A TIFF of several pages keeps them, each with its own metadata, as tifffile and libtiff's own tools see them.
need_python tifffile
need_tool tiffinfo
python3 - <<'P'
import numpy as np, tifffile
rng = np.random.default_rng(1)
with tifffile.TiffWriter("pages.tif") as w:
    for n, (shape, kind) in enumerate([((40, 50), np.uint8), ((30, 20, 3), np.uint16), ((12, 300), np.float32)]):
        w.write((rng.random(shape) * (255 if kind != np.float32 else 1)).astype(kind), photometric="rgb" if len(shape) == 3 else "minisblack",
                description="page %d" % n, resolution=(100 + n, 100 + n), metadata=None, rowsperstrip=7,
                extratags=[(315, 2, 0, "artist %d" % n, True)])
with tifffile.TiffWriter("big_endian.tif", byteorder=">") as w:
    for n in range(2): w.write(rng.random((9, 9)).astype(np.float32), description="page %d" % n, metadata=None)
tifffile.imwrite("stack.tif", rng.integers(0, 256, (10, 40, 50)).astype(np.uint8), imagej=True, truncate=True)
tifffile.imwrite("shaped.tif", rng.integers(0, 256, (3, 40, 50)).astype(np.uint8), photometric="minisblack")
tifffile.imwrite("stack.ome.tif", rng.integers(0, 256, (3, 40, 50)).astype(np.uint16), photometric="minisblack", metadata={"axes": "ZYX"})
full = rng.integers(0, 256, (200, 300, 3)).astype(np.uint8)
with tifffile.TiffWriter("reduced_first.dng") as w:
    w.write(full[::10, ::10].copy(), photometric="rgb", subfiletype=1, subifds=1, metadata=None, extratags=[(271, 2, 0, "maker", True)])
    w.write(full, photometric="rgb", subfiletype=0, metadata=None)
with tifffile.TiffWriter("pyramid.tif") as w:
    for n in (1, 2, 4): w.write(full[::n, ::n].copy(), photometric="rgb", subfiletype=int(n > 1), metadata=None, description="level %d" % n)
tiles = [full[y:y + 64, x:x + 64] if (x + y) % 128 == 0 else None for y in range(0, 128, 64) for x in range(0, 256, 64)]
tifffile.imwrite("sparse.tif", iter(tiles), shape=(128, 256, 3), dtype=np.uint8, photometric="rgb", tile=(64, 64), metadata=None)
b = bytearray(open("sparse.tif", "rb").read())
with tifffile.TiffFile("sparse.tif") as file:
    tag = file.pages[0].tags["TileOffsets"]
    assert tag.value[1] == 0 and file.pages[0].tags["TileByteCounts"].value[1] == 0
    b[tag.valueoffset:tag.valueoffset + 4] = b"\0\0\0\0"
open("lost.tif", "wb").write(b)
tifffile.imwrite("one.tif", full, photometric="rgb", metadata=None, description="plain words")
P

# All pages by default; the twin of one page says nothing, and neither does the TIFF of three.
for name in pages big_endian stack shaped stack.ome sparse one; do
  convfilt apply identity $name.tif out_$name.tif 2>said
  [ ! -s said ] || fail "$name: $(cat said)"
  [ "$(tiffinfo out_$name.tif 2>&1 | grep -ci warning)" = 0 ] || fail "$name: $(tiffinfo out_$name.tif 2>&1)"
done
python3 - <<'P'
import tifffile, numpy as np
for name in "pages", "big_endian", "stack", "shaped", "stack.ome", "sparse", "one":
    with tifffile.TiffFile(name + ".tif") as a, tifffile.TiffFile("out_" + name + ".tif") as b:
        assert len(a.series) == len(b.series), (name, a.series, b.series)
        for x, y in zip(a.series, b.series):
            assert x.shape == y.shape and x.dtype == y.dtype and np.array_equal(x.asarray(), y.asarray()), (name, x, y)
        if name != "stack": assert len(a.pages) == len(b.pages)
        for x, y in [(a.pages[n].aspage(), b.pages[n].aspage()) for n in range(min(len(a.pages), len(b.pages)))]:
            assert x.description == y.description, (name, x.description, y.description)
            for tag in "Artist", "XResolution", "YResolution":
                x_is, y_is = x.tags.get(tag), y.tags.get(tag)
                if x_is and x_is.value[0] != 1: assert y_is and y_is.value == x_is.value or x_is.value[0] / x_is.value[1] == y_is.value[0] / y_is.value[1], (name, tag, x_is, y_is)
assert len(tifffile.TiffFile("out_stack.tif").pages) == 10
P
python3 -c 'import numpy as np, tifffile, sys
a, b = (tifffile.imread(n, key=range(2)) for n in ("big_endian.tif", "out_big_endian.tif")); assert np.array_equal(a, b)'

# A blur of the file is the blur of each page.
convfilt blur pages.tif blurred.tif
for page in 0 1 2; do
  convfilt blur pages.tif one_$page.tif --page $page 2>said
  [ ! -s said ] || fail "page $page: $(cat said)"
done
python3 -c 'import numpy as np, tifffile
for n in range(3):
    assert len(tifffile.TiffFile("one_%d.tif" % n).pages) == 1
    assert np.array_equal(tifffile.imread("blurred.tif", key=n), tifffile.imread("one_%d.tif" % n))'

# Fewer pages are warned of once, or asked for; a text that counts them goes.
try apply identity pages.tif first.png
try apply identity pages.tif first.tif --pages first
try apply identity pages.tif second.png --page 1 -q
try apply identity stack.tif first.tif --pages=first
try apply identity stack.tif third.tif --page 3
try blur stack.tif smaller.tif --mode=valid
try apply identity shaped.tif first.jpg
try apply identity pages.tif none.png --page 3
try apply identity stack.tif none.png --page 10
try apply identity pages.tif both.tif --page 1 --pages all
python3 -c 'import numpy as np, tifffile
for name, pages in (("first.tif", 1), ("third.tif", 1), ("smaller.tif", 10)):
    with tifffile.TiffFile(name) as file: assert len(file.pages) == pages and not file.pages[0].description, (name, file.pages[0].description)
assert np.array_equal(tifffile.imread("third.tif"), tifffile.imread("stack.tif", key=None)[3])'

# The picture is the full one; smaller copies are left out with a warning.
try apply identity reduced_first.dng full.tif
try apply identity pyramid.tif top.tif
try apply identity pyramid.tif level.tif --page 2
cp pyramid.tif replaced.tif
try apply identity replaced.tif replaced.tif --in-place -q
same pyramid.tif replaced.tif
python3 -c 'import numpy as np, tifffile
full = tifffile.imread("one.tif")
for name in "full.tif", "top.tif": assert np.array_equal(tifffile.imread(name), full), name
assert tifffile.TiffFile("full.tif").pages[0].tags["Make"].value == "maker"
assert np.array_equal(tifffile.imread("level.tif"), full[::4, ::4])'

# A tile that has a length and no place is lost.
try apply identity lost.tif none.png

# In place no page goes.
cp pages.tif kept.tif
convfilt apply identity kept.tif kept.tif --in-place 2>said
[ ! -s said ] || fail "$(cat said)"
python3 -c 'import tifffile; assert len(tifffile.TiffFile("kept.tif").pages) == 3'
for choice in --pages=first "--page 1"; do
  try apply identity kept.tif kept.tif --in-place -q $choice
done
python3 -c 'import tifffile; assert len(tifffile.TiffFile("kept.tif").pages) == 3'
