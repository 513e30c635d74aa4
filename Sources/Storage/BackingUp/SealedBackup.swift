package import Cryptography
import Glibc

/// The encryption of backups: in frames, see ``FrameLayout``.
package struct BackupSealing: Sendable {
  /// Follows the name of an encrypted backup.
  package static let suffix = ".enc"

  let key: SymmetricKey
  let random: @Sendable () -> UInt64

  /// - Parameter random: a new, unguessable number for each call.
  package init(key: SymmetricKey, random: @escaping @Sendable () -> UInt64) {
    self.key = key
    self.random = random
  }
}

/// The reason why an encrypted backup was not decrypted. No partial files remain.
package enum BackupOpeningError: Error, Hashable, Sendable {
  case cannotRead(reason: String)
  /// The file does not begin as an encrypted backup does.
  case notEncrypted
  /// The backup was altered, cut off, or encrypted with another key.
  case notAuthentic
  /// A file with the target's name, or its partial one, exists.
  case exists
  case cannotWrite(reason: String)
}

/// Encrypts and decrypts whole files. All methods block.
package enum SealedBackup {
  /// Frames that are decrypted at once.
  private static let framesAtOnce = 16

  /// Encrypts a file into a new one, which is synced.
  static func seal(
    _ source: String, as target: String, _ sealing: BackupSealing
  ) throws(BackupOpeningError) {
    let plain = try BackupFile(reading: source)
    let sealed = try BackupFile(making: target)
    var frames = FrameSealing(FrameCipher(root: sealing.key, random: sealing.random))
    while true {
      let piece = try plain.read(FrameLayout.frameBytes * framesAtOnce)
      let bytes: [UInt8]
      do throws(AES.GCM.Fault) {
        bytes = piece.isEmpty ? try frames.finish() : try frames.append(piece)
      } catch {
        throw .cannotWrite(reason: "\(target): OpenSSL does not encrypt")
      }
      try sealed.write(bytes)
      if piece.isEmpty { break }
    }
    try sealed.sync()
  }

  /// Decrypts a backup into a new file, readable by its owner alone and published when it is complete.
  package static func open(
    _ source: String, to target: String, key: SymmetricKey
  ) throws(BackupOpeningError) {
    guard access(target, F_OK) != 0 else { throw .exists }
    let sealed = try BackupFile(reading: source)
    guard let cipher = FrameCipher(root: key, header: try sealed.read(FrameLayout.headerBytes))
    else { throw .notEncrypted }
    guard let layout = FrameLayout(sealedBytes: try sealed.byteCount()) else { throw .notAuthentic }
    let partial = "\(target).partial"
    let plain = try BackupFile(making: partial)
    defer { unlink(partial) }
    for first in stride(from: 0, to: layout.frameCount, by: framesAtOnce) {
      let frames = first..<min(first + framesAtOnce, layout.frameCount)
      let bytes = try sealed.read(layout.sealedRange(of: frames).count)
      let text: [UInt8]
      do throws(AES.GCM.Fault) {
        text = try cipher.open(bytes, frames, of: layout)
      } catch {
        throw .notAuthentic
      }
      try plain.write(text)
    }
    try plain.sync()
    guard link(partial, target) == 0 else {
      if errno == EEXIST { throw .exists }
      throw .cannotWrite(reason: "\(target): error \(errno)")
    }
  }
}

/// A file that is read or written from its beginning to its end.
private struct BackupFile: ~Copyable {
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
