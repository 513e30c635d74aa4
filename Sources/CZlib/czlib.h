// zlib as installed, with the two macros Swift cannot see as functions.
#ifndef LARDER_CZLIB_H
#define LARDER_CZLIB_H

#include <zlib.h>

// `windowBits`: 15 zlib, 15 + 16 gzip, -15 raw deflate.
static inline int larder_deflateInit2(z_streamp stream, int level, int windowBits, int memoryLevel) {
  return deflateInit2_(stream, level, Z_DEFLATED, windowBits, memoryLevel, Z_DEFAULT_STRATEGY,
                       ZLIB_VERSION, (int)sizeof(z_stream));
}

// `windowBits`: 15 + 32 tells gzip from zlib by the first bytes, -15 raw deflate.
static inline int larder_inflateInit2(z_streamp stream, int windowBits) {
  return inflateInit2_(stream, windowBits, ZLIB_VERSION, (int)sizeof(z_stream));
}

#endif
