#ifndef AFAR_CEPOLL_SHIM_H
#define AFAR_CEPOLL_SHIM_H

// Functions that Swift can't express: packed structures, and variadic functions.

#if defined(__linux__)
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

static inline void afar_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

static inline int afar_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline int afar_epoll_set(int epoll, int operation, int descriptor, uint32_t events, uint64_t tag) {
    struct epoll_event event;
    event.events = events;
    event.data.u64 = tag;
    return epoll_ctl(epoll, operation, descriptor, &event);
}

static inline uint64_t afar_epoll_tag(const struct epoll_event *event) { return event->data.u64; }
#endif

#endif
