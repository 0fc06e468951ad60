#ifndef AFAR_CZSTANDARD_SHIM_H
#define AFAR_CZSTANDARD_SHIM_H

#include <zstd.h>

#endif
