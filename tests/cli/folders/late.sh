# What happens late in a run: a signal after the last picture stops nothing, and a result that appears meanwhile is not
# replaced where --if-exists forbids it.
mkdir photos
cp samples/camera.png photos/a.png
for policy in skip fail; do
  code=0
  # Stop the program until the result exists: a busy machine might finish it first.
  for _ in {1..50}; do
    rm -rf $policy
    "$CONVFILT" blur photos $policy --strategy scatter --device cpu --sigma 1.5 --threads 1 --if-exists $policy --json -q >lines 2>said &
    while [ ! -e $policy/.convfilt-journal ]; do sleep 0.01; done
    kill -STOP $! && [ ! -e $policy/a.png ] && break
    kill -CONT $! || :
    wait $! || :
  done 2>/dev/null
  [ ! -e $policy/a.png ] || fail "the program always ended before it was stopped"
  echo mine >$policy/a.png
  kill -CONT $!
  wait $! || code=$?
  [ "$(cat $policy/a.png)" = mine ] || fail "it was replaced with --if-exists $policy"
  only $policy .convfilt-journal a.png
  echo "$policy: exit $code"
  cat lines
done
command -v strace >/dev/null || exit 0
run() { strace -f -qq -o calls -e trace=write "$@" "$CONVFILT" blur photos out --threads 1 --device cpu; }
run 2>said || exit 0  # tracing is not allowed here
number=$(grep ' write(' calls | grep -n '"end ' | cut -d: -f1)
rm -r out
code=0
run -e inject=write:signal=TERM:when=$number 2>said || code=$?
grep -q SIGTERM calls || fail "no signal came"
[ $code = 0 ] || fail "exit code $code: $(cat said)"
! grep -q stopped said || fail "$(cat said)"
