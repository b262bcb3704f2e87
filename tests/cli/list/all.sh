# Without a topic, list shows all topics under their names. The processor and the emulator are always there, and CUDA or
# why there is none.
convfilt list >all
for topic in strategies filters masks devices; do
  echo "$topic"; convfilt list $topic; [ $topic = devices ] || echo
done | cmp - all
convfilt list devices
[ -z "$(convfilt list 2>&1 >/dev/null)" ]
