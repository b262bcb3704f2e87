# Float pictures with samples of very different size: no output shows what does not lie under the mask.

# samples COUNT BYTES: that many samples. od prints floats as text, so that grep can count them.
samples() { printf "$2%.0s" $(seq "$1"); }

# pfm WIDTH HEIGHT VALUE OTHER SIDE: a PFM of one value with a square of another one at column and row 60.
pfm() {
  printf 'Pf\n%d %d\n-1\n' "$1" "$2"
  samples $(($1 * 60)) "$3"
  for ((row = 0; row < $5; ++row)); do samples 60 "$3"; samples "$5" "$4"; samples $(($1 - 60 - $5)) "$3"; done
  samples $(($1 * ($2 - 60 - $5))) "$3"
}

# differing FILE COUNT PATTERN: how many of so many samples are another number.
differing() { tail -c $((4 * $2)) "$1" | od -An -v -w4 -tf4 | grep -vcxE " *($3)" || true; }

hundredth='0\.01|0\.01000000[0-9]*|0\.00999999[0-9]*' dark='\012\327\043\074' bright='\000\340\177\107' fill='\354\170\255\140'
pfm 400 300 $dark $bright 8 >square.pfm
pfm 400 300 $dark $fill 8 >fill.pfm
# The mask reaches 48 pixels, so that (8 + 96)^2 results may differ.
for picture in square fill; do
  convfilt sharpen $picture.pfm out.pfm --sigma 12; echo "$picture: $(differing out.pfm 120000 "$hundredth")"
done
try sharpen square.pfm out.pfm --sigma 12 --strategy=fft
convfilt sharpen square.pfm cpu.pfm --sigma 12 --strategy=cpu; echo "cpu: $(differing cpu.pfm 120000 "$hundredth")"

# A NaN reaches as far as the weights that are not 0.
pfm 100 100 '\000\000\000\000' '\000\000\300\177' 1 >nan.pfm
for filter in 'apply identity' 'apply laplacian3' 'edge --sigma 0' 'edge --sigma 0 --direction=x'; do
  convfilt $filter nan.pfm out.pfm; echo "$filter: $(differing out.pfm 10000 -?0)"
  convfilt $filter nan.pfm out.pfm --strategy=direct --device=emulator; echo "  in the emulator: $(differing out.pfm 10000 -?0)"
done
try blur nan.pfm out.pfm --strategy=fft
