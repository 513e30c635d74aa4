/* Preloaded into a program: its syncs do nothing, so no write survives a power failure. */

int fsync(int descriptor) {
  (void)descriptor;
  return 0;
}

int fdatasync(int descriptor) {
  (void)descriptor;
  return 0;
}
