# --max-memory counts all that a picture takes, in bands or as a whole: the peak beyond that of a tiny picture stays within
# the estimate, which the refusal says, but for what an allocator keeps.
need_peak
printf 'P5\n2 2\n255\n    ' >tiny.pgm
# Twice as long as it is high, with smooth rows and a colour in each.
{ printf 'P6\n3000 1500\n255\n'; head -c 13500000 < <(yes 'any bytes will do as pixels'); } >large.ppm
{ printf 'P7\nWIDTH 2000\nHEIGHT 1500\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n'
  head -c 12000000 < <(yes 'any bytes will do as pixels'); } >alpha.pam
{ printf 'P7\nWIDTH 2000\nHEIGHT 1500\nDEPTH 4\nMAXVAL 65535\nTUPLTYPE RGB_ALPHA\nENDHDR\n'
  head -c 24000000 < <(yes 'any bytes will do as pixels'); } >deep_alpha.pam
peak() { peak_of said "$CONVFILT" "$@" -q --device cpu --threads 2 && cat said; }
# A tiny picture's peak, where strace can tell up to when the result gets its name: at the program's end libraries come into
# memory that add nothing to a large picture's peak.
strace -o calls true 2>/dev/null && traces=true || traces=false
base_of() {
  $traces || { peak "$@"; return; }
  peak_of said strace -f -o calls -e 'inject=/^(rename|link):signal=KILL' "$CONVFILT" "$@" -q --device cpu --threads 2 2>/dev/null || true
  grep -q SIGKILL calls || fail "it ends otherwise than killed: $*"
  cat said
}
tiny=(tiny.pgm out.ppm) base=  # whose peak is the base, asked for when it is needed
# A short run takes every fourth, so that of each three of a format it is another one.
check() {
  local estimate=1 beyond elsewhere=0
  every 4 || return 0
  [ -e "$2" ] || convfilt apply identity noise.ppm "$2" -q
  # What is counted and is no part of the process: a copy of the file, which OpenCV reads by name.
  case $2 in *.hdr | *.exr) elsewhere=$(($(stat -c %s "$2") >> 20)) ;; esac
  base=${base:-$(base_of blur "${tiny[@]}")}
  # What is said suffices. A reader may ask for a part first.
  until peak "$@" --max-memory ${estimate}M >beyond 2>refusal; do
    estimate=$(sed -n 's/.* takes \(more than \)\?\([0-9]*\) MiB.*/\2/p' refusal)
    [ -n "$estimate" ] || fail "$(cat refusal): $*"
  done
  beyond=$(($(cat beyond) - base + elsewhere))
  [ $beyond -le $((estimate + 6)) ] || fail "$beyond MiB, and $estimate were said: $*"
  # An estimate that is far too high refuses what would have fitted.
  $traces || return 0
  [ $((beyond * 3 / 2 + 12)) -ge "$estimate" ] || fail "$beyond MiB, and as much as $estimate were said: $*"
}
check blur large.ppm out.ppm --border wrap
check blur large.ppm out.ppm --linear
check blur large.ppm out.ppm --luma
check blur large.ppm out.ppm --strategy fft
check blur large.ppm out.ppm --strategy overlap-save
check blur large.ppm out.ppm --sigma 40
check blur large.ppm out.ppm --sigma 100 --border wrap
check blur large.ppm out.ppm --sigma 40 --linear
check blur large.ppm out.ppm --sigma 100 --linear
check blur large.ppm out.ppm --sigma 100 --luma
check blur large.ppm out.ppm --region 0,0,100,100
# A JPEG's coefficients lie in memory, of a progressive one twice, and the file.
convfilt apply identity large.ppm large.jpg --quality 98 --subsampling 444
convfilt apply identity large.jpg scans.jpg --progressive
check blur large.jpg out.jpg --region 0,0,100,100
check blur large.jpg out.jpg --region 0,0,2999,1499 --border wrap
check blur scans.jpg out.jpg --region ellipse:900,300,700,900
check sharpen large.ppm out.ppm --output abs
check edge large.ppm out.ppm --border wrap
check edge large.ppm out.ppm --border wrap --color --nodata 101  # the e of the text
check edge large.ppm out.ppm --linear
check blur alpha.pam out.pam --border wrap
check edge alpha.pam out.pam --border wrap
check edge alpha.pam out.pam --linear
check edge deep_alpha.pam out.pam
check edge deep_alpha.pam out.pam --border wrap

# Libraries that take a picture as a whole have memory of their own, the most of it for noise, but AVIF for repetitions. A module takes some once, too.
{ printf 'P6\n1500 1000\n255\n'; head -c 4500000 /dev/urandom; } >noise.ppm
# A narrower one has no repetitions for AVIF.
{ printf 'P6\n1500 1000\n255\n'; head -c 4500000 < <(yes 'any bytes will do as pixels'); } >screen.ppm
{ printf 'P6\n1500 1000\n65535\n'; head -c 9000000 /dev/urandom; } >deep.ppm
for format in jxl heic avif jp2 hdr exr bmp webp; do
  convfilt apply identity tiny.pgm tiny.$format -q 2>/dev/null || continue
  tiny=(tiny.pgm out.$format) base=
  check blur "$([ $format = avif ] && echo screen || echo noise).ppm" out.$format
  case $format in hdr | exr | bmp | webp) ;; *) check blur deep.ppm out.$format ;; esac
  tiny=(tiny.$format out.ppm) base=
  check blur noise.$format out.ppm
done
