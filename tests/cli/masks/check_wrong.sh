# Wrong masks are told as apply tells them; wrong words as everywhere.
printf '1 2 1\n2 four 2\n' >bad.txt
for action in check show; do
  try mask $action bad.txt
  try mask $action missing/file.txt
  try mask $action gausian5
  try mask $action ''
done
try mask
try mask check
try mask chek gaussian5
try mask gaussian5 check
try mask check gaussian5 sobel_x
try mask check gaussian5 --depth u9
try mask check gaussian5 --channels 2
try mask check gaussian5 --size 10
try mask check gaussian5 --size 0x10
try mask check gaussian5 --device gpu
try mask check gaussian5 --output a.png
try mask show gaussian5 --depth u8
try mask show gaussian5 --device cpu
try mask show gaussian5 --output a.xyz
try mask show gaussian5 --output missing/a.png
try mask show gaussian5 --output -
try mask show gaussian5 --output response
# A mask that every depth refuses is described, and refused as apply does it.
echo '1e30 1' >large.txt
echo '1e39 1' >huge.txt
try mask check large.txt >said
try mask check large.txt --depth u8 >said
try mask check huge.txt >said
grep -q '^  u8, u16, f32  nothing: the mask is refused' said || fail "check of huge.txt: $(cat said)"
rm large.txt huge.txt
cp filters/box3.txt box.txt
try mask show box.txt --output box.txt
cmp box.txt filters/box3.txt
CONVFILT_DEVICE=cpu CONVFILT_BORDER=wrap convfilt mask show identity >said
