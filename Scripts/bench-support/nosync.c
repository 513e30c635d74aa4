/* Preloaded into a program: nothing it writes is made to survive a power failure. */

int fsync(int descriptor) {
  (void)descriptor;
  return 0;
}

int fdatasync(int descriptor) {
  (void)descriptor;
  return 0;
}
