import FoundationEssentials
import Glibc
import Logging

/// A file in the data folder that holds room for a start on a full disk.
///
/// Opening a database writes: the log's index, the start's own row. On a disk without any room that
/// fails, though the running service would serve reads there. The reserve is given up then, and what
/// opening left of it is taken back at once, so that writes are refused as they were before and the
/// next start has its room too.
struct DiskReserve {
  static let fileName = "larder.reserve"
  /// What opening takes is a tenth of this.
  private static let byteCount = 1 << 20
  /// What must be free for a start without the reserve.
  private static let neededBytes = 512 << 10
  private static let piece = 64 << 10

  private let folder: String
  private var path: String { "\(folder)/\(Self.fileName)" }

  init(folder: String) {
    self.folder = folder
  }

  /// Gives the reserve up where the disk has too little room to open the database.
  ///
  /// - Returns: whether it did.
  func release(logger: Logger) -> Bool {
    guard let free = freeBytes, free < Self.neededBytes, size > 0 else { return false }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      return false
    }
    logger.error(
      "the disk of the data folder is full: reads are served, writes are refused until there is room",
      metadata: ["folder": "\(folder)"])
    return true
  }

  /// Takes the reserve, unless that would be most of what is free.
  ///
  /// - Parameter whatIsLeft: all that is free, if it is less.
  func take(whatIsLeft: Bool = false) {
    guard size < Self.byteCount, let free = freeBytes, whatIsLeft || free > 2 * Self.byteCount
    else { return }
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    // Not zeros, which some file systems keep nothing for.
    var chance = SystemRandomNumberGenerator()
    var left = Self.byteCount - size
    var step = Self.piece
    while left > 0, step >= 4096 {
      let bytes = (0..<min(step, left) / 8).map { _ in chance.next() }
      let written = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      if written > 0 { left -= written } else { step /= 2 }
    }
  }

  private var size: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.size] as? Int ?? 0
  }

  private var freeBytes: Int? {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { return nil }
    let (bytes, isTooMuch) = Int(clamping: status.f_bavail).multipliedReportingOverflow(
      by: Int(clamping: status.f_frsize))
    return isTooMuch ? .max : bytes
  }
}
