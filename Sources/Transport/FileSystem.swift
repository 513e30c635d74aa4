import Glibc

/// Queries and operations on the file system of a folder.
package enum FileSystem {
  private static let piece = 64 << 10

  /// Returns whether it is mounted read-only (statvfs(3)); false if that is unknown.
  package static func isReadOnly(at folder: String) -> Bool {
    var status = statvfs()
    return statvfs(folder, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
  }

  /// Returns the bytes that an unprivileged process can still write; nil if that is unknown.
  package static func freeBytes(at folder: String) -> Int? {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { return nil }
    let (bytes, isTooMuch) = Int(clamping: status.f_bavail).multipliedReportingOverflow(
      by: Int(clamping: status.f_frsize))
    return isTooMuch ? .max : bytes
  }

  /// Returns the version of a file, or of the one that a link leads to (stat(2)); nil if there is none.
  package static func version(of path: String) -> FileVersion? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return FileVersion(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), byteCount: Int64(status.st_size),
      modified: FileVersion.Moment(status.st_mtim), changed: FileVersion.Moment(status.st_ctim))
  }

  /// Returns the size of the file system in bytes; nil if that is unknown.
  package static func totalBytes(at folder: String) -> Int? {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { return nil }
    let (bytes, isTooMuch) = Int(clamping: status.f_blocks).multipliedReportingOverflow(
      by: Int(clamping: status.f_frsize))
    return isTooMuch ? .max : bytes
  }

  /// Returns the size of a file in bytes; nil if it cannot be read.
  package static func bytes(of path: String) -> Int? {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : nil
  }

  /// Truncates a file to free its disk space.
  ///
  /// - Returns: whether it succeeded.
  package static func empty(_ path: String) -> Bool { truncate(path, 0) == 0 }

  /// Appends random bytes to a file, which is created if missing, as far as there is space.
  package static func pad(_ path: String, byBytes count: Int, from random: () -> UInt64) {
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    var left = count
    var step = piece
    while left > 0, step >= 4096 {
      // Not zeros, for which some file systems allocate no space.
      let bytes = (0..<(min(step, left) + 7) / 8).map { _ in random() }
      let written = bytes.withUnsafeBytes { write(file, $0.baseAddress, min(step, left)) }
      if written > 0 { left -= written } else { step /= 2 }
    }
  }
}

/// What tells one state of a file from another without reading it. A file that was replaced by a rename
/// has another inode; one that was written in place, other times.
package struct FileVersion: Hashable, Sendable {
  struct Moment: Hashable, Sendable {
    let seconds: Int
    let nanoseconds: Int

    init(_ time: timespec) {
      seconds = time.tv_sec
      nanoseconds = time.tv_nsec
    }
  }

  let device: UInt64
  let inode: UInt64
  let byteCount: Int64
  let modified: Moment
  /// Also changes when content or times are set back.
  let changed: Moment
}
