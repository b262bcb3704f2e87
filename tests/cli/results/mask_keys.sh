# Anchor, offset, scale, --flip and --normalize, by hand, on 10 20 30.
pgm in.pgm <<<"10 20 30"
run() { convfilt apply ./mask.txt in.pgm out.pgm --border constant "$@"; show out.pgm | sed 1d; }
echo "1 2 4" >mask.txt
run              # 1*0+2*10+4*20, 10+40+120, 20+60+0: correlation, the weights as written
run --flip       # 4*0+2*10+1*20, 40+40+30, 80+60+0: convolution
run --normalize  # the first over 7: 100/7 = 14.3, 170/7 = 24.3, 80/7 = 11.4
printf 'anchor: 0 0\n1 2 4\n' >mask.txt
run              # the weight 1 lies on the pixel: 10+40+120, 20+60, 30
run --flip       # turned, the 1 still lies on the pixel: 10, 20+20, 30+40+40
printf 'anchor: 2 0\n1 2 4\n' >mask.txt
run              # the weight 4 lies on the pixel: 40, 80+20, 120+40+10
printf 'scale: 2\noffset: 3\n1 2 4\n' >mask.txt
run              # 100/2+3, 170/2+3, 80/2+3
run --normalize  # the sum is divided by 7, then the offset added: 17.3, 27.3, 14.4
printf 'offset: -150\n1 2 4\n' >mask.txt
run              # below 0 is 0
printf -- '-2 0 2\n' >mask.txt
run --normalize  # a sum of 0: over the sum of the positive ones, 2: 20-0, 30-10, 0-20
printf '4 8 16\n' >mask.txt
run              # 400, 680, 320: above 255 is 255
printf 'offset: 128\n1 0 -1\n' >mask.txt
run              # 128-20, 128+10-30, 128+20
printf '1 2\n' >mask.txt
run              # even: the anchor is at 2/2 = 1: 2*10, 10+40, 20+60
run --flip       # turned, 2 1 with the anchor at 0: 20+20, 40+30, 60
