#ifndef AFAR_CTURBOJPEG_SHIM_H
#define AFAR_CTURBOJPEG_SHIM_H

#include <turbojpeg.h>

#endif
