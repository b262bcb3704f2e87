# Means of 3x3 pixels, by hand. The picture, with its border replicated:
#     0 |  0  9 18 | 18
#    ---+----------+---
#     0 |  0  9 18 | 18
#    27 | 27 36 45 | 45
#    54 | 54 63 72 | 72
#    ---+----------+---
#    54 | 54 63 72 | 72
# Top left: (0+0+9 + 0+0+9 + 27+27+36) / 9 = 108 / 9 = 12. Middle: the sum of all is 324, / 9 = 36.
pgm in.pgm <<'P'
0 9 18
27 36 45
54 63 72
P
convfilt blur --box 3 in.pgm out.pgm; show out.pgm
convfilt apply box3 in.pgm out.pgm; show out.pgm
# Halves go to the even neighbour: (0+1)/2 = 0.5 -> 0, (1+2)/2 = 1.5 -> 2, (2+3)/2 = 2.5 -> 2; an even mask's anchor
# is to the right of its middle, so it takes the left neighbour.
printf 'scale: 2\n1 1\n' >half.txt
pgm in.pgm <<<"0 1 2 3 254 255"
convfilt apply ./half.txt in.pgm out.pgm; show out.pgm
