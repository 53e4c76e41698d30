#pragma once

#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE  // Linux 5.14; older headers lack it, older kernels answer EINVAL
#define MADV_POPULATE_WRITE 23
#endif
