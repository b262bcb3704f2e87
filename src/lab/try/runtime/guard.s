# Bytes that lie before and behind a student's shared and constant memory, so that an index which is too large or negative is
# seen. It is linked twice, around the runner. kLessonGuard in call.hpp says how many.
.section lesson_shared, "aw", %progbits
.zero 65536
.section lesson_constant, "aw", %progbits
.zero 65536
.section .note.GNU-stack, "", %progbits
