import CLinux
import Dispatch
import Glibc

/// How the process ends, and what does not end it.
package enum ProcessEnd {
  /// Ignores signals whose default action ends a process and that mean nothing to this one.
  package static func ignoreUnusedSignals() {
    for number in [SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
  }

  /// Ends the process after a time, whatever its threads wait for: no code of it runs any more, and
  /// the kernel releases its locks. The data survives, as it does a crash.
  ///
  /// - Parameter warning: written first, if standard error takes it at once.
  package static func force(after time: Duration, status: Int32, warning: [UInt8]) {
    let seconds = max(0, time.components.seconds)
    let nanoseconds = time.components.attoseconds / 1_000_000_000
    // A serial queue brings a thread of its own: Dispatch's shared ones may all be blocked.
    DispatchQueue(label: "larder.end", qos: .userInitiated).async {
      var left = timespec(tv_sec: Int(seconds), tv_nsec: Int(max(0, nanoseconds)))
      var rest = timespec()
      while nanosleep(&left, &rest) != 0, errno == EINTR { left = rest }
      StandardStream.error.write(warning, patience: .zero)
      _exit(status)
    }
  }

  /// Starts the program over in the same process, which keeps its number: its supervisor sees
  /// no end. Call it once everything is closed: descriptors are (`O_CLOEXEC`), and what still runs ends
  /// with the program's image (execve(2)).
  ///
  /// - Returns: the system's error; it does not return otherwise.
  package static func startOver() -> Int32 {
    // What is ignored or blocked here would stay so: a signal to end that comes before the next
    // image looks for it must end it.
    for ending in [SIGTERM, SIGINT] { signal(ending, SIG_DFL) }
    var none = sigset_t()
    sigemptyset(&none)
    sigprocmask(SIG_SETMASK, &none, nil)
    // By its path where that is still the same file, so that the process keeps its name.
    let link = "/proc/self/exe"
    if let path = realpath(link, nil) {
      execv(path, CommandLine.unsafeArgv)
      free(path)
    }
    execv(link, CommandLine.unsafeArgv)
    return errno
  }
}

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

/// The pages of programs and libraries that this process has in its memory.
package enum ProgramPages {
  /// Gives them back to the system's cache of files: what only the start has needed stays there, and
  /// the others come back one by one where they are used again.
  ///
  /// Pages that are executable and not writable are as they are on disk (mmap(2): they are private
  /// and were never written to), so nothing can be lost (madvise(2), `MADV_DONTNEED`).
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

  /// The addresses of a line as this one (proc_pid_maps(5)), nil if it is of anything else:
  /// `7f0c8a400000-7f0c8a5d5000 r-xp 00028000 fe:00 1234  /lib/libc.so.6`.
  static func codeRange(_ line: String) -> Range<UInt>? {
    let columns = line.split(separator: " ", omittingEmptySubsequences: true)
    guard columns.count >= 6, columns[1] == "r-xp", columns[5].hasPrefix("/") else { return nil }
    let ends = columns[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
    guard ends.count == 2, 0 < ends[0], ends[0] < ends[1] else { return nil }
    return ends[0]..<ends[1]
  }
}
