#ifndef AFAR_CSTACK_SHIM_H
#define AFAR_CSTACK_SHIM_H

// Where a thread's stack ends and how far it is used, which Swift cannot tell.

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __linux__
// Declared only for those who define _GNU_SOURCE.
extern int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes);
#endif

// Where on the stack the caller is. The address of a variable does not tell: the address sanitizer keeps those elsewhere.
static inline uintptr_t afar_stack_position(void) { return (uintptr_t)__builtin_frame_address(0); }

// Where the stack of the calling thread ends: its lowest address; 0 where the system does not say.
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
