import FoundationEssentials
import Logging
import Storage
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

  /// Whether the database could not be opened for want of room. SQLite tells of that in several ways:
  /// the log's index is a file that is mapped.
  func mayHelp(against error: StorageError) -> Bool {
    if case .inUse = error { return false }
    return error == .full || FileSystem.freeBytes(at: folder) ?? .max < Self.byteCount / 2
  }

  /// Empties the reserve, so that the database can be opened. Its file stays, as a sign that there was
  /// one.
  ///
  /// - Returns: whether it held anything.
  func release(logger: Logger) -> Bool {
    guard size > 0, FileSystem.empty(path) else { return false }
    logger.error(
      "the disk of the data folder is full: reads are served, writes are refused until there is room",
      metadata: ["folder": "\(folder)"])
    return true
  }

  /// Takes what is missing of the reserve: at first only where that is little of what is free; later
  /// all that is free, if need be: what fills a disk does not spare it.
  func take() {
    let held = size
    guard held < Self.byteCount, let free = FileSystem.freeBytes(at: folder) else { return }
    guard exists || free > Self.byteCount * 2 else { return }
    var chance = SystemRandomNumberGenerator()
    FileSystem.pad(path, byBytes: Self.byteCount - held) { chance.next() }
  }

  /// Takes what is missing of the reserve while the service runs, once there is room for more than
  /// that.
  func restore() {
    guard let free = FileSystem.freeBytes(at: folder), free > Self.byteCount * 2 else { return }
    take()
  }

  private var exists: Bool { FileManager.default.fileExists(atPath: path) }

  private var size: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.size] as? Int ?? 0
  }
}
