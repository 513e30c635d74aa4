import Cryptography
import Glibc
import Synchronization

/// A new file, open for writing. All methods block, and are called one after the other.
///
/// It is closed with its last reference, and is not removed.
final class IncomingFile: Sendable {
  /// Bytes that the kernel moves from one file to another in one call.
  private static let moveBytes = 16 << 20

  private let descriptor: Int32
  private let isEncrypted: Bool
  /// Nil if the content is stored as it is, and after the end of content that is encrypted.
  private let sealing: Mutex<FrameSealing?>

  /// - Parameter cipher: nil to store the content as it is.
  init(making path: String, encrypting cipher: FrameCipher? = nil) throws(DiskError) {
    isEncrypted = cipher != nil
    sealing = Mutex(cipher.map { FrameSealing($0) })
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw DiskError("open") }
  }

  deinit { close(descriptor) }

  func write(_ bytes: [UInt8]) throws(DiskError) {
    guard isEncrypted else { return try store(bytes) }
    let sealed: [UInt8]?
    do throws(AES.GCM.Fault) {
      sealed = try sealing.withLock { sealing throws(AES.GCM.Fault) in
        try sealing?.append(bytes)
      }
    } catch {
      throw DiskError("encrypt", code: EINVAL)
    }
    // Nothing is written after the last frame.
    guard let sealed else { throw DiskError("write", code: EBADF) }
    try store(sealed)
  }

  private func store(_ bytes: [UInt8]) throws(DiskError) {
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

  /// Appends a whole file as it is, copied by the kernel.
  func append(contentsOf path: String) throws(DiskError) {
    precondition(!isEncrypted, "the kernel does not encrypt")
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

  /// Ends encrypted content with its last frame, and syncs the file, so that it survives a power failure.
  func sync() throws(DiskError) {
    let rest: [UInt8]?
    do throws(AES.GCM.Fault) {
      rest = try sealing.withLock { sealing throws(AES.GCM.Fault) in
        defer { sealing = nil }
        return try sealing?.finish()
      }
    } catch {
      throw DiskError("encrypt", code: EINVAL)
    }
    if let rest { try store(rest) }
    guard fsync(descriptor) == 0 else { throw DiskError("fsync") }
  }
}
