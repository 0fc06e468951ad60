#ifndef AFAR_CPIXMAN_SHIM_H
#define AFAR_CPIXMAN_SHIM_H

#include <pixman.h>

#endif
