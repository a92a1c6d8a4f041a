/* What the C of every translated module begins with: PTX's types, the few operations that C lacks, and the loop over
   threads. ptx_to_c.py defines FLUSH (does the module flush denormals?) and, in counting mode, COUNTING before it. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

typedef _Bool pred;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef float f32;
typedef double f64;
typedef __int128 s128;
typedef unsigned __int128 u128;

/* Where a thread is: PTX's %tid, %ntid, %ctaid and %nctaid. */
typedef struct {
    u32 tid[3];
    u32 ntid[3];
    u32 ctaid[3];
    u32 nctaid[3];
} thread_place;

/* A function of PTX: where the thread is, an address for each parameter, and where the result goes. */
typedef void (*ptx_function)(const thread_place *place, char **parameters, char *result);

#define INLINE static inline __attribute__((always_inline))

/* ---- Bits ---- */

INLINE u32 bits_of_f32(f32 value) {
    u32 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

INLINE f32 f32_of_bits(u32 bits) {
    f32 value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE u64 bits_of_f64(f64 value) {
    u64 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

INLINE f64 f64_of_bits(u64 bits) {
    f64 value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- Conversions to integers: PTX keeps to the range, and makes 0 of NaN ---- */

static f64 clamped(f64 value, f64 least, f64 most) {
    if (isnan(value)) {
        return 0;
    }
    return value < least ? least : value > most ? most : value;
}

static s64 s64_of(f64 value) {
    return value >= 0x1p63 ? INT64_MAX : (s64)clamped(value, -0x1p63, 0x1p63);
}

static u64 u64_of(f64 value) {
    return value >= 0x1p64 ? UINT64_MAX : (u64)clamped(value, 0, 0x1p64);
}

/* ---- Functions that CUDA gives to every module ---- */

static void function___assertfail(const thread_place *place, char **parameters, char *result) {
    fprintf(stderr, "emulated CUDA: an assertion failed in a kernel: %s\n", *(char **)parameters[0]);
    abort();
}

/* The text as it stands: its numbers are not filled in. */
static void function_vprintf(const thread_place *place, char **parameters, char *result) {
    fputs(*(char **)parameters[0], stderr);
}

/* ---- Counting: what all threads of a launch did ---- */

#ifdef COUNTING

static struct {
    u64 threads, instructions, pointer_loads, float_loads, integer_loads, stores, local_accesses, flops, special;
} counts;

#define COUNT(instructions_, pointers, floats, integers, stores_, locals, flops_, special_) \
    (counts.instructions += instructions_, counts.pointer_loads += pointers, counts.float_loads += floats, \
     counts.integer_loads += integers, counts.stores += stores_, counts.local_accesses += locals, \
     counts.flops += flops_, counts.special += special_)

/* How often each function of a module was called; ptx_to_c.py fills in the names. */
typedef struct {
    const char *name;
    u64 *calls;
} call_count;

/* Append the counts of one launch to a file, as a line of JSON, and begin anew. */
static void write_counts(const char *kernel, call_count *functions) {
    const char *path = getenv("CUDA_EMULATION_COUNTS");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        fprintf(file, "{\"kernel\": \"%s\", \"threads\": %lu, \"instructions\": %lu, ", kernel, counts.threads,
                counts.instructions);
        fprintf(file, "\"pointer_loads\": %lu, \"float_loads\": %lu, \"integer_loads\": %lu, ", counts.pointer_loads,
                counts.float_loads, counts.integer_loads);
        fprintf(file, "\"stores\": %lu, \"local_accesses\": %lu, \"flops\": %lu, \"special\": %lu, \"calls\": {",
                counts.stores, counts.local_accesses, counts.flops, counts.special);
        const char *separator = "";
        for (call_count *function = functions; function->name; function++) {
            if (*function->calls) {
                fprintf(file, "%s\"%s\": %lu", separator, function->name, *function->calls);
                separator = ", ";
            }
        }
        fputs("}}\n", file);
        fclose(file);
    }
    memset(&counts, 0, sizeof counts);
    for (call_count *function = functions; function->name; function++) {
        *function->calls = 0;
    }
}

#endif

/* ---- Threads: one runs after the other ---- */

/* An instruction with .ftz takes denormal numbers for 0, in what it reads and in what it makes. The processor does the
   same while two bits of its control register are set: for all instructions, doubles too. */
static u32 begin_flushing(void) {
    u32 before = _mm_getcsr();
    _mm_setcsr(FLUSH ? before | 0x8040 : before);
    return before;
}

static void run_block(ptx_function kernel, thread_place *place, char **parameters) {
    for (place->tid[2] = 0; place->tid[2] < place->ntid[2]; place->tid[2]++) {
        for (place->tid[1] = 0; place->tid[1] < place->ntid[1]; place->tid[1]++) {
            for (place->tid[0] = 0; place->tid[0] < place->ntid[0]; place->tid[0]++) {
                kernel(place, parameters, NULL);
            }
        }
    }
}

static void run_grid(ptx_function kernel, char **parameters, const u32 grid[3], const u32 block[3]) {
    thread_place place;
    memcpy(place.nctaid, grid, sizeof place.nctaid);
    memcpy(place.ntid, block, sizeof place.ntid);
    u32 before = begin_flushing();
    for (place.ctaid[2] = 0; place.ctaid[2] < grid[2]; place.ctaid[2]++) {
        for (place.ctaid[1] = 0; place.ctaid[1] < grid[1]; place.ctaid[1]++) {
            for (place.ctaid[0] = 0; place.ctaid[0] < grid[0]; place.ctaid[0]++) {
                run_block(kernel, &place, parameters);
            }
        }
    }
    _mm_setcsr(before);
#ifdef COUNTING
    counts.threads += (u64)grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2];
#endif
}
