import FoundationEssentials
import Model
import Storage

/// A copy of a data folder's database, for a start while the folder's file system takes no writes.
///
/// SQLite cannot open a database with a write-ahead log on such a file system, not even to read it.
/// What the service serves from the copy is as it was; nothing is written to it for clients.
struct ReadOnlyCopy {
  private static let names = ["larder.sqlite", "larder.sqlite-wal"]
  private static let prefix = "larder-read-only-"
  /// How long a copy without a process that holds it may still be one that is being made.
  private static let makingMax: TimeInterval = 60

  let path: String

  /// - Throws: ``StartFailure`` where there is no database, or no room for another.
  init(of folder: String) throws(StartFailure) {
    let manager = FileManager.default
    guard manager.fileExists(atPath: "\(folder)/\(Self.names[0])") else {
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder) is on a read-only file system and holds no database yet. "
          + "Mount it writable.")
    }
    guard !Store.isInUse(folder: folder) else {
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder) is read-only for this process, and another one holds it. Stop the "
          + "other one, or mount the folder writable.")
    }
    path = "\(manager.temporaryDirectory.path)/\(Self.prefix)\(RandomName.make())"
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
          + "to \(path) (\(error)). Mount the folder writable, or make room there.")
    }
    // Read-only is the mount, which another process may have beside a writable one.
    guard Self.versions(in: folder) == before else {
      remove()
      throw StartFailure(
        .dataFolder,
        "The data folder \(folder) is read-only for this process, and another one writes to it: "
          + "its database cannot be copied. Stop the other one, or mount the folder writable.")
    }
  }

  /// Sizes and times of the files that are copied.
  private static func versions(in folder: String) -> [String] {
    names.map { name in
      let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
      let modified = attributes?[.modificationDate] as? Date
      return "\(attributes?[.size] as? Int ?? -1) \(modified?.timeIntervalSince1970 ?? 0)"
    }
  }

  /// Removes copies that processes left behind which were killed.
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
