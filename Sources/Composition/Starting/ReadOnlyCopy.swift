import FoundationEssentials
import Model
import Storage

/// A copy of a data folder's database, for a start while the folder's file system is read-only.
///
/// SQLite cannot open a database with a write-ahead log on such a file system, not even for reading.
/// The service serves the copy's state; it writes nothing to it for clients.
struct ReadOnlyCopy {
  private static let names = ["larder.sqlite", "larder.sqlite-wal"]
  private static let prefix = "larder-read-only-"
  /// Age below which a copy that no process holds can still be in the making.
  private static let makingMax: TimeInterval = 60

  let path: String

  /// - Throws: ``StartFailure`` if there is no database, or no space for a copy.
  init(of folder: String) throws(StartFailure) {
    let manager = FileManager.default
    guard manager.fileExists(atPath: "\(folder)/\(Self.names[0])") else {
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder) is on a read-only file system and has no database yet. Mount it "
          + "writable.")
    }
    guard !Store.isInUse(folder: folder) else {
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder) is read-only for this process, and another one holds it. Stop the "
          + "other one, or mount the folder writable.")
    }
    path = "\(manager.temporaryDirectory.path)/\(Self.prefix)\(RandomName.make())"
    do {
      // Fails if the name is taken.
      try manager.createDirectory(
        atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    } catch {
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder) is on a read-only file system, and no folder for a copy of its "
          + "database can be created in \(manager.temporaryDirectory.path). Mount either writable.")
    }
    let before = Self.versions(in: folder)
    do {
      for name in Self.names where manager.fileExists(atPath: "\(folder)/\(name)") {
        try manager.copyItem(atPath: "\(folder)/\(name)", toPath: "\(path)/\(name)")
      }
    } catch {
      remove()
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder) is on a read-only file system, and its database cannot be copied "
          + "to \(path) (\(error)). Mount the folder writable, or free space there.")
    }
    // Only this mount is read-only; another process can have a writable one of the same folder.
    guard Self.versions(in: folder) == before else {
      remove()
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder) is read-only for this process, and another one writes to it: "
          + "its database cannot be copied. Stop the other one, or mount the folder writable.")
    }
  }

  /// Sizes and modification times of the copied files.
  private static func versions(in folder: String) -> [String] {
    names.map { name in
      let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
      let modified = attributes?[.modificationDate] as? Date
      return "\(attributes?[.size] as? Int ?? -1) \(modified?.timeIntervalSince1970 ?? 0)"
    }
  }

  /// Removes copies left by killed processes.
  static func sweep() {
    let manager = FileManager.default
    let parent = manager.temporaryDirectory.path
    for name in (try? manager.contentsOfDirectory(atPath: parent)) ?? []
    where name.hasPrefix(prefix) {
      let copy = "\(parent)/\(name)"
      let times = ([""] + names.map { "/" + $0 }).compactMap {
        try? manager.attributesOfItem(atPath: copy + $0)[.modificationDate] as? Date
      }
      guard let newest = times.max(), newest.timeIntervalSinceNow < -makingMax,
        !Store.isInUse(folder: copy)
      else { continue }
      try? manager.removeItem(atPath: copy)
    }
  }

  func remove() {
    try? FileManager.default.removeItem(atPath: path)
  }
}
