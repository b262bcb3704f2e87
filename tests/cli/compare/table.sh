# Every strategy is a row, with figures or the reason why there are none; the figures themselves are masked here.
need_no_cuda
convfilt compare --size 200x100 --mask 3x3 --table full >table
for name in $(strategies); do grep -Eq "^  $name( \*)? +[a-z]+ +(cpu|emulator) " table || fail "no row for $name"; done
[ "$(grep -c ' \* ' table)" = 2 ] || fail "auto's choice is not marked once, and explained"

# A pixel of basic costs 9 reads; nothing emulated has a time.
sed -n '/^  basic/{s/  */ /g;p}' table
! sed -n '/global reads/,/^$/p' table | grep ms >/dev/null || fail "times of the emulator"

# A photograph is compared, too; a strategy that does not run there is a row.
convfilt compare samples/camera.png --mask 5x3 --strategies basic,cpu,auto --device cpu --threads 1 --table full | sed '/difference: /,$d
  /^$/d; s/  */ /g; s/cpu: .*; a copy of .*/cpu: NAME, COPY, PEAK/; s/\(cpu \* direct cpu\).*/\1 FIGURES/' | head -6
