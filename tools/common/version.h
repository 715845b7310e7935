#ifndef COMMON_VERSION_H
#define COMMON_VERSION_H
#define SSB_VERSION "0.1.0"
#endif
