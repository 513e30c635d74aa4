// Reports the contended locks of Swift's Mutex to the thread sanitizer.
//
// `Mutex.withLock` takes a free lock by an atomic operation in the caller's code, which the sanitizer sees. A
// held lock is waited for within libswiftSynchronization, which is not built with the sanitizer: writes of
// the last holder then look like a race. Loaded before that library, these two functions replace its slow
// paths and report the acquire and the release.
//
// Built and loaded by `Scripts/test --sanitize thread`.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SELF __attribute__((swift_context)) void *self

typedef __attribute__((swiftcall)) void lock_function(uint32_t, SELF);
typedef __attribute__((swiftcall)) void unlock_function(SELF);

// _MutexHandle._lockSlow(_: UInt32)
__attribute__((swiftcall)) void larder_lock_slow(uint32_t state, SELF) __asm__(LOCK);
__attribute__((swiftcall)) void larder_lock_slow(uint32_t state, SELF) {
  static lock_function *real;
  if (!real) real = (lock_function *)dlsym(RTLD_NEXT, LOCK);
  real(state, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

// _MutexHandle._unlockSlow()
__attribute__((swiftcall)) void larder_unlock_slow(SELF) __asm__(UNLOCK);
__attribute__((swiftcall)) void larder_unlock_slow(SELF) {
  static unlock_function *real;
  if (!real) real = (unlock_function *)dlsym(RTLD_NEXT, UNLOCK);
  if (__tsan_release) __tsan_release(self);
  real(self);
}
