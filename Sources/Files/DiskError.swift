import Glibc

/// A system call on a file that failed, and the error number it left.
struct DiskError: Error, Hashable, CustomStringConvertible {
  let call: String
  let code: Int32

  init(_ call: String, code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  var description: String { "\(call): error \(code)" }

  /// Whether there is no room: the disk's, or what the file system grants this user.
  var isFull: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

  var isAbsent: Bool { code == ENOENT }
}

extension DiskError {
  /// Whether the file system takes no further link: it has none, or the file has as many as can be.
  var isBeyondLinks: Bool {
    code == EMLINK || code == EPERM || code == EXDEV || code == EOPNOTSUPP
  }
}
