// Files that are part of the binary, so that it works from any folder.
#ifndef LARDER_CRESOURCES_H
#define LARDER_CRESOURCES_H

#include <stddef.h>

struct larder_resource {
  // Relative to the root of the sources.
  const char *path;
  const unsigned char *bytes;
  size_t count;
};

// NULL beyond the last.
const struct larder_resource *larder_resource_at(size_t index);

#endif
