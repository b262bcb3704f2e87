# A folder or a file that may not be written.
need_not_root
chmod 755 ../../.. ../.. .. . 2>/dev/null || true
mkdir folder; cp samples/camera.png in.png; cp in.png folder/old.png
chmod 644 in.png folder/old.png; chmod 755 folder
need_anyone in.png
if [ "$(id -u)" != 0 ]; then chmod 555 folder; fi
run() { echo "$ $*" >&2; as_anyone "$CONVFILT" "$@" || echo "exit $?" >&2; }
run blur in.png folder/new.png --device=cpu
[ "$(id -u)" = 0 ] || chmod 444 folder/old.png
run blur in.png folder/old.png --device=cpu
cmp in.png folder/old.png
only folder old.png
# In a folder of one's own, a file that may only be read is still not replaced.
mkdir mine; cp in.png mine/out.png; chmod 444 mine/out.png
[ "$(id -u)" != 0 ] || chown -R 65534 mine
run blur in.png mine/out.png --device=cpu
mkdir photos; cp in.png photos/out.png; chmod 755 photos
run blur photos mine --device=cpu
cmp in.png mine/out.png
chmod 755 folder
