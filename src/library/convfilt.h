/* convfilt from C (C11 and C++17): filters pictures that lie in memory, of the host or of a GPU.
 *
 *     convfilt_filter *blur = NULL;
 *     convfilt_plan *plan = NULL;
 *     convfilt_shape shape = {640, 480, 3, CONVFILT_U8};
 *     if (convfilt_filter_from_recipe("blur --sigma 2", &blur) != CONVFILT_OK ||
 *         convfilt_plan_make(blur, &shape, &plan) != CONVFILT_OK ||
 *         convfilt_plan_run(plan, &in, &out) != CONVFILT_OK)
 *       fprintf(stderr, "%s\n", convfilt_error());
 *
 * Results have the same bytes as those of the command line. No process is started and no
 * file written; warnings go to standard error, as those of the command line do.
 *
 * Threads: every function may be called by several threads at once. A filter may be used by several
 * threads unless one of them changes or frees it; a plan is for one thread at a time. The program may
 * call exit() while other threads are in calls, unless these use a GPU or are the first to look for
 * one where there is a driver: CUDA's runtime does not stand that. What exit() itself calls, such as
 * a handler of atexit() or the destructor of a static, may free masks, filters and plans, and calls
 * nothing else.
 *
 * Texts are UTF-8. A text that a function returns is valid until the same thread calls the same
 * function again, unless it says otherwise. Functions that return a status set convfilt_error() of
 * their thread where it is not CONVFILT_OK, and then change nothing that they were given. */
#ifndef CONVFILT_H
#define CONVFILT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum convfilt_status {
  CONVFILT_OK = 0,
  CONVFILT_IO = 1,     /* a file cannot be read, or a file or text holds no mask */
  CONVFILT_USAGE = 2,  /* a name, a number, a shape or a combination of them is not possible */
  CONVFILT_DEVICE = 3, /* a device is missing, has too little memory, or has failed */
  CONVFILT_FAILED = 4  /* memory of the host, or another failure */
} convfilt_status;

/* "0.1.0" */
const char *convfilt_version(void);

/* What went wrong in the latest call of this thread that did not return CONVFILT_OK: what, where,
 * and the remedy. Valid until the next such call. Never null. */
const char *convfilt_error(void);

/* ---- Masks ---- */

typedef struct convfilt_mask convfilt_mask;

/* The only mask of a text: rows of numbers, a vips matrix or an ImageMagick kernel, in the grammar
 * of filters/README.md. */
convfilt_status convfilt_mask_from_text(const char *text, convfilt_mask **mask);

/* The only mask of a text file, or a shipped mask by its name. A word with a '/' is a path. */
convfilt_status convfilt_mask_from_file(const char *path_or_name, convfilt_mask **mask);

/* A mask of width x height weights, row by row; each is divided by the divisor. Sides are 1 to
 * 1025, numbers finite and the divisor above 0. Its anchor is (width / 2, height / 2). */
convfilt_status convfilt_mask_from_array(const double *weights, int width, int height,
                                         double divisor, convfilt_mask **mask);

/* The mask turned by 180 degrees: correlation with it is convolution with `mask`. */
convfilt_status convfilt_mask_flipped(const convfilt_mask *mask, convfilt_mask **flipped);

/* The mask with weights that sum to 1, as --normalize of the command line makes it. */
convfilt_status convfilt_mask_normalized(const convfilt_mask *mask, convfilt_mask **normalized);

/* A text of which convfilt_mask_from_text() makes the same mask, though perhaps without its name;
 * null where that fails. */
const char *convfilt_mask_text(const convfilt_mask *mask);

void convfilt_mask_size(const convfilt_mask *mask, int *width, int *height);
double convfilt_mask_weight(const convfilt_mask *mask, int x, int y); /* divided; 0 outside */
void convfilt_mask_free(convfilt_mask *mask);                         /* null is allowed */

/* ---- Filters ---- */

typedef struct convfilt_filter convfilt_filter;

/* The filter of a recipe: one or several steps of the command line, such as "sharpen" or
 * "blur --sigma 1.4 | edge --method scharr --thin"; or the name of a file with a step a line. */
convfilt_status convfilt_filter_from_recipe(const char *recipe, convfilt_filter **filter);

/* The filter that applies a mask, as written (correlation). */
convfilt_status convfilt_filter_from_mask(const convfilt_mask *mask, convfilt_filter **filter);

/* Sets an option. Names and values are those of the command line without "--": border, border-value,
 * mode, strategy, then its settings (such as tile), device, threads, linear, luma, output, depth. Besides
 * these: order is rgb (by default) or bgr, the order in which colours lie in memory. */
convfilt_status convfilt_filter_set(convfilt_filter *filter, const char *name, const char *value);

/* The filter with everything that decides a byte of its results, in one line; null where its options
 * contradict each other, as convfilt_error() says. */
const char *convfilt_filter_text(const convfilt_filter *filter);
void convfilt_filter_free(convfilt_filter *filter); /* null is allowed */

/* ---- Plans ---- */

typedef enum convfilt_depth {
  CONVFILT_U8 = 0,
  CONVFILT_U16 = 1,
  CONVFILT_F32 = 2 /* from 0 to 1; other values are allowed */
} convfilt_depth;

typedef struct convfilt_shape {
  int width, height; /* pixels */
  int channels;      /* 1 grey, 3 colours, 4 colours and alpha (not premultiplied) */
  convfilt_depth depth;
} convfilt_shape;

/* Samples in memory: that of row y, column x and channel c lies y * row + x * pixel + c * channel
 * bytes behind `data`. Strides may have any sign. */
typedef struct convfilt_pixels {
  void *data;
  ptrdiff_t row, pixel, channel; /* bytes */
} convfilt_pixels;

typedef struct convfilt_plan convfilt_plan;

/* Prepares a filter for pictures of a shape. The filter may be freed before the plan. */
convfilt_status convfilt_plan_make(const convfilt_filter *filter, const convfilt_shape *shape,
                                   convfilt_plan **plan);

/* The same for pictures that lie in the memory of a CUDA device. It takes grey and colours without
 * alpha: u8 for any filter that a GPU has; u16 and f32 for filters of one mask. f32 is never
 * transformed there, since nothing is known of the samples, so very large masks may round otherwise
 * than on the CPU. */
convfilt_status convfilt_plan_make_on_gpu(const convfilt_filter *filter,
                                          const convfilt_shape *shape, int gpu,
                                          convfilt_plan **plan);

/* The shape of its results. */
void convfilt_plan_result(const convfilt_plan *plan, convfilt_shape *shape);

/* The strategy and the device that compute: "separable on cpu". Valid as long as the plan. */
const char *convfilt_plan_text(const convfilt_plan *plan);

/* Filters a picture in host memory. `in` and `out` must not overlap. */
convfilt_status convfilt_plan_run(convfilt_plan *plan, const convfilt_pixels *in,
                                  const convfilt_pixels *out);

/* Filters a picture in the memory of the plan's CUDA device, in a cudaStream_t of that device
 * (null: the legacy default stream). Channels and pixels lie side by side, and rows one behind the
 * other, with or without gaps. The call does not wait for the GPU, except while CUDA or one of its
 * libraries loads code, as when a kernel runs for the first time. The work is queued behind what
 * the stream has, and what the stream is given later waits for it. The stream must not be
 * capturing a graph. The pictures must outlive the work; convfilt_plan_free() waits for it, and
 * for all other work of the device. */
convfilt_status convfilt_plan_run_on_gpu(convfilt_plan *plan, const convfilt_pixels *in,
                                         const convfilt_pixels *out, void *stream);

void convfilt_plan_free(convfilt_plan *plan); /* null is allowed */

/* ---- Strategies ---- */

/* The names that the option `strategy` takes, by number; null from the count on. Valid for ever. */
const char *convfilt_strategy(int number);

/* Why the strategy does not take such a filter and shape on a device (auto, cpu, emulator, cuda);
 * empty where it does. It leaves no convfilt_error(). */
const char *convfilt_strategy_refuses(const char *strategy, const convfilt_filter *filter,
                                      const convfilt_shape *shape, const char *device);

/* How many CUDA devices this machine has that the library can use. */
int convfilt_gpus(void);

#ifdef __cplusplus
}
#endif
#endif
