# Replacing a file keeps its mode and the links to it; a new file follows the umask.
convfilt blur samples/camera.png expected.png
umask 027; convfilt blur samples/camera.png new.png; stat -c '%a' new.png
umask 022; convfilt blur samples/camera.png new2.png; stat -c '%a' new2.png
for mode in 600 640 777; do
  echo old >out.png; chmod $mode out.png
  convfilt blur samples/camera.png out.png
  stat -c '%a %F' out.png
  same expected.png out.png
done
# Links are followed to another folder, and to a file that is not there yet.
mkdir folder
echo old >folder/target.png
ln -s folder/target.png link.png
ln -s folder/fresh.png dangling.png
convfilt blur samples/camera.png link.png
convfilt blur samples/camera.png dangling.png
stat -c '%N' link.png dangling.png
same expected.png folder/target.png
same expected.png folder/fresh.png
only folder target.png fresh.png
# Whoever has the old file open still has it, since a new one is put in its place.
echo old >out.png
exec 3<out.png
convfilt blur samples/camera.png out.png
cat <&3
exec 3<&-
# A pipe is written into, not replaced.
mkfifo pipe
cat pipe >from-pipe.png &
convfilt blur samples/camera.png pipe --format png
wait $!
same expected.png from-pipe.png
[ -p pipe ] || fail "the pipe was replaced"
