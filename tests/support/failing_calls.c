/* A library for LD_PRELOAD, under which the calls that start a thread, or ask for 64 KiB of memory or more, fail by number.
 *
 *   FAIL_KIND   thread or memory
 *   FAIL_FIRST  the number of the first call that fails, from 1; without it none does
 *   FAIL_LAST   the number of the last one; without it all that follow fail
 *   FAIL_COUNT  a file to which the program's end appends how many calls of that kind there were
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

enum { kLeast = 1 << 16 };
enum { nothing, threads, memory };

static int kind = nothing;
static long first = 0, last = 0;
static atomic_long calls;
/* From then on: what the loader asks for before is none of the program's. */
static atomic_int has_begun;

static long number(const char* name, long otherwise) {
  const char* value = getenv(name);
  return value ? atol(value) : otherwise;
}

__attribute__((constructor)) static void begin(void) {
  const char* named = getenv("FAIL_KIND");
  kind = !named ? nothing : strcmp(named, "thread") == 0 ? threads : memory;
  first = number("FAIL_FIRST", 0);
  last = number("FAIL_LAST", 1L << 60);
  has_begun = 1;
}

__attribute__((destructor)) static void end(void) {
  const char* file = getenv("FAIL_COUNT");
  if (!file) return;
  const int out = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (out < 0) return;
  dprintf(out, "%ld\n", atomic_load(&calls));
  close(out);
}

static int fails(int is, size_t bytes) {
  if (!has_begun || is != kind || (is == memory && bytes < kLeast)) return 0;
  const long call = atomic_fetch_add(&calls, 1) + 1;
  return first > 0 && call >= first && call <= last;
}

static void* none(void) {
  errno = ENOMEM;
  return NULL;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  static int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, "pthread_create");
  return fails(threads, 0) ? EAGAIN : real(thread, attributes, run, argument);
}

void* malloc(size_t bytes) { return fails(memory, bytes) ? none() : __libc_malloc(bytes); }

void* calloc(size_t count, size_t each) {
  size_t bytes;
  if (__builtin_mul_overflow(count, each, &bytes)) return none();
  return fails(memory, bytes) ? none() : __libc_calloc(count, each);
}

void* realloc(void* old, size_t bytes) { return fails(memory, bytes) ? none() : __libc_realloc(old, bytes); }

void* memalign(size_t alignment, size_t bytes) {
  return fails(memory, bytes) ? none() : __libc_memalign(alignment, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** made, size_t alignment, size_t bytes) {
  void* const memory_of_it = memalign(alignment, bytes);
  if (!memory_of_it) return ENOMEM;
  *made = memory_of_it;
  return 0;
}

void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (fails(memory, bytes)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void*)syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
}

void* mmap64(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
  return mmap(at, bytes, protection, flags, file, offset);
}
