/* An ICU data package without entries, in the layout of ICU's `ucmndata.h`: functions that need data
   report that it is missing, and all others work. Compiled only by Scripts/release, which defines the
   symbol's name. */

#ifdef LARDER_ICU_DATA

#include <stdint.h>

struct package {
  uint16_t header_size;
  uint8_t magic[2];
  uint16_t info_size;
  uint16_t reserved;
  uint8_t is_big_endian, charset_family, sizeof_uchar, reserved_byte;
  uint8_t format[4];
  uint8_t format_version[4];
  uint8_t data_version[4];
  uint8_t padding[8];
  uint32_t entry_count;
};

const struct package LARDER_ICU_DATA __attribute__((aligned(16))) = {
    .header_size = 32,
    .magic = {0xda, 0x27},
    .info_size = 20,
    .sizeof_uchar = 2,
    .format = {'C', 'm', 'n', 'D'},
    .format_version = {1, 0, 0, 0},
    .entry_count = 0,
};

#else

typedef int larder_icu_data_is_kept;

#endif
