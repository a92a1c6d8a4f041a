/* The device, its contexts, streams and events. There is one device; all its work is done before a call returns. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>

#define PRIMARY_CONTEXT ((handle)1)
#define DEFAULT_POOL ((handle)1)

/* Contexts, streams and events need no content: each handle is a number of its own. */
static handle new_handle(void) {
    static uintptr_t last = 1;
    last++;
    return (handle)last;
}

/* ---- The driver and its errors ---- */

API cuInit(unsigned flags) {
    (void)flags;
    return SUCCESS;
}

API cuDriverGetVersion(int *version) {
    *version = 12040;
    return SUCCESS;
}

static const char *error_name(enum result error) {
    switch (error) {
    case SUCCESS: return "CUDA_SUCCESS";
    case INVALID_VALUE: return "CUDA_ERROR_INVALID_VALUE";
    case OUT_OF_MEMORY: return "CUDA_ERROR_OUT_OF_MEMORY";
    case INVALID_CONTEXT: return "CUDA_ERROR_INVALID_CONTEXT";
    case INVALID_PTX: return "CUDA_ERROR_INVALID_PTX";
    case NOT_FOUND: return "CUDA_ERROR_NOT_FOUND";
    case NOT_SUPPORTED: return "CUDA_ERROR_NOT_SUPPORTED";
    }
    return "CUDA_ERROR_UNKNOWN";
}

API cuGetErrorName(enum result error, const char **name) {
    *name = error_name(error);
    return SUCCESS;
}

API cuGetErrorString(enum result error, const char **text) {
    int refused = error == INVALID_PTX;
    *text = refused ? "the emulation refuses this PTX; its reason is on stderr" : "from the emulated driver";
    return SUCCESS;
}

/* ---- The device ---- */

API cuDeviceGetCount(int *count) {
    *count = 1;
    return SUCCESS;
}

API cuDeviceGet(int *device, int ordinal) {
    *device = 0;
    return ordinal == 0 ? SUCCESS : INVALID_VALUE;
}

API cuDeviceGetName(char *name, int room, int device) {
    (void)device;
    snprintf(name, (size_t)room, "Emulated CUDA device");
    return SUCCESS;
}

/* Ten times the major version of the architecture, and the minor one: 90 is Hopper. */
static int architecture(void) {
    const char *text = getenv("CUDA_EMULATION_SM");
    return text ? atoi(text) : 90;
}

/* What an H100 answers to the attributes that programs ask for, by NVIDIA's numbers; 0 to all others. */
static int attribute(unsigned number) {
    switch (number) {
    case 1: return 1024;            /* threads of a block */
    case 2: case 3: return 1024;    /* threads of a block along x and y */
    case 4: return 64;              /* along z */
    case 5: return 2147483647;      /* blocks of a grid along x */
    case 6: case 7: return 65535;   /* along y and z */
    case 8: return 49152;           /* bytes of shared memory of a block */
    case 10: return 32;             /* threads of a warp */
    case 12: return 65536;          /* registers of a block */
    case 16: return 132;            /* multiprocessors */
    case 39: return 2048;           /* threads of a multiprocessor */
    case 41: return 1;              /* host and device share one address space */
    case 75: return architecture() / 10;
    case 76: return architecture() % 10;
    case 81: return 233472;         /* bytes of shared memory of a multiprocessor */
    case 82: return 65536;          /* registers of a multiprocessor */
    case 83: return 1;              /* managed memory */
    case 97: return 232448;         /* bytes of shared memory that a block may ask for */
    case 106: return 1;             /* blocks of a multiprocessor: not 32, as Taichi fills the device with threads */
    case 115: return 1;             /* memory pools */
    }
    return 0;
}

API cuDeviceGetAttribute(int *value, unsigned number, int device) {
    (void)device;
    *value = attribute(number);
    return SUCCESS;
}

API cuDeviceGetDefaultMemPool(handle *pool, int device) {
    (void)device;
    *pool = DEFAULT_POOL;
    return SUCCESS;
}

API cuMemPoolSetAttribute(handle pool, unsigned number, void *value) {
    (void)number;
    (void)value;
    return pool == DEFAULT_POOL ? SUCCESS : INVALID_VALUE;
}

/* ---- Contexts: each thread of the host has a current one ---- */

static __thread handle current_context;

int has_context(void) {
    return current_context != NULL;
}

static void make_current(handle context) {
    current_context = context;
    log_call("context", "\"context\": %llu", number_of(context));
}

API cuCtxCreate_v2(handle *context, unsigned flags, int device) {
    (void)flags;
    (void)device;
    *context = new_handle();
    make_current(*context);
    return SUCCESS;
}

API cuCtxSetCurrent(handle context) {
    make_current(context);
    return SUCCESS;
}

API cuCtxGetCurrent(handle *context) {
    *context = current_context;
    return SUCCESS;
}

API cuCtxSetLimit(int limit, size_t value) {
    log_call("limit", "\"limit\": %d, \"value\": %zu", limit, value);
    return SUCCESS;
}

API cuCtxSynchronize(void) {
    log_call("synchronize", "\"what\": \"context\"");
    return SUCCESS;
}

API cuDevicePrimaryCtxRetain(handle *context, int device) {
    (void)device;
    *context = PRIMARY_CONTEXT;
    return SUCCESS;
}

API cuDevicePrimaryCtxRelease_v2(int device) {
    (void)device;
    return SUCCESS;
}

/* ---- Streams: launches and copies on any stream are done at once ---- */

API cuStreamCreate(handle *stream, unsigned flags) {
    (void)flags;
    if (!has_context()) {
        return INVALID_CONTEXT;
    }
    *stream = new_handle();
    log_call("stream", "\"stream\": %llu", number_of(*stream));
    return SUCCESS;
}

API cuStreamDestroy_v2(handle stream) {
    (void)stream;
    return SUCCESS;
}

API cuStreamSynchronize(handle stream) {
    log_call("synchronize", "\"what\": \"stream\", \"stream\": %llu", number_of(stream));
    return SUCCESS;
}

/* ---- Events: a clock that stands still ---- */

API cuEventCreate(handle *event, unsigned flags) {
    (void)flags;
    *event = new_handle();
    return SUCCESS;
}

API cuEventDestroy(handle event) {
    (void)event;
    return SUCCESS;
}

API cuEventRecord(handle event, handle stream) {
    (void)event;
    (void)stream;
    return SUCCESS;
}

API cuEventSynchronize(handle event) {
    log_call("synchronize", "\"what\": \"event\", \"event\": %llu", number_of(event));
    return SUCCESS;
}

API cuEventElapsedTime(float *milliseconds, handle start, handle end) {
    (void)start;
    (void)end;
    *milliseconds = 0;
    return SUCCESS;
}

/* ---- Memory shared with Vulkan: Taichi looks these up when it starts, and calls them for windows only ---- */

#define REFUSED(name) \
    API name(void) { return NOT_SUPPORTED; }

REFUSED(cuImportExternalMemory)
REFUSED(cuImportExternalSemaphore)
REFUSED(cuExternalMemoryGetMappedBuffer)
REFUSED(cuExternalMemoryGetMappedMipmappedArray)
REFUSED(cuMipmappedArrayGetLevel)
REFUSED(cuSignalExternalSemaphoresAsync)
REFUSED(cuSurfObjectCreate)
REFUSED(cuWaitExternalSemaphoresAsync)
