# A sweep cannot be drawn as a chart, which is said after its table.
need_tool gnuplot
convfilt compare --size 33x20,20x33 --masks 3 --strategies basic --device emulator --json=all.json >table
try compare --from all.json --plot all.svg >again
same again table
