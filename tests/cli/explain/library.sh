# Taps over reads say nothing where a library computes the sums, nor where the counted picture has other blocks.
for name in overlap-save overlap-add in-parts fft im2col; do
  convfilt explain $name --mask 5x5 >said
  grep -q 'what a library reads' said || fail "$name: the library is not named"
  ! grep reuse said || fail "$name: reuse"
done
convfilt explain overlap-save --size 8000x6000 --mask 31x31 >said
! grep reuse said || fail "reuse of a large picture"
convfilt explain overlap-save --domain spatial --mask 5x5 | grep reuse >/dev/null || fail "no reuse in the spatial domain"
convfilt explain winograd | grep -c reuse
