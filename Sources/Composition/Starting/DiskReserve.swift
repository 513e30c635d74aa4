import FoundationEssentials
import Logging
import Storage
import Transport

/// A file in the data folder that reserves space for a start on a full disk.
///
/// Opening a database writes: the log's index, and a row for the start. On a full disk this fails,
/// although the running service could serve reads. Then the reserve is released, and the space that
/// opening left is reserved again at once, so that writes are still refused and the next start has
/// space too.
struct DiskReserve {
  static let fileName = "larder.reserve"
  /// Ten times the space that opening needs.
  private static let byteCount = 1 << 20

  private let folder: String
  private var path: String { "\(folder)/\(Self.fileName)" }

  init(folder: String) {
    self.folder = folder
  }

  /// Whether the database could not be opened because the disk is full. SQLite reports this in several
  /// ways, because the log's index is a mapped file.
  func mayHelp(against error: StorageError) -> Bool {
    if case .inUse = error { return false }
    return error == .full || FileSystem.freeBytes(at: folder) ?? .max < Self.byteCount / 2
  }

  /// Empties the reserve, so that the database can be opened. Its file stays and marks the folder as
  /// one with a reserve.
  ///
  /// - Returns: whether it was not empty.
  func release(logger: Logger) -> Bool {
    guard size > 0, FileSystem.empty(path) else { return false }
    logger.error(
      "the disk of the data folder is full: reads are served, writes are refused until there is space",
      metadata: ["folder": "\(folder)"])
    return true
  }

  /// Fills the reserve. The first time only if it is a small part of the free space; later with all
  /// free space if necessary, which whatever fills the disk would take otherwise.
  func take() {
    let held = size
    guard held < Self.byteCount, let free = FileSystem.freeBytes(at: folder) else { return }
    guard exists || free > Self.byteCount * 2 else { return }
    var chance = SystemRandomNumberGenerator()
    FileSystem.pad(path, byBytes: Self.byteCount - held) { chance.next() }
  }

  /// Fills the reserve while the service runs, once there is more free space than it needs.
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
