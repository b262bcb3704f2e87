# A sweep on a GPU has times as multiples of a copy, and marks what auto takes. Nothing is timed on a piece.
need_cuda
convfilt compare --size 640x480 --depth u8,u16,f32 --channels 1,3 --masks 3,9 --weights 16bit,rank1 --device cuda \
  --strategies auto,basic,separable --repeats 5 >table
[ "$(grep -c '^noise: ' table)" = 12 ] || fail "not 3 x 2 pictures, each with 2 kinds of masks"
[ "$(grep -c '^  auto / family best ' table)" = 12 ] || fail "auto is not held to the best in every table"
! grep -q '[0-9][*!]*~' table || fail "a piece where the whole fits"
grep -Eq '^  basic( +)cuda:0 +[0-9.]+\*? +[0-9.]+' table || fail "no times of basic"
