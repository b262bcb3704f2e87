# A file of defaults that is there and cannot be read is not passed over.
need_not_root
chmod 755 ../../.. ../.. .. . 2>/dev/null || true
mkdir -p config/convfilt
echo 'border = wrap' >config/convfilt/config.toml
export XDG_CONFIG_HOME=$PWD/config
as_anyone "$CONVFILT" --version >/dev/null 2>&1 && as_anyone test -r "$PWD"/config/convfilt/config.toml ||
  skip "another user cannot read the program or this folder"
chmod 000 config/convfilt/config.toml
code=0
as_anyone "$CONVFILT" blur samples/camera.png /dev/null --format png 2>said || code=$?
[ $code = 1 ] || fail "exit $code"
sed "s|$PWD|HERE|" said
as_anyone "$CONVFILT" blur samples/camera.png /dev/null --format png --config /dev/null
