# A result that is wrong is an error, whichever row it is in, and also when it comes from a file; the table is written.
convfilt compare --size 32x32 --mask 3x3 --strategies basic,cached,tiled-in --device emulator --json=right.json >right.txt
convfilt compare --from right.json >again.txt
same right.txt again.txt
rows=$(grep -c '"largest_difference"' right.json)
[ "$rows" = 3 ] || fail "$rows rows"
for row in 1 2 3; do
  # An exact row of 8-bit samples may be half a step off, by rounding; this one is 9 off.
  awk -v row=$row '/"largest_difference"/ && ++n == row { sub(/: [^,]*/, ": 9.0") } { print }' right.json >wrong.json
  differ right.json wrong.json
  try compare --from wrong.json >said.txt
  grep -q '  *9\.00' said.txt || fail "row $row: the table does not show the difference"
done
