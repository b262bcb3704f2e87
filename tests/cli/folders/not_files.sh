# What has a journal's name and is no file is an error at once: nobody would ever write to the pipe. So is a folder, or a
# link to a device.
mkdir photos
cp samples/camera.png photos/a.png
make() {  # KIND PATH
  rm -rf out; mkdir out
  case $1 in
    pipe) mkfifo "$2" ;;
    folder) mkdir "$2" ;;
    device) ln -s /dev/zero "$2" ;;
  esac
}
at_once() {  # WORD...
  local status=0
  timeout -s KILL 60 "$CONVFILT" "$@" -q >said 2>&1 || status=$?
  [ $status = 1 ] || fail "exit code $status of $*, with a $kind"
  grep -q "^convfilt: the journal 'out/$journal' is not a regular file; move it away$" said || fail "$*: $(cat said)"
}
for kind in pipe folder device; do
  journal=.convfilt-journal
  make $kind out/$journal
  for words in '' --resume '--resume --dry-run' '--shard 1/2' '--shard 1/2 --resume'; do at_once blur photos out $words; done
  at_once merge out
  journal=.convfilt-journal.1-of-2
  make $kind out/$journal
  for words in '--shard 1/2' '--shard 1/2 --resume' '--shard 1/2 --resume --dry-run'; do at_once blur photos out $words; done
  at_once merge out
done
# Neither is a pipe waited for that has the name of a filter, a profile or a picture in a folder.
mkdir filters_here profiles_here
mkfifo filters_here/pipe.txt profiles_here/pipe.json photos/pipe.png
CONVFILT_FILTERS=$PWD/filters_here timeout -s KILL 60 "$CONVFILT" list masks | grep '^  box3 ' >/dev/null || fail "list masks"
CONVFILT_PROFILES=$PWD/profiles_here timeout -s KILL 60 "$CONVFILT" blur samples/camera.png b.png 2>/dev/null || fail "profiles"
timeout -s KILL 60 "$CONVFILT" blur photos results -q 2>/dev/null && fail "a pipe among the pictures" || [ $? = 1 ]
# A list of names may be one.
convfilt blur --files-from <(echo photos/a.png) results -q
