# A block that is drawn must have outputs. A missing gnuplot is reported first.
need_tool gnuplot
try explain tiled-out --picture at.svg --at 200,0
try explain tiled-out --picture at.svg --at 0,120
try explain tiled-out --picture at.svg --at -1,0
try explain tiled-out --picture at.svg --at 199,0 --mode valid
only .
