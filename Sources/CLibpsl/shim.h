#ifndef AFAR_CLIBPSL_SHIM_H
#define AFAR_CLIBPSL_SHIM_H

#include <libpsl.h>

#endif
