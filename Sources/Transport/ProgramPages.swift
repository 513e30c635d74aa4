import Glibc

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
