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

  /// Why the disk takes nothing now, though the same call may go through later; nil for all else.
  var passingReason: String? {
    switch code {
    case EROFS: "the file system is read-only"
    case EMFILE, ENFILE: "too many files are open"
    case EIO: "the disk reports an I/O error"
    case EACCES: "the folder of the files may not be written"
    default: nil
    }
  }

  var isAbsent: Bool { code == ENOENT }
}

extension DiskError {
  /// Whether the file system takes no further link: it has none, or the file has as many as can be.
  var isBeyondLinks: Bool {
    code == EMLINK || code == EPERM || code == EXDEV || code == EOPNOTSUPP
  }
}
