/* The log of calls: one JSON object a line, in the file that CUDA_EMULATION_LOG names. Without the name, no log. */
#define _GNU_SOURCE
#include "driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The file of the log, opened at the first call; NULL where nobody asked for a log. */
static FILE *log_file(void) {
    static FILE *file;
    static int opened;
    if (!opened) {
        const char *path = getenv("CUDA_EMULATION_LOG");
        file = path ? fopen(path, "a") : NULL;
        opened = 1;
    }
    return file;
}

void log_call(const char *kind, const char *format, ...) {
    FILE *file = log_file();
    if (!file) {
        return;
    }
    /* Threads of the host write whole lines. */
    flockfile(file);
    fprintf(file, "{\"kind\": \"%s\"%s", kind, format[0] ? ", " : "");
    va_list members;
    va_start(members, format);
    vfprintf(file, format, members);
    va_end(members);
    fputs("}\n", file);

    /* A process that crashes in a kernel still leaves every call before it. */
    fflush(file);
    funlockfile(file);
}
