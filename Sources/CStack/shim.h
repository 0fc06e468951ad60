#ifndef AFAR_CSTACK_SHIM_H
#define AFAR_CSTACK_SHIM_H

// A thread's stack, for which Swift has no functions.

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __linux__
// The headers declare this function only with _GNU_SOURCE.
extern int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes);
#endif

// The caller's position in the stack. The address sanitizer keeps variables elsewhere, so the address of a variable can't be
// used.
static inline uintptr_t afar_stack_position(void) { return (uintptr_t)__builtin_frame_address(0); }

// The lowest address of the calling thread's stack; 0 if unknown.
static inline uintptr_t afar_stack_end(void) {
#if defined(__APPLE__)
    pthread_t thread = pthread_self();
    return (uintptr_t)pthread_get_stackaddr_np(thread) - pthread_get_stacksize_np(thread);
#elif defined(__linux__)
    pthread_attr_t attributes;
    void *start = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    if (pthread_attr_getstack(&attributes, &start, &size) != 0) start = NULL;
    pthread_attr_destroy(&attributes);
    return (uintptr_t)start;
#else
    return 0;
#endif
}

#endif
