#ifndef AFAR_CNGHTTP2_SHIM_H
#define AFAR_CNGHTTP2_SHIM_H

#include <nghttp2/nghttp2.h>

// Sets the number of CONTINUATION frames that a header block can have. Versions before 1.61 lack the option and the limit, except in
// distributions that have backported them.
extern void nghttp2_option_set_max_continuations(nghttp2_option *option, size_t count) __attribute__((weak));
static inline void afar_set_maximum_continuations(nghttp2_option *option, size_t count) {
    if (nghttp2_option_set_max_continuations) nghttp2_option_set_max_continuations(option, count);
}

#endif
