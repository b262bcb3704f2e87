# A limit on the size of files, below, at and above the picture's: an error, the old file as it was, and no litter.
convfilt apply identity samples/camera.png expected.pgm   # 262159 bytes
mkdir folder
cd folder
limited() { (ulimit -f "$1"; shift; "$CONVFILT" "$@"); }  # in blocks of 1024 bytes
for limit in 0 1 100 256; do
  echo old >out.pgm
  code=0; said=$(limited $limit apply identity ../samples/camera.png out.pgm 2>&1) || code=$?
  [ $code = 1 ] || fail "limit $limit: exit code $code"
  [ "$said" = "convfilt: cannot write 'out.pgm': File too large; raise the file size limit (ulimit -f) or write elsewhere" ] ||
    fail "limit $limit: $said"
  [ "$(cat out.pgm)" = old ] || fail "limit $limit: the old file is gone"
  only . out.pgm
  rm out.pgm
  code=0; limited $limit apply identity ../samples/camera.png out.pgm 2>&1 | cat >/dev/null || code=$?
  [ $code = 1 ] || fail "limit $limit, no old file: exit code $code"
  only .
done
limited 257 apply identity ../samples/camera.png out.pgm
same ../expected.pgm out.pgm
# Messages to a file that may not grow are lost, but not the exit code.
code=0; limited 0 blur missing.png none.png 2>../nothing || code=$?
[ $code = 1 ] || fail "no room for messages: exit code $code"
# Through the shell's standard output there is nothing to keep, but it is still an error.
code=0; limited 100 apply identity ../samples/camera.png - --format pgm >../stdout.pgm 2>../said || code=$?
[ $code = 1 ] && grep -q '^convfilt: cannot write to standard output: File too large' ../said || fail "exit code $code: $(cat ../said)"
