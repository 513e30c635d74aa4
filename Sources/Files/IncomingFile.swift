import Glibc

/// A new file, open for writing. All methods block.
///
/// It is closed with its last reference, and is not removed.
final class IncomingFile: Sendable {
  /// Bytes that the kernel moves from one file to another in one call.
  private static let moveBytes = 16 << 20

  private let descriptor: Int32

  init(making path: String) throws(DiskError) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw DiskError("open") }
  }

  deinit { close(descriptor) }

  func write(_ bytes: [UInt8]) throws(DiskError) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.write(
          descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw DiskError("write") }
      written += count
    }
  }

  /// Appends a whole file, copied by the kernel.
  func append(contentsOf path: String) throws(DiskError) {
    let source = open(path, O_RDONLY | O_CLOEXEC)
    guard source >= 0 else { throw DiskError("open") }
    defer { close(source) }
    while true {
      let count = sendfile(descriptor, source, nil, Self.moveBytes)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw DiskError("sendfile") }
      if count == 0 { return }
    }
  }

  /// Syncs the content, so that it survives a power failure.
  func sync() throws(DiskError) {
    guard fsync(descriptor) == 0 else { throw DiskError("fsync") }
  }
}
