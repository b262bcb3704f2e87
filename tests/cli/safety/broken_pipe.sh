# A reader that goes away: exit code 1 and a message, not death by signal; with a picture larger than any pipe.
code=0
{ convfilt apply identity samples/astronaut.png - --format bmp 2>said || echo $? >code; } | head -c 10 | od -An -tx1
echo "exit $(cat code)"
cat said >&2
