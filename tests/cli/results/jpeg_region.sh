# Outside a region, a JPEG keeps its coefficients: jpegtran cuts pieces of whole MCUs out of both files without decoding them.
need_tool jpegtran
piece() { jpegtran -copy none -crop "$1" -outfile "$2.piece" "$2"; }
keeps() {  # FILE PIECE...
  local each
  for each in "${@:2}"; do
    piece "$each" in.jpg; piece "$each" "$1"
    cmp -s in.jpg.piece "$1.piece" || fail "$1 differs from in.jpg in $each"
  done
}
changes() {  # FILE PIECE
  piece "$2" in.jpg; piece "$2" "$1"
  ! cmp -s in.jpg.piece "$1.piece" || fail "$1 has the blocks of in.jpg in $2"
}

# The picture has 640x427 pixels, and MCUs of 8x8.
cp samples/rocket.jpg in.jpg
convfilt blur in.jpg out.jpg --region 304,100,64,80 --sigma 8
keeps out.jpg 640x96+0+0 304x427+0+0 272x427+368+0 640x240+0+184
for mcu in 8x8+304+96 8x8+360+96 8x8+304+176 8x8+360+176; do changes out.jpg $mcu; done

# MCUs of 16x16, of which those at the right and lower side are cut. Two faces, in place.
convfilt apply identity samples/rocket.jpg in.jpg --subsampling 420 -q
cp in.jpg faces.jpg
convfilt blur faces.jpg faces.jpg --in-place --region ellipse:100,40,50,60 --region 630,420,10,7 --sigma 8
keeps faces.jpg 640x32+0+0 96x427+0+0 464x416+160+0 624x315+0+112
for mcu in 64x80+96+32 16x11+624+416; do changes faces.jpg $mcu; done

# Progressive files, metadata, and a folder on several threads.
jpegtran -copy all -progressive samples/rocket.jpg >in.jpg
mkdir many
cp in.jpg many/a.jpg; cp in.jpg many/b.jpg
convfilt blur many out --region 0,0,9,9 --threads 2 -q
same out/a.jpg out/b.jpg
keeps out/a.jpg 624x427+16+0 640x411+0+16
convfilt blur in.jpg out.jpg --region 0,0,9,9 --progressive
keeps out.jpg 624x427+16+0 640x411+0+16
grep -q cmp3.10.3 out.jpg || fail "the comment is not kept"
convfilt blur in.jpg out.jpg --region 0,0,9,9 --strip
! grep -q cmp3.10.3 out.jpg || fail "the comment is kept"

try blur in.jpg out.jpg --region 0,0,9,9 --quality 80
try blur in.jpg out.webp --region 0,0,9,9 --quality 80
try blur in.jpg out.png --region 0,0,9,9
