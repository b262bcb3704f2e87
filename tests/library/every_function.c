/* Calls every function of convfilt.h, with good arguments and with wrong ones, from several threads; tests/library.sh compiles it
 * as C11 and as C++17 against the installed library.
 *
 *   every_function        checks every function
 *   every_function RUNS   as many processes call exit() while their threads are in such calls */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie() */
#endif
#include <convfilt.h>

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 61, HEIGHT = 47, CHANNELS = 3, THREADS = 6, TURNS = 20, GUARD = 16 };

/* A line for each check that fails, and the program's end. */
static void require(int good, const char *what, int line) {
  if (good) return;
  fprintf(stderr, "every_function.c:%d: %s (convfilt_error: %s)\n", line, what, convfilt_error());
  _Exit(1); /* the other threads go on, so that nothing may be destroyed */
}
#define REQUIRE(condition) require((condition), #condition, __LINE__)

/* That a call is refused with a status, and a message that has the words. */
static void require_refused(convfilt_status got, convfilt_status wanted, const char *words, int line) {
  require(got == wanted, "the status of a call that is wrong", line);
  require(strstr(convfilt_error(), words) != NULL, words, line);
}
#define REFUSED(call, status, words) require_refused((call), (status), (words), __LINE__)

static void fill(unsigned char *samples, size_t count, unsigned seed) {
  for (size_t k = 0; k < count; ++k) samples[k] = (unsigned char)((seed = seed * 1664525u + 1013904223u) >> 24);
}

static convfilt_pixels packed(void *data, int width) {
  convfilt_pixels pixels;
  pixels.data = data;
  pixels.row = (ptrdiff_t)width * CHANNELS;
  pixels.pixel = CHANNELS;
  pixels.channel = 1;
  return pixels;
}

static convfilt_shape shape_of(int width, int height, int channels, convfilt_depth depth) {
  convfilt_shape shape;
  shape.width = width;
  shape.height = height;
  shape.channels = channels;
  shape.depth = depth;
  return shape;
}

static void masks(void) {
  static const double weights[6] = {1, 2, 3, 4, 5, 6};
  convfilt_mask *mask = NULL, *turned = NULL;
  int width = 0, height = 0;
  REQUIRE(convfilt_mask_from_array(weights, 3, 2, 2, &mask) == CONVFILT_OK);
  convfilt_mask_size(mask, &width, &height);
  REQUIRE(width == 3 && height == 2);
  REQUIRE(convfilt_mask_weight(mask, 2, 1) == 3 && convfilt_mask_weight(mask, 0, 0) == 0.5);
  REQUIRE(convfilt_mask_weight(mask, 3, 0) == 0 && convfilt_mask_weight(mask, 0, -1) == 0 && convfilt_mask_weight(mask, INT_MIN, INT_MAX) == 0);
  REQUIRE(strcmp(convfilt_mask_text(mask), "name: array\nscale: 2\n1 2 3\n4 5 6\n") == 0);
  REQUIRE(!convfilt_mask_text(NULL) && strstr(convfilt_error(), "null"));
  REQUIRE(convfilt_mask_flipped(mask, &turned) == CONVFILT_OK);
  REQUIRE(convfilt_mask_weight(turned, 0, 0) == 3 && convfilt_mask_weight(turned, 2, 1) == 0.5);
  convfilt_mask_free(turned);
  turned = NULL;
  REFUSED(convfilt_mask_flipped(NULL, &turned), CONVFILT_USAGE, "null");
  REFUSED(convfilt_mask_flipped(mask, NULL), CONVFILT_USAGE, "null");
  REQUIRE(convfilt_mask_normalized(mask, &turned) == CONVFILT_OK);
  REQUIRE(fabs(convfilt_mask_weight(turned, 2, 1) - 6 / 21.0) < 1e-15);
  convfilt_mask_free(turned);
  turned = NULL;
  REFUSED(convfilt_mask_normalized(NULL, &turned), CONVFILT_USAGE, "null");
  REFUSED(convfilt_mask_normalized(mask, NULL), CONVFILT_USAGE, "null");
  convfilt_mask_free(mask);
  convfilt_mask_free(NULL);
  convfilt_mask_size(mask, NULL, NULL);
  convfilt_mask_size(NULL, &width, &height);
  REQUIRE(width == 0 && height == 0 && convfilt_mask_weight(NULL, 0, 0) == 0);
  convfilt_plan_result(NULL, NULL);
  REQUIRE(*convfilt_plan_text(NULL) == '\0');

  REQUIRE(convfilt_mask_from_text("scale: 4\n1 2 1\n", &mask) == CONVFILT_OK);
  REQUIRE(convfilt_mask_weight(mask, 1, 0) == 0.5);
  convfilt_mask_free(mask);
  REQUIRE(convfilt_mask_from_text("0 0\n0 0\n", &mask) == CONVFILT_OK);
  REFUSED(convfilt_mask_normalized(mask, &turned), CONVFILT_USAGE, "all 0");
  REQUIRE(turned == NULL);
  convfilt_mask_free(mask);
  REQUIRE(convfilt_mask_from_file("box3", &mask) == CONVFILT_OK);
  convfilt_mask_size(mask, &width, &height);
  REQUIRE(width == 3 && height == 3);
  convfilt_mask_free(mask);

  mask = NULL;
  REFUSED(convfilt_mask_from_text("1 x\n", &mask), CONVFILT_IO, "'x' is not a number");
  REFUSED(convfilt_mask_from_text(NULL, &mask), CONVFILT_USAGE, "null");
  REFUSED(convfilt_mask_from_text("1", NULL), CONVFILT_USAGE, "null");
  REFUSED(convfilt_mask_from_file("/no/such/file", &mask), CONVFILT_IO, "/no/such/file");
  REFUSED(convfilt_mask_from_file(NULL, &mask), CONVFILT_USAGE, "null");
  REFUSED(convfilt_mask_from_array(NULL, 3, 2, 1, &mask), CONVFILT_USAGE, "null");
  REFUSED(convfilt_mask_from_array(weights, 0, 2, 1, &mask), CONVFILT_USAGE, "1025");
  REFUSED(convfilt_mask_from_array(weights, -3, -2, 1, &mask), CONVFILT_USAGE, "1025");
  REFUSED(convfilt_mask_from_array(weights, 1026, 1, 1, &mask), CONVFILT_USAGE, "1025");
  REFUSED(convfilt_mask_from_array(weights, 3, 2, 0, &mask), CONVFILT_USAGE, "divisor");
  REFUSED(convfilt_mask_from_array(weights, 3, 2, -1, &mask), CONVFILT_USAGE, "divisor");
  REFUSED(convfilt_mask_from_array(weights, 3, 2, (double)NAN, &mask), CONVFILT_USAGE, "divisor");
  {
    const double wild[2] = {1, (double)INFINITY};
    REFUSED(convfilt_mask_from_array(wild, 2, 1, 1, &mask), CONVFILT_USAGE, "finite");
  }
  REQUIRE(mask == NULL); /* nothing is changed by a call that fails */
}

static void filters(void) {
  static const double weights[2] = {1, 1};
  convfilt_mask *mask = NULL;
  convfilt_filter *filter = NULL;
  convfilt_shape shape = shape_of(WIDTH, HEIGHT, CHANNELS, CONVFILT_U8);
  REQUIRE(convfilt_mask_from_array(weights, 2, 1, 2, &mask) == CONVFILT_OK);
  REQUIRE(convfilt_filter_from_mask(mask, &filter) == CONVFILT_OK);
  convfilt_mask_free(mask);
  REQUIRE(strlen(convfilt_filter_text(filter)) > 0 && strchr(convfilt_filter_text(filter), '\n') == NULL);
  convfilt_filter_free(filter);
  convfilt_filter_free(NULL);

  filter = NULL;
  REFUSED(convfilt_filter_from_recipe("blru", &filter), CONVFILT_USAGE, "blur");
  REFUSED(convfilt_filter_from_recipe(NULL, &filter), CONVFILT_USAGE, "null");
  REFUSED(convfilt_filter_from_recipe("blur", NULL), CONVFILT_USAGE, "null");
  REFUSED(convfilt_filter_from_mask(NULL, &filter), CONVFILT_USAGE, "null");
  REQUIRE(filter == NULL);
  REQUIRE(convfilt_filter_from_recipe("blur --sigma 1 | edge --thin", &filter) == CONVFILT_OK);
  {
    char *before = strdup(convfilt_filter_text(filter));
    REFUSED(convfilt_filter_set(filter, "border", "mirror"), CONVFILT_USAGE, "border");
    REFUSED(convfilt_filter_set(filter, "bordr", "wrap"), CONVFILT_USAGE, "border");
    REFUSED(convfilt_filter_set(filter, NULL, "wrap"), CONVFILT_USAGE, "null");
    REFUSED(convfilt_filter_set(filter, "border", NULL), CONVFILT_USAGE, "null");
    REFUSED(convfilt_filter_set(NULL, "border", "wrap"), CONVFILT_USAGE, "null");
    REFUSED(convfilt_filter_set(filter, "strategy", "bsic"), CONVFILT_USAGE, "basic");
    REQUIRE(strcmp(before, convfilt_filter_text(filter)) == 0);
    REQUIRE(convfilt_filter_set(filter, "border", "wrap") == CONVFILT_OK);
    REQUIRE(strcmp(before, convfilt_filter_text(filter)) != 0);
    free(before);
  }
  REQUIRE(convfilt_filter_text(NULL) == NULL && strstr(convfilt_error(), "null") != NULL);
  {
    /* Options hold in any order, and only as long as they are given. */
    convfilt_filter *other = NULL;
    REQUIRE(convfilt_filter_from_recipe("blur", &other) == CONVFILT_OK);
    REQUIRE(convfilt_filter_set(other, "mode", "full") == CONVFILT_OK);
    REQUIRE(strstr(convfilt_filter_text(other), "border constant 0, mode full") != NULL);
    REQUIRE(convfilt_filter_set(other, "mode", "same") == CONVFILT_OK);
    REQUIRE(strstr(convfilt_filter_text(other), "border replicate, mode same") != NULL);
    REQUIRE(convfilt_filter_set(other, "border", "wrap") == CONVFILT_OK);
    REQUIRE(convfilt_filter_set(other, "border-value", "3") == CONVFILT_OK);
    REQUIRE(convfilt_filter_text(other) == NULL && strstr(convfilt_error(), "border-value") != NULL);
    convfilt_filter_free(other);
    other = NULL;
    REFUSED(convfilt_filter_from_recipe("blur --border wrap", &other), CONVFILT_USAGE, "for all steps");
  }

  /* Every name is one that the option takes, and a refusal gives its reason. */
  {
    int count = 0;
    for (; convfilt_strategy(count); ++count) {
      convfilt_filter *by = NULL;
      REQUIRE(convfilt_filter_from_recipe("blur", &by) == CONVFILT_OK);
      REQUIRE(convfilt_filter_set(by, "strategy", convfilt_strategy(count)) == CONVFILT_OK);
      convfilt_filter_free(by);
    }
    REQUIRE(count > 10 && convfilt_strategy(count) == NULL && convfilt_strategy(-1) == NULL && convfilt_strategy(INT_MAX) == NULL);
  }
  REQUIRE(*convfilt_strategy_refuses("cpu", filter, &shape, "cpu") == '\0');
  REQUIRE(strstr(convfilt_strategy_refuses("tensor", filter, &shape, "emulator"), "f32") != NULL); /* samples of edges */
  REQUIRE(*convfilt_strategy_refuses("basic", filter, &shape, "emulator") == '\0');
  REQUIRE(*convfilt_strategy_refuses("basic", filter, &shape, "cpu") != '\0');
  REQUIRE(strstr(convfilt_strategy_refuses("bsic", filter, &shape, "cpu"), "basic") != NULL);
  REQUIRE(strstr(convfilt_strategy_refuses(NULL, filter, &shape, "cpu"), "null") != NULL);
  convfilt_filter_free(filter);
}

static void plans(unsigned seed) {
  convfilt_filter *filter = NULL;
  convfilt_plan *plan = NULL;
  convfilt_shape shape = shape_of(WIDTH, HEIGHT, CHANNELS, CONVFILT_U8), result;
  const size_t bytes = (size_t)WIDTH * HEIGHT * CHANNELS;
  unsigned char *in = (unsigned char *)malloc(bytes), *planes = (unsigned char *)malloc(bytes);
  unsigned char *out = (unsigned char *)malloc(bytes + 2 * GUARD), *other = (unsigned char *)malloc(bytes + 2 * GUARD);
  convfilt_pixels from = packed(in, WIDTH), to = packed(out + GUARD, WIDTH);
  fill(in, bytes, seed);
  memset(out, 0x5A, bytes + 2 * GUARD);
  memset(other, 0x5A, bytes + 2 * GUARD);

  REQUIRE(convfilt_filter_from_recipe("blur --sigma 1.5", &filter) == CONVFILT_OK);
  REQUIRE(convfilt_plan_make(filter, &shape, &plan) == CONVFILT_OK);
  convfilt_plan_result(plan, &result);
  REQUIRE(result.width == WIDTH && result.height == HEIGHT && result.channels == CHANNELS && result.depth == CONVFILT_U8);
  REQUIRE(strstr(convfilt_plan_text(plan), " on ") != NULL);
  convfilt_filter_free(filter); /* before the plan */
  REQUIRE(convfilt_plan_run(plan, &from, &to) == CONVFILT_OK);

  /* The same from planes, upside down into rows upside down. */
  for (size_t y = 0; y < HEIGHT; ++y)
    for (size_t x = 0; x < WIDTH; ++x)
      for (size_t c = 0; c < CHANNELS; ++c) planes[(c * HEIGHT + HEIGHT - 1 - y) * WIDTH + x] = in[(y * WIDTH + x) * CHANNELS + c];
  from.data = planes + (size_t)(HEIGHT - 1) * WIDTH;
  from.row = -(ptrdiff_t)WIDTH;
  from.pixel = 1;
  from.channel = (ptrdiff_t)HEIGHT * WIDTH;
  to.data = other + GUARD + (size_t)(HEIGHT - 1) * WIDTH * CHANNELS;
  to.row = -(ptrdiff_t)WIDTH * CHANNELS;
  REQUIRE(convfilt_plan_run(plan, &from, &to) == CONVFILT_OK);
  for (size_t y = 0; y < HEIGHT; ++y)
    REQUIRE(memcmp(out + GUARD + y * WIDTH * CHANNELS, other + GUARD + (HEIGHT - 1 - y) * WIDTH * CHANNELS, WIDTH * CHANNELS) == 0);
  for (size_t k = 0; k < GUARD; ++k)
    REQUIRE(out[k] == 0x5A && other[k] == 0x5A && out[GUARD + bytes + k] == 0x5A && other[GUARD + bytes + k] == 0x5A);

  REFUSED(convfilt_plan_run(NULL, &from, &to), CONVFILT_USAGE, "null");
  REFUSED(convfilt_plan_run(plan, NULL, &to), CONVFILT_USAGE, "null");
  REFUSED(convfilt_plan_run(plan, &from, &from), CONVFILT_USAGE, "overlaps the picture's");
  {
    convfilt_pixels flat = to;
    flat.row = 0;
    REFUSED(convfilt_plan_run(plan, &from, &flat), CONVFILT_USAGE, "overlap each other");
  }
  REFUSED(convfilt_plan_run(plan, &from, NULL), CONVFILT_USAGE, "null");
  REFUSED(convfilt_plan_run_on_gpu(plan, &from, &to, NULL), CONVFILT_USAGE, "host memory");
  from.data = NULL;
  REFUSED(convfilt_plan_run(plan, &from, &to), CONVFILT_USAGE, "null");
  from = packed(in, WIDTH);
  to.data = NULL;
  REFUSED(convfilt_plan_run(plan, &from, &to), CONVFILT_USAGE, "null");
  convfilt_plan_free(plan);
  convfilt_plan_free(NULL);

  /* Other depths and modes, and shapes that are none. */
  REQUIRE(convfilt_filter_from_recipe("apply box3", &filter) == CONVFILT_OK);
  REQUIRE(convfilt_filter_set(filter, "mode", "valid") == CONVFILT_OK && convfilt_filter_set(filter, "depth", "f32") == CONVFILT_OK);
  REQUIRE(convfilt_plan_make(filter, &shape, &plan) == CONVFILT_OK);
  convfilt_plan_result(plan, &result);
  REQUIRE(result.width == WIDTH - 2 && result.height == HEIGHT - 2 && result.depth == CONVFILT_F32);
  convfilt_plan_free(plan);
  plan = NULL;
  REFUSED(convfilt_plan_make(NULL, &shape, &plan), CONVFILT_USAGE, "null");
  REFUSED(convfilt_plan_make(filter, NULL, &plan), CONVFILT_USAGE, "null");
  REFUSED(convfilt_plan_make(filter, &shape, NULL), CONVFILT_USAGE, "null");
  REFUSED(convfilt_plan_make_on_gpu(filter, &shape, -1, &plan), CONVFILT_USAGE, "GPU");
  {
    static const int sides[][3] = {{0, 1, 1}, {1, 0, 1}, {-1, 1, 1}, {1, 1, 2}, {1, 1, 0}, {1, 1, 5}, {INT_MAX, INT_MAX, 3}, {INT_MIN, 1, 1}};
    for (size_t k = 0; k < sizeof sides / sizeof *sides; ++k) {
      shape = shape_of(sides[k][0], sides[k][1], sides[k][2], CONVFILT_U8);
      REFUSED(convfilt_plan_make(filter, &shape, &plan), CONVFILT_USAGE, "");
    }
  }
  shape = shape_of(1, 1, 1, (convfilt_depth)3);
  REFUSED(convfilt_plan_make(filter, &shape, &plan), CONVFILT_USAGE, "u8, u16 or f32");
  shape = shape_of(1, 1, 1, CONVFILT_U8); /* no output's mask lies inside */
  REFUSED(convfilt_plan_make(filter, &shape, &plan), CONVFILT_USAGE, "");
  convfilt_filter_free(filter);
  REQUIRE(convfilt_filter_from_recipe("apply box3", &filter) == CONVFILT_OK);
  if (convfilt_gpus() == 0) {
    shape = shape_of(WIDTH, HEIGHT, 1, CONVFILT_U8);
    REFUSED(convfilt_plan_make_on_gpu(filter, &shape, 0, &plan), CONVFILT_DEVICE, "--device=cuda:0");
  }
  REQUIRE(plan == NULL);
  convfilt_filter_free(filter);
  free(in);
  free(planes);
  free(out);
  free(other);
}

static void *work(void *number) {
  for (int turn = 0; turn < TURNS; ++turn) {
    masks();
    filters();
    plans((unsigned)(uintptr_t)number);
  }
  return NULL;
}

static void pause_for(long microseconds) {
  const struct timespec time = {0, microseconds * 1000};
  nanosleep(&time, NULL);
}

static void *work_on(void *number) {
  while (1) work(number);
  return NULL;
}

static ssize_t written_slowly(void *nothing, const char *text, size_t bytes) {
  (void)nothing, (void)text;
  pause_for(2000);
  return (ssize_t)bytes;
}

/* Ends while threads are in calls. exit() flushes streams last. One stream is slow, so threads still run after all statics are
 * destroyed. */
static void exit_in_calls(int run) {
  pthread_t thread;
  const cookie_io_functions_t slow = {NULL, written_slowly, NULL, NULL};
  FILE *stream = fopencookie(NULL, "w", slow);
  REQUIRE(stream != NULL && fputc('.', stream) == '.');
  if (access("/dev/nvidiactl", F_OK) == 0) (void)convfilt_gpus(); /* which CUDA's runtime does not stand during exit() */
  for (int k = 0; k < THREADS; ++k) REQUIRE(pthread_create(&thread, NULL, work_on, (void *)(uintptr_t)k) == 0);
  pause_for(run % 50 * 100L);
  exit(0);
}

static int ends_well(int runs) {
  int failed = 0;
  for (int run = 0; run < runs; ++run) {
    int status = 0;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) exit_in_calls(run);
    REQUIRE(waitpid(child, &status, 0) == child);
    if (status == 0) continue;
    ++failed;
    fprintf(stderr, "exit() in calls ended a process with status %d\n", status);
  }
  if (failed == 0) puts("every exit is good");
  return failed > 0;
}

int main(int count, char **arguments) {
  pthread_t threads[THREADS];
  if (count > 1) return ends_well(atoi(arguments[1]));
  REQUIRE(*convfilt_error() == '\0'); /* nothing has gone wrong yet */
  REQUIRE(convfilt_version()[0] >= '0' && convfilt_version()[0] <= '9');
  REQUIRE(convfilt_gpus() >= 0);
  for (int k = 0; k < THREADS; ++k) REQUIRE(pthread_create(&threads[k], NULL, work, (void *)(uintptr_t)k) == 0);
  for (int k = 0; k < THREADS; ++k) REQUIRE(pthread_join(threads[k], NULL) == 0);
  REQUIRE(*convfilt_error() == '\0'); /* it is each thread's own */
  puts("every function is good");
  return 0;
}
