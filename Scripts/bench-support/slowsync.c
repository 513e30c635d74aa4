/* Preloaded into a program: each sync takes SLOWSYNC_MICROSECONDS longer. */

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int wait_after(int result) {
  const char *text = getenv("SLOWSYNC_MICROSECONDS");
  long microseconds = text ? strtol(text, NULL, 10) : 0;
  struct timespec wait = {microseconds / 1000000, microseconds % 1000000 * 1000};
  if (result == 0) nanosleep(&wait, NULL);
  return result;
}

int fsync(int descriptor) { return wait_after((int)syscall(SYS_fsync, descriptor)); }

int fdatasync(int descriptor) { return wait_after((int)syscall(SYS_fdatasync, descriptor)); }
