# {page} in --name makes a picture of each page; the journal and --json know them one by one.
need_python tifffile
python3 -c '
import numpy as np, tifffile
rng = np.random.default_rng(1)
for name, pages in (("a", 3), ("b", 1)):
    tifffile.imwrite("in_%s.tif" % name, rng.integers(0, 256, (pages, 20, 30)).astype(np.uint8), photometric="minisblack", metadata=None)'
mkdir in; mv in_*.tif in; echo rubbish >in/in_c.tif
try blur in out --name '{stem}_{page}.png'
ls out >&2
try blur in out --name '{stem}_{page}.png' --resume
rm out/in_a_1.png
try blur in out --name '{stem}_{page}.png' --resume --json -q >lines || :
grep -v '"reason":"cannot' lines | sed 's/"bytes_in.*"ms.*//; s/,$//' >&2
try blur in out2 --name '{stem}_{page}{ext}' --page 2 --threads 1
ls out2 >&2
for page in 0 1 2; do
  convfilt blur in/in_a.tif alone.png --page $page -q
  same alone.png out/in_a_$page.png
done
# Whole files.
convfilt blur in/in_a.tif in/in_b.tif --json -o out3 | sed 's/"bytes_in.*//' | sort >&2
for where in --dry-run; do convfilt blur in out4 --name '{stem}_{page}{ext}' $where --json >&2; done
try blur in out5 --name '{page}{ext}'
try blur in out5 --name '{stem}_{pages}{ext}'
