import FoundationEssentials
import Model
import Transport

/// A copy of a data folder's database, for a start while the folder's file system takes no writes.
///
/// SQLite cannot open a database with a write-ahead log on such a file system, whoever wants only to
/// read. What the service serves from the copy is as it was; nothing is written to it for clients.
struct ReadOnlyCopy {
  private static let names = ["larder.sqlite", "larder.sqlite-wal"]

  let path: String

  /// Whether the file system of a folder is mounted read-only.
  static func isNeeded(for folder: String) -> Bool { FileSystem.isReadOnly(at: folder) }

  /// - Throws: ``StartFailure`` where there is no database, or no room for another.
  init(of folder: String) throws(StartFailure) {
    let manager = FileManager.default
    guard manager.fileExists(atPath: "\(folder)/\(Self.names[0])") else {
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder) is on a read-only file system and holds no database yet. "
          + "Mount it writable.")
    }
    path = "\(manager.temporaryDirectory.path)/larder-read-only-\(RandomName.make())"
    do {
      // Fails where the name is taken.
      try manager.createDirectory(
        atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder) is on a read-only file system, and no folder for a copy of its "
          + "database can be made in \(manager.temporaryDirectory.path): mount either writable.")
    }
    do {
      for name in Self.names where manager.fileExists(atPath: "\(folder)/\(name)") {
        try manager.copyItem(atPath: "\(folder)/\(name)", toPath: "\(path)/\(name)")
      }
    } catch {
      remove()
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder) is on a read-only file system, and its database cannot be copied "
          + "to \(path) (\(error)). Mount the folder writable, or make room there.")
    }
  }

  func remove() {
    try? FileManager.default.removeItem(atPath: path)
  }
}
