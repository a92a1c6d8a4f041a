/* Device memory is host memory, in pages of its own: a kernel that leaves an array far enough crashes. */
#define _GNU_SOURCE
#include "driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- The list of allocations ---- */

struct allocation {
    char *start;
    size_t bytes;
    struct allocation *next;
};

static struct allocation *allocations;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;

/* Pages that are zero and take no memory before they are touched; NULL where the machine has no room. */
static char *allocate(size_t bytes) {
    char *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
        return NULL;
    }
    struct allocation *entry = malloc(sizeof *entry);
    pthread_mutex_lock(&list_lock);
    *entry = (struct allocation){start, bytes, allocations};
    allocations = entry;
    pthread_mutex_unlock(&list_lock);
    return start;
}

/* Give back what begins at `start`; 0 where nothing does. */
static int release(char *start) {
    int found = 0;
    pthread_mutex_lock(&list_lock);
    for (struct allocation **link = &allocations; *link; link = &(*link)->next) {
        struct allocation *entry = *link;
        if (entry->start == start) {
            *link = entry->next;
            munmap(entry->start, entry->bytes);
            free(entry);
            found = 1;
            break;
        }
    }
    pthread_mutex_unlock(&list_lock);
    return found;
}

/* Whether an address is inside of an allocation. */
static int is_allocated(char *address) {
    int found = 0;
    pthread_mutex_lock(&list_lock);
    for (struct allocation *entry = allocations; entry && !found; entry = entry->next) {
        found = address >= entry->start && address < entry->start + entry->bytes;
    }
    pthread_mutex_unlock(&list_lock);
    return found;
}

/* ---- Allocating and freeing ---- */

static enum result give_memory(handle *start, size_t bytes, handle stream) {
    if (bytes == 0) {
        return INVALID_VALUE;
    }
    if (!has_context()) {
        return INVALID_CONTEXT;
    }
    *start = allocate(bytes);
    log_call("alloc", "\"address\": %llu, \"bytes\": %zu, \"stream\": %llu", number_of(*start), bytes,
             number_of(stream));
    return *start ? SUCCESS : OUT_OF_MEMORY;
}

static enum result take_memory(handle start, handle stream) {
    log_call("free", "\"address\": %llu, \"stream\": %llu", number_of(start), number_of(stream));
    return start == NULL || release(start) ? SUCCESS : INVALID_VALUE;
}

API cuMemAlloc_v2(handle *start, size_t bytes) {
    return give_memory(start, bytes, NULL);
}

API cuMemAllocAsync(handle *start, size_t bytes, handle stream) {
    return give_memory(start, bytes, stream);
}

API cuMemAllocManaged(handle *start, size_t bytes, unsigned flags) {
    (void)flags;
    return give_memory(start, bytes, NULL);
}

API cuMemFree_v2(handle start) {
    return take_memory(start, NULL);
}

API cuMemFreeAsync(handle start, handle stream) {
    return take_memory(start, stream);
}

/* ---- What memory is ---- */

API cuMemAdvise(handle start, size_t bytes, unsigned advice, int device) {
    (void)start;
    (void)bytes;
    (void)advice;
    (void)device;
    return SUCCESS;
}

API cuMemGetInfo_v2(size_t *free_bytes, size_t *all_bytes) {
    *free_bytes = (size_t)4 << 30;
    *all_bytes = (size_t)4 << 30;
    return SUCCESS;
}

/* Whose memory an address is in. With CUDA_EMULATION_HOST_IS_DEVICE, all memory is the device's: torch's CPU tensors
   then stand for CUDA tensors, which Taichi's kernels read and write in place. */
API cuPointerGetAttribute(void *value, unsigned number, handle address) {
    const unsigned memory_type = 2, device_memory = 2;
    if (!getenv("CUDA_EMULATION_HOST_IS_DEVICE") && !is_allocated(address)) {
        return INVALID_VALUE;
    }
    if (number != memory_type) {
        return NOT_SUPPORTED;
    }
    *(unsigned *)value = device_memory;
    return SUCCESS;
}

/* ---- Copying and filling ---- */

static enum result copy(const char *direction, handle to, const void *from, size_t bytes, handle stream) {
    log_call("copy", "\"direction\": \"%s\", \"bytes\": %zu, \"stream\": %llu", direction, bytes, number_of(stream));
    memmove(to, from, bytes);
    return SUCCESS;
}

API cuMemcpyHtoD_v2(handle to, const void *from, size_t bytes) {
    return copy("HtoD", to, from, bytes, NULL);
}

API cuMemcpyDtoH_v2(void *to, handle from, size_t bytes) {
    return copy("DtoH", to, from, bytes, NULL);
}

API cuMemcpyDtoD_v2(handle to, handle from, size_t bytes) {
    return copy("DtoD", to, from, bytes, NULL);
}

API cuMemcpyHtoDAsync_v2(handle to, const void *from, size_t bytes, handle stream) {
    return copy("HtoD", to, from, bytes, stream);
}

API cuMemcpyDtoHAsync_v2(void *to, handle from, size_t bytes, handle stream) {
    return copy("DtoH", to, from, bytes, stream);
}

API cuMemcpyDtoDAsync_v2(handle to, handle from, size_t bytes, handle stream) {
    return copy("DtoD", to, from, bytes, stream);
}

API cuMemsetD8_v2(handle start, unsigned char value, size_t count) {
    log_call("fill", "\"bytes\": %zu", count);
    memset(start, value, count);
    return SUCCESS;
}

API cuMemsetD32_v2(handle start, unsigned value, size_t count) {
    log_call("fill", "\"bytes\": %zu", count * sizeof value);
    unsigned *words = start;
    for (size_t i = 0; i < count; i++) {
        words[i] = value;
    }
    return SUCCESS;
}
