/// bin/convfilt of the tarball that packaging/tarball.sh writes: runs the program under the C
/// library that the tarball brings. It is linked statically, so that it starts under any C library.
/// The loader's file is named convfilt, too: `ps` shows that name, and /proc/self/exe is that file,
/// so that ../share and ../lib are found from there as from bin/.
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(const char* why) {
  fprintf(stderr, "convfilt: %s\n", why);
  return 1;
}

int main(int count, char** words) {
  char root[PATH_MAX] = "";
  if (readlink("/proc/self/exe", root, sizeof root - 1) < 0)
    return fail("cannot find its own folder, because /proc is not mounted; mount it");
  for (int i = 0; i < 2; ++i) {  // bin/convfilt
    char* slash = strrchr(root, '/');
    if (slash) *slash = '\0';
  }
  if (strpbrk(root, ":;"))  // which separate folders in a list of them
    return fail("the name of its folder has ':' or ';'; rename that folder");

  // LD_LIBRARY_PATH stays as it is for gnuplot and compilers. CUDA's libraries are found in it,
  // after what is brought along.
  const char* users = getenv("LD_LIBRARY_PATH");
  char *loader, *program, *libraries, **all = calloc((size_t)count + 7, sizeof *all);
  if (!all || asprintf(&loader, "%s/libexec/convfilt", root) < 0 ||
      asprintf(&program, "%s/libexec/convfilt-runtime/convfilt", root) < 0 ||
      asprintf(&libraries, "%s/libexec/convfilt-runtime%s%s", root, users && *users ? ":" : "",
               users ? users : "") < 0)
    return fail("out of memory");
  char* first[] = {loader,           "--argv0", count ? words[0] : "convfilt",
                   "--library-path", libraries, program};
  memcpy(all, first, sizeof first);
  for (int i = 1; i < count; ++i) all[5 + i] = words[i];
  execv(loader, all);
  perror(loader);
  return 1;
}
