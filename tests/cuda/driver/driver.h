/* What the files of the emulated driver share. The functions that a program finds by name stand in the .c files. */
#ifndef EMULATED_DRIVER_H
#define EMULATED_DRIVER_H

#include <stddef.h>
#include <stdint.h>

/* The driver's results, by NVIDIA's numbers. */
enum result {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_CONTEXT = 201,
    INVALID_PTX = 218,
    NOT_FOUND = 500,
    NOT_SUPPORTED = 801,
};

/* Handles are addresses to the programs that hold them. */
typedef void *handle;

/* A function of the driver that programs find by its name; the compiler hides all others. */
#define API __attribute__((visibility("default"))) enum result

/* Write one line to the log: a JSON object with the kind of call and its numbers. `format` gives the members after
   "kind", in printf's way, or is "". */
void log_call(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the calling thread has a context. Without one a device neither allocates, nor loads modules, nor launches. */
int has_context(void);

/* A number of a handle, for the log. */
static inline unsigned long long number_of(handle handle) { return (unsigned long long)(uintptr_t)handle; }

#endif
