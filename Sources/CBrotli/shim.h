#ifndef AFAR_CBROTLI_SHIM_H
#define AFAR_CBROTLI_SHIM_H

#include <brotli/encode.h>

#endif
