import CLinux

/// The C library's allocator, which Swift's objects and SQLite's pages come from.
package enum Allocator {
  /// Bounds how many heaps of its own it makes for threads, to one for each processor and at least four:
  /// by itself it makes up to eight for each (mallopt(3), `M_ARENA_MAX`), and what is freed in one of
  /// them serves no other.
  ///
  /// Call it before threads are started.
  package static func boundArenas() {
    let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    mallopt(M_ARENA_MAX, Int32(clamping: max(4, processors)))
  }
}
