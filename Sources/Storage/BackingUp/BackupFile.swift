import Glibc

/// A file that is read or written from its beginning to its end.
struct BackupFile: ~Copyable {
  private let path: String
  private let descriptor: Int32

  init(reading path: String) throws(BackupOpeningError) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .cannotRead(reason: "\(path): error \(errno)") }
  }

  /// Creates the file, readable by its owner alone.
  init(making path: String) throws(BackupOpeningError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST { throw .exists }
      throw .cannotWrite(reason: "\(path): error \(errno)")
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  borrowing func byteCount() throws(BackupOpeningError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw .cannotRead(reason: "\(path): error \(errno)")
    }
    return Int(status.st_size)
  }

  /// Reads the next `count` bytes; fewer only at the end.
  borrowing func read(_ count: Int) throws(BackupOpeningError) -> [UInt8] {
    var code: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let got = Glibc.read(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled)
        if got < 0, errno == EINTR { continue }
        if got < 0 { code = errno }
        if got <= 0 { break }
        filled += got
      }
    }
    guard code == 0 else { throw .cannotRead(reason: "\(path): error \(code)") }
    return bytes
  }

  borrowing func write(_ bytes: [UInt8]) throws(BackupOpeningError) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.write(descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .cannotWrite(reason: "\(path): error \(errno)") }
      written += count
    }
  }

  borrowing func sync() throws(BackupOpeningError) {
    guard fsync(descriptor) == 0 else { throw .cannotWrite(reason: "\(path): error \(errno)") }
  }
}
