# Standard streams that are closed, full or broken: an error where they are needed, else no matter.
convfilt blur samples/camera.png expected.png
try blur samples/camera.png - --format png >&-
try blur samples/camera.png - --format png >/dev/full
try blur samples/camera.png - --format png </dev/null | head -c 10 >/dev/null || true
try list >/dev/full
try list >&-
try --version >/dev/full
code=0; convfilt --help >&- 2>/dev/null || code=$?
[ $code = 1 ] || fail "--help into nothing: exit code $code"
for closed in '>&-' '2>&-' '<&-' '>&- 2>&- <&-' '2>/dev/full'; do
  eval "convfilt blur samples/camera.png out.png -v $closed" 2>/dev/null || fail "with $closed: exit code $?"
  cmp expected.png out.png || fail "with $closed the picture is another"
  rm out.png
done
code=0; convfilt blur missing.png out.png 2>&- || code=$?
[ $code = 1 ] || fail "an error with standard error closed: exit code $code"
# A picture is not for a terminal.
command -v script >/dev/null && script -qec "'$CONVFILT' blur samples/camera.png - --format png" /dev/null </dev/null >said &&
  fail "a picture went to a terminal" || true
only . expected.png said 2>/dev/null || only . expected.png
