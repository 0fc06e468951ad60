#ifndef AFAR_CSPNG_SHIM_H
#define AFAR_CSPNG_SHIM_H

#include <spng.h>

#endif
