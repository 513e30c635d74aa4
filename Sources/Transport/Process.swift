import CLinux
import Dispatch
import Glibc

/// Termination and restart of the process.
package enum ProcessEnd {
  /// Ignores unused signals whose default action ends a process.
  package static func ignoreUnusedSignals() {
    for number in [SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
  }

  /// Ends the process after a time, whatever its threads wait for: no further code runs, and the kernel
  /// releases its locks. The data survives, as in a crash.
  ///
  /// - Parameter warning: written first, if standard error accepts it without blocking.
  package static func force(after time: Duration, status: Int32, warning: [UInt8]) {
    let seconds = max(0, time.components.seconds)
    let nanoseconds = time.components.attoseconds / 1_000_000_000
    // A serial queue brings its own thread: Dispatch's shared ones may all be blocked.
    DispatchQueue(label: "larder.end", qos: .userInitiated).async {
      var left = timespec(tv_sec: Int(seconds), tv_nsec: Int(max(0, nanoseconds)))
      var rest = timespec()
      while nanosleep(&left, &rest) != 0, errno == EINTR { left = rest }
      StandardStream.error.write(warning, patience: .zero)
      _exit(status)
    }
  }

  /// Restarts the program in the same process, which keeps its id: its supervisor sees no exit. Call it
  /// once everything is closed: descriptors close by `O_CLOEXEC`, and threads end with the program's
  /// image (execve(2)).
  ///
  /// - Returns: the system's error; on success it does not return.
  package static func startOver() -> Int32 {
    // Ignored and blocked signals would stay so: a termination signal that arrives before the new image
    // handles it must end it.
    for ending in [SIGTERM, SIGINT] { signal(ending, SIG_DFL) }
    var none = sigset_t()
    sigemptyset(&none)
    sigprocmask(SIG_SETMASK, &none, nil)
    // By its path if that is still the same file, so that the process keeps its name.
    let link = "/proc/self/exe"
    if let path = realpath(link, nil) {
      execv(path, CommandLine.unsafeArgv)
      free(path)
    }
    execv(link, CommandLine.unsafeArgv)
    return errno
  }
}

/// The C library's allocator, used by Swift's objects and SQLite's pages.
package enum Allocator {
  /// Limits the allocator's per-thread arenas to one per processor and at least four. By default there
  /// are up to eight per processor (mallopt(3), `M_ARENA_MAX`), and memory freed in one arena is not
  /// available to the others.
  ///
  /// Call it before threads are started.
  package static func boundArenas() {
    let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    mallopt(M_ARENA_MAX, Int32(clamping: max(4, processors)))
  }
}

/// The pages of programs and libraries in this process's memory.
package enum ProgramPages {
  /// Releases them to the system's page cache: pages needed only at the start stay there, and the others
  /// are mapped again one by one when they are used.
  ///
  /// Pages that are executable and not writable equal those on disk (mmap(2): they are private and were
  /// never written to), so nothing can be lost (madvise(2), `MADV_DONTNEED`).
  package static func release() {
    guard let maps = fopen("/proc/self/maps", "re") else { return }
    defer { fclose(maps) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, maps) > 0, let text = line {
      guard let range = codeRange(String(cString: text)) else { continue }
      _ = madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
    }
  }

  /// Returns the addresses of a line of file-backed code (proc_pid_maps(5)); nil for any other line:
  /// `7f0c8a400000-7f0c8a5d5000 r-xp 00028000 fe:00 1234  /lib/libc.so.6`.
  static func codeRange(_ line: String) -> Range<UInt>? {
    let columns = line.split(separator: " ", omittingEmptySubsequences: true)
    guard columns.count >= 6, columns[1] == "r-xp", columns[5].hasPrefix("/") else { return nil }
    let ends = columns[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
    guard ends.count == 2, 0 < ends[0], ends[0] < ends[1] else { return nil }
    return ends[0]..<ends[1]
  }
}
