#define _GNU_SOURCE
#include "counters.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdatomic.h>

size_t counters_heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// The program's own functions come before the shared library's of the same name, so these are the ones that its code
// calls. They count and pass on to the library's. They are hidden from libcurl, which makes handles for itself too.

static atomic_long made;
static atomic_long freed;

long counters_handles_made(void) { return atomic_load(&made); }
long counters_handles_freed(void) { return atomic_load(&freed); }

#define HIDDEN __attribute__((visibility("hidden")))

#define MAKING(name)                                                                                                   \
    HIDDEN void *name(void) {                                                                                                 \
        static void *(*real)(void);                                                                                    \
        if (!real) real = (void *(*)(void))dlsym(RTLD_NEXT, #name);                                                    \
        void *handle = real();                                                                                         \
        if (handle) atomic_fetch_add(&made, 1);                                                                        \
        return handle;                                                                                                 \
    }

#define FREEING(type, name)                                                                                            \
    HIDDEN type name(void *handle) {                                                                                          \
        static type (*real)(void *);                                                                                   \
        if (!real) real = (type (*)(void *))dlsym(RTLD_NEXT, #name);                                                   \
        if (handle) atomic_fetch_add(&freed, 1);                                                                       \
        return real(handle);                                                                                           \
    }

MAKING(curl_easy_init)
MAKING(curl_multi_init)
MAKING(curl_share_init)
FREEING(void, curl_easy_cleanup)
FREEING(int, curl_multi_cleanup)
FREEING(int, curl_share_cleanup)
