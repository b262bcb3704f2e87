# A constant picture stays constant under every mask of gain 1, at the borders too.
for depth in "255 u8" "65535 u16"; do
  largest=${depth% *}
  for _ in $(seq 23); do echo "77 77 77 77 77 77 77 77 77 77 77 77 77 77 77 77 77"; done | pgm in.pgm "$largest"
  convfilt apply identity in.pgm same.pgm
  for border in replicate reflect reflect101 wrap; do
    for how in "blur --sigma 9" "sharpen" "apply motion9"; do
      convfilt $how in.pgm out.pgm --border $border
      cmp same.pgm out.pgm || fail "$how --border $border, ${depth#* }"
    done
  done
  convfilt blur in.pgm out.pgm --border constant --border-value 77
  same same.pgm out.pgm
done
# It has no edges, either.
convfilt edge in.pgm out.pgm
show out.pgm | tail -n +2 | tr ' ' '\n' | sort -u
