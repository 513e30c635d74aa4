import Glibc

/// What the file system of a folder has and takes.
package enum FileSystem {
  private static let piece = 64 << 10

  /// Whether it is mounted read-only (statvfs(3)); false where that cannot be told.
  package static func isReadOnly(at folder: String) -> Bool {
    var status = statvfs()
    return statvfs(folder, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
  }

  /// Bytes that a process without privileges can still write; nil where that cannot be told.
  package static func freeBytes(at folder: String) -> Int? {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { return nil }
    let (bytes, isTooMuch) = Int(clamping: status.f_bavail).multipliedReportingOverflow(
      by: Int(clamping: status.f_frsize))
    return isTooMuch ? .max : bytes
  }

  /// Gives the content of a file back to the disk.
  ///
  /// - Returns: whether it could be.
  package static func empty(_ path: String) -> Bool { truncate(path, 0) == 0 }

  /// Appends bytes without meaning to a file, which is made if missing, as many as there is room for.
  package static func pad(_ path: String, byBytes count: Int, from random: () -> UInt64) {
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    var left = count
    var step = piece
    while left > 0, step >= 4096 {
      // Not zeros, which some file systems keep nothing for.
      let bytes = (0..<(min(step, left) + 7) / 8).map { _ in random() }
      let written = bytes.withUnsafeBytes { write(file, $0.baseAddress, min(step, left)) }
      if written > 0 { left -= written } else { step /= 2 }
    }
  }
}
