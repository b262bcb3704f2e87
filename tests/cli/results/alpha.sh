# No dark halo: beside clear pixels, whose colour is black, white stays white, and only its alpha fades.
pam() { printf 'P7\nWIDTH 4\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n'; printf "$1"; }
pam '\000\000\000\000\000\000\000\000\377\377\377\377\377\377\377\377' >in.pam
convfilt blur --box 3 in.pam out.pam; show out.pam
# The colour that a clear pixel hides does not come out either.
pam '\000\377\000\000\000\377\000\000\377\377\377\377\377\377\377\377' >in.pam
convfilt blur --box 3 in.pam out2.pam
same out.pam out2.pam
# Through PNG and TIFF alpha stays alpha.
for format in png tif; do
  convfilt blur --box 3 in.pam out.$format
  shape out.$format
  convfilt apply identity out.$format back.pam
  same out.pam back.pam
done
# A mask whose weights do not sum to 1 leaves alpha alone; opaque pictures are filtered as if they had none.
convfilt edge in.pam out.pam --color --sigma 0 --gain 4; show out.pam
pam '\001\002\003\377\004\005\006\377\007\010\011\377\012\013\014\377' >in.pam
convfilt blur --box 3 in.pam out.pam; show out.pam
# A format without alpha gets the picture on white, with a warning.
pam '\000\000\000\000\000\000\000\000\000\000\000\377\000\000\000\377' >in.pam
try apply identity in.pam out.ppm
show out.ppm
# Edges beside an opaque ghost cell of 8. At the left, whose alpha is 51 of 255, a colour c beside it gives
# 2 * (c - 8) * 255 / 51; at the right the left one's c gives 2 * (8 - c * 51 / 255).
printf 'P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n\012\024\036\063\012\014\024\377' >in.pam
show in.pam
convfilt edge in.pam out.pam --color --sigma 0 --gain 4 --direction x --border constant --border-value 8; show out.pam
# Tensor cores take no floats. The remedy is a picture without alpha: this one has 8 bits already.
try apply gaussian5 in.pam out.pam --strategy tensor --device emulator -q
