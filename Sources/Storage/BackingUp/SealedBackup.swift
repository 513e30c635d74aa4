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
    _ source: String, as target: String, _ sealing: BackupSealing,
    progress: WorkProgress = .ignored
  ) throws(BackupOpeningError) {
    let plain = try BackupFile(reading: source)
    let sealed = try BackupFile(making: target)
    let byteCount = try plain.byteCount()
    var doneBytes = 0
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
      doneBytes += piece.count
      progress.report(doneBytes, of: byteCount)
      if piece.isEmpty { break }
    }
    try sealed.sync()
  }

  /// Whether a file begins as an encrypted backup does.
  static func isSealed(_ path: String) throws(BackupOpeningError) -> Bool {
    let file = try BackupFile(reading: path)
    return try file.read(FrameLayout.headerBytes).starts(with: FrameCipher.magic)
  }

  /// Decrypts a backup into a new file, readable by its owner alone and published when it is complete.
  package static func open(
    _ source: String, to target: String, key: SymmetricKey, progress: WorkProgress = .ignored
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
      progress.report(frames.upperBound, of: layout.frameCount)
    }
    try plain.sync()
    guard link(partial, target) == 0 else {
      if errno == EEXIST { throw .exists }
      throw .cannotWrite(reason: "\(target): error \(errno)")
    }
  }
}
