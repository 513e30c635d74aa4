import FoundationEssentials
import Logging
import Transport

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

  private let folder: String
  private var path: String { "\(folder)/\(Self.fileName)" }

  init(folder: String) {
    self.folder = folder
  }

  /// Deletes the reserve, so that the database can be opened.
  ///
  /// - Returns: whether there was one.
  func release(logger: Logger) -> Bool {
    guard size > 0 else { return false }
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
    guard size < Self.byteCount, let free = FileSystem.freeBytes(at: folder),
      whatIsLeft || free > 2 * Self.byteCount
    else { return }
    var chance = SystemRandomNumberGenerator()
    FileSystem.pad(path, byBytes: Self.byteCount - size) { chance.next() }
  }

  private var size: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.size] as? Int ?? 0
  }
}
