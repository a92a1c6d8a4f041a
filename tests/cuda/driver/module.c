/* Modules and launches. The PTX of every module is kept in a file. Where a translator is named, it makes a shared
   object of it, whose functions run the kernels; else a launch does nothing but stand in the log. */
#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kernel, as the translator makes it (prelude.h): it runs all threads of all blocks. */
typedef void (*entry)(void **parameters, const unsigned grid[3], const unsigned block[3]);

struct kernel {
    char *name;
    entry run;
    struct kernel *next;
};

struct module {
    char *path; /* of its PTX, without the ending */
    void *library;
    struct kernel *kernels;
};

/* ---- Loading ---- */

/* Write the PTX to FOLDER/module000.ptx, module001.ptx, ... and give the path, without its ending. */
static enum result keep_ptx(const char *ptx, char *path, size_t room) {
    static int modules;
    const char *folder = getenv("CUDA_EMULATION_FOLDER");
    if (!folder) {
        fprintf(stderr, "emulated CUDA: CUDA_EMULATION_FOLDER must name a folder for PTX\n");
        return INVALID_VALUE;
    }
    int stem = snprintf(path, room, "%s/module%03d", folder, modules++);
    snprintf(path + stem, room - (size_t)stem, ".ptx");
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return INVALID_VALUE;
    }
    fputs(ptx, file);
    fclose(file);
    log_call("module", "\"path\": \"%s\", \"bytes\": %zu", path, strlen(ptx));
    path[stem] = '\0';
    return SUCCESS;
}

/* Let the translator make PATH.so of PATH.ptx, and load it. It says on stderr what it refuses. */
static enum result translate(const char *translator, const char *path, struct module *module) {
    char *command;
    char *library;
    if (asprintf(&command, "%s '%s.ptx' '%s.so'", translator, path, path) < 0) {
        return OUT_OF_MEMORY;
    }
    int failed = system(command);
    free(command);
    if (failed || asprintf(&library, "%s.so", path) < 0) {
        return INVALID_PTX;
    }
    module->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    free(library);
    if (!module->library) {
        fprintf(stderr, "emulated CUDA: %s\n", dlerror());
        return INVALID_PTX;
    }
    return SUCCESS;
}

API cuModuleLoadDataEx(handle *loaded, const char *ptx, unsigned count, unsigned *options, void **values) {
    (void)count;
    (void)options;
    (void)values;
    if (!has_context()) {
        return INVALID_CONTEXT;
    }
    if (!strstr(ptx, ".version")) {
        fprintf(stderr, "emulated CUDA: only modules that are PTX text can be loaded\n");
        return NOT_SUPPORTED;
    }
    char path[4096];
    enum result result = keep_ptx(ptx, path, sizeof path);
    if (result != SUCCESS) {
        return result;
    }
    struct module *module = calloc(1, sizeof *module);
    const char *translator = getenv("CUDA_EMULATION_TRANSLATOR");
    if (translator) {
        result = translate(translator, path, module);
    }
    if (result != SUCCESS) {
        free(module);
        return result;
    }
    module->path = strdup(path);
    *loaded = module;
    return SUCCESS;
}

API cuModuleLoadData(handle *loaded, const char *ptx) {
    return cuModuleLoadDataEx(loaded, ptx, 0, NULL, NULL);
}

API cuModuleUnload(handle loaded) {
    struct module *module = loaded;
    while (module->kernels) {
        struct kernel *kernel = module->kernels;
        module->kernels = kernel->next;
        free(kernel->name);
        free(kernel);
    }
    if (module->library) {
        dlclose(module->library);
    }
    log_call("unload", "\"path\": \"%s.ptx\"", module->path);
    free(module->path);
    free(module);
    return SUCCESS;
}

/* ---- Kernels ---- */

API cuModuleGetFunction(handle *found, handle loaded, const char *name) {
    struct module *module = loaded;
    entry run = NULL;
    if (module->library) {
        char *symbol;
        if (asprintf(&symbol, "entry_%s", name) < 0) {
            return OUT_OF_MEMORY;
        }
        run = (entry)dlsym(module->library, symbol);
        free(symbol);
        if (!run) {
            return NOT_FOUND;
        }
    }
    struct kernel *kernel = malloc(sizeof *kernel);
    *kernel = (struct kernel){strdup(name), run, module->kernels};
    module->kernels = kernel;
    *found = kernel;
    return SUCCESS;
}

/* Threads that a block may have are what a program needs to know; nothing else is used by a kernel here. */
API cuFuncGetAttribute(int *value, unsigned number, handle kernel) {
    (void)kernel;
    const unsigned threads_of_a_block = 0;
    *value = number == threads_of_a_block ? 1024 : 0;
    return SUCCESS;
}

API cuFuncSetAttribute(handle kernel, unsigned number, int value) {
    (void)kernel;
    (void)number;
    (void)value;
    return SUCCESS;
}

API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, handle kernel, int threads, size_t shared_bytes) {
    (void)kernel;
    (void)threads;
    (void)shared_bytes;
    *blocks = 1;
    return SUCCESS;
}

/* ---- Launching ---- */

API cuLaunchKernel(handle launched, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, handle stream, void **parameters,
                   void **extra) {
    struct kernel *kernel = launched;
    log_call("launch", "\"kernel\": \"%s\", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"stream\": %llu",
             kernel->name, grid_x, grid_y, grid_z, block_x, block_y, block_z, number_of(stream));

    /* What a device refuses too: no context, an empty grid, an empty block, too many threads of a block. */
    if (!has_context()) {
        return INVALID_CONTEXT;
    }
    size_t threads = (size_t)block_x * block_y * block_z;
    size_t blocks = (size_t)grid_x * grid_y * grid_z;
    if (blocks == 0 || threads == 0 || threads > 1024) {
        return INVALID_VALUE;
    }
    /* What only the emulation refuses: shared memory, and parameters in one buffer. */
    if (shared_bytes || extra) {
        return NOT_SUPPORTED;
    }
    if (kernel->run) {
        const unsigned grid[3] = {grid_x, grid_y, grid_z};
        const unsigned block[3] = {block_x, block_y, block_z};
        kernel->run(parameters, grid, block);
    }
    return SUCCESS;
}
