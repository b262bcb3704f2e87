# Animations keep their frames and their times, as Pillow composes them; other formats get the first, with a warning.
need_python numpy PIL
python3 - <<'P'
import numpy as np
from PIL import Image, ImageDraw
rng = np.random.default_rng(1)
frames = [Image.fromarray(rng.integers(0, 256, (40, 50, 3)).astype(np.uint8)) for _ in range(3)]
frames[0].save("whole.webp", save_all=True, append_images=frames[1:], duration=[100, 50, 70], lossless=True, loop=3)
frames[0].save("whole.png", save_all=True, append_images=frames[1:], duration=[100, 50, 70], loop=3)
frames[0].save("still.webp", lossless=True); frames[0].save("still.png"); frames[0].save("still.gif")
# Parts, transparency and each disposal.
def part(n, alpha):
    image = Image.new("RGBA", (50, 40), (0, 0, 0, 0))
    ImageDraw.Draw(image).ellipse((5 * n, 3 * n, 5 * n + 20, 3 * n + 15), fill=(250 - 40 * n, 60 * n, 99, 255))
    return image
parts = [part(n, True) for n in range(4)]
for disposal in 0, 1, 2:
    parts[0].save("parts_%d.png" % disposal, save_all=True, append_images=parts[1:], duration=40, disposal=disposal, blend=1 if disposal else 0)
for disposal in 1, 2, 3:
    parts[0].save("parts_%d.gif" % disposal, save_all=True, append_images=parts[1:], duration=[40, 80, 120, 160], disposal=disposal, transparency=0, loop=0, optimize=False)
parts[0].save("parts.webp", save_all=True, append_images=parts[1:], duration=[40, 80, 120, 160], lossless=True, exact=True)
gif = [Image.fromarray(rng.integers(0, 256, (20, 30, 3)).astype(np.uint8)).quantize(64) for _ in range(3)]
gif[0].save("whole.gif", save_all=True, append_images=gif[1:], duration=[50, 100, 150], loop=1)
P
cat >check.py <<'P'
import shutil, subprocess, sys, numpy as np
from PIL import Image, ImageSequence
def frames(name):
    if name == "parts_2.png":  # Pillow does not restore what was there before
        if not shutil.which("ffmpeg"): sys.exit()
        raw = subprocess.run(["ffmpeg", "-v", "error", "-i", name, "-f", "rawvideo", "-pix_fmt", "rgba", "-vsync", "0", "-"], stdout=subprocess.PIPE, check=True).stdout
        return [(f, 40) for f in np.frombuffer(raw, np.uint8).reshape(-1, 40, 50, 4).astype(int)], 0
    with Image.open(name) as image:
        return [(np.asarray(f.convert("RGBA")).astype(int), f.info.get("duration")) for f in ImageSequence.Iterator(image)], image.info.get("loop")
for pair in sys.argv[1:]:
    one, other = pair.split(":")
    (a, loop_a), (b, loop_b) = frames(one), frames(other)
    assert len(a) == len(b), (pair, len(a), len(b))
    for n, ((x, t), (y, u)) in enumerate(zip(a, b)):
        assert x.shape == y.shape, pair
        assert abs(x[..., 3] - y[..., 3]).max() == 0 and (abs(x - y).max(axis=2) * (x[..., 3] > 0)).max() == 0, (pair, n, abs(x - y).max(axis=2))
        assert t == u, (pair, n, t, u)
P
for name in whole.webp whole.png whole.gif parts_0.png parts_1.png parts_2.png parts_1.gif parts_2.gif parts_3.gif parts.webp still.webp still.png still.gif; do
  for to in webp png; do
    convfilt apply identity $name $name.$to 2>said
    [ ! -s said ] || fail "$name to $to: $(cat said)"
    case $name in still*) ;; *) python3 check.py $name:$name.$to ;; esac
  done
done
if command -v webpinfo >/dev/null; then
  webpinfo whole.webp.webp >info; grep -q 'No error detected' info || fail "$(cat info)"
  [ "$(grep -c 'Duration: ' info)" = 3 ] || fail "$(cat info)"
  grep -q 'Loop count *: 3' info || fail "$(cat info)"
fi
# A frame that is filtered is the filtered frame; lossy frames are near.
convfilt blur whole.gif blurred.webp
for page in 0 1 2; do convfilt blur whole.gif frame_$page.png --page $page; done
convfilt blur whole.gif many --name '{stem}_{page}.png' -q 2>/dev/null || { mkdir -p in; cp whole.gif in; convfilt blur in many --name '{stem}_{page}.png' -q; }
python3 - <<'P'
import numpy as np
from PIL import Image
image = Image.open("blurred.webp")
for n in range(3):
    image.seek(n)
    assert np.array_equal(np.asarray(image.convert("RGB")), np.asarray(Image.open("frame_%d.png" % n).convert("RGB"))), n
    assert np.array_equal(np.asarray(Image.open("many/whole_%d.png" % n)), np.asarray(Image.open("frame_%d.png" % n))), n
P
convfilt apply identity parts.webp lossy.webp --quality 95
python3 -c 'from PIL import Image; assert Image.open("lossy.webp").n_frames == 4'
# Pages of a TIFF have no times, so they are no frames; frames are pages of a TIFF.
try apply identity whole.webp pages.tif
try apply identity pages.tif pages.webp
try apply identity pages.tif pages.png
try apply identity whole.webp first.jpg
try apply identity whole.webp first.webp --pages first
try apply identity whole.gif none.png --page 3
cp whole.webp kept.webp
try apply identity kept.webp kept.webp --in-place -q
python3 check.py whole.webp:kept.webp
try apply identity kept.webp kept.webp --in-place -q --page 1
same kept.webp kept.webp
# One that is cut: what is there, with its warning.
head -c $(($(stat -c %s whole.gif) * 5 / 6)) whole.gif >cut.gif
try apply identity cut.gif cut.png --on-damage=warn
python3 -c 'from PIL import Image; assert 1 <= Image.open("cut.png").n_frames <= 3'
