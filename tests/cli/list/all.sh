# Without a topic, all three under their names; the processor and the emulator are always there, CUDA or why not.
convfilt list >all
for topic in strategies filters devices; do
  echo "$topic"; convfilt list $topic; [ $topic = devices ] || echo
done | cmp - all
convfilt list devices
[ -z "$(convfilt list 2>&1 >/dev/null)" ]
