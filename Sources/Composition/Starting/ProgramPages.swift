import FoundationEssentials
import Glibc

/// The pages of programs and libraries that this process has in its memory.
enum ProgramPages {
  /// Gives them back to the system's cache of files, and so what only the start has needed: they
  /// come back one by one where they are used again. A third of what a process at rest would hold.
  ///
  /// Pages that are executable and not writable are as they are on disk (mmap(2): they are private
  /// and were never written to), so nothing can be lost (madvise(2), `MADV_DONTNEED`).
  static func release() {
    guard let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else { return }
    for line in maps.split(separator: "\n") {
      // 7f0c8a400000-7f0c8a5d5000 r-xp 00028000 fe:00 1234  /lib/libc.so.6
      let columns = line.split(separator: " ", omittingEmptySubsequences: true)
      guard columns.count >= 6, columns[1] == "r-xp", columns[5].hasPrefix("/") else { continue }
      let ends = columns[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard ends.count == 2, let start = UnsafeMutableRawPointer(bitPattern: ends[0]) else {
        continue
      }
      _ = madvise(start, Int(ends[1] - ends[0]), MADV_DONTNEED)
    }
  }
}
