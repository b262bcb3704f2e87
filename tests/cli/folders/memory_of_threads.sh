# --max-memory holds with many threads, too, each of which keeps buffers for the next picture.
need_peak
{ printf 'P6\n1632 1224\n255\n'; head -c 5992704 < <(yes 'any bytes will do as pixels'); } >one.ppm
mkdir many
for i in {1..60}; do ln one.ppm many/$i.ppm; done
peak_of said "$CONVFILT" blur many out -q --device cpu --threads 16 --max-memory 64M
peak=$(cat said)
[ $peak -le 64 ] || fail "$peak MiB of 64"
[ "$(ls out | wc -l)" = 60 ] || fail "results are missing"
