# A file of defaults that is there and cannot be read is not passed over.
need_not_root
chmod 755 ../../.. ../.. .. . 2>/dev/null || true
mkdir -p config/convfilt
echo 'border = wrap' >config/convfilt/config.toml
export XDG_CONFIG_HOME=$PWD/config
need_anyone config/convfilt/config.toml
chmod 000 config/convfilt/config.toml
code=0
as_anyone "$CONVFILT" blur samples/camera.png /dev/null --format png 2>said || code=$?
[ $code = 1 ] || fail "exit $code"
sed "s|$PWD|HERE|" said
as_anyone "$CONVFILT" blur samples/camera.png /dev/null --format png --config /dev/null
