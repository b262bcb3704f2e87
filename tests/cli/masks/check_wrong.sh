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
cp filters/box3.txt box.txt
try mask show box.txt --output box.txt
cmp box.txt filters/box3.txt
CONVFILT_DEVICE=cpu CONVFILT_BORDER=wrap convfilt mask show identity >said
