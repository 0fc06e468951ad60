#ifndef AFAR_CNETLINK_SHIM_H
#define AFAR_CNETLINK_SHIM_H

// Declarations that Swift's Glibc module lacks, or that Swift can't import: kernel structures, a variadic function and computed
// constants.

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <linux/fib_rules.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>
#include <linux/rtnetlink.h>

// <linux/wireless.h> and <linux/if.h> clash with <net/if.h>, which the Glibc module includes.
#define AFAR_SIOCGIWNAME 0x8B01

// Whether a device's driver supports the old wireless extensions.
static inline bool afar_has_wireless_extensions(int descriptor, const char *name) {
    struct {
        char name[16];
        char data[24];
    } request;
    memset(&request, 0, sizeof request);
    strncpy(request.name, name, sizeof request.name - 1);
    return ioctl(descriptor, AFAR_SIOCGIWNAME, &request) == 0;
}

// An enumeration in some C libraries, plain numbers in others.
static const int32_t AFAR_SOCK_STREAM = SOCK_STREAM;
static const int32_t AFAR_SOCK_DATAGRAM = SOCK_DGRAM | SOCK_CLOEXEC;
static const int32_t AFAR_SOCK_NETLINK = SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK;

// Starts a detached thread. `pthread_t` is a number in some C libraries and a pointer in others.
static inline int afar_start_thread(const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
    pthread_t thread;
    return pthread_create(&thread, attributes, run, argument);
}

// Names the calling thread (up to 15 bytes).
static inline void afar_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

#endif
