import FoundationEssentials
import Logging
import Storage

/// Puts a snapshot that was fetched in the place of a folder's database.
struct DatabasePlacing {
  let folder: String
  let logger: Logger

  /// The path to which a snapshot is fetched.
  var file: String { "\(folder)/larder.snapshot" }

  func noteFetching(position: Int64, byteCount: Int64) {
    logger.notice(
      "fetching a snapshot", metadata: ["position": "\(position)", "bytes": "\(byteCount)"])
  }

  /// Puts the fetched file in the place of the database. The folder must not be open.
  ///
  /// - Parameter ahead: the position of a database with rows that the log has lost, which is kept beside the new one
  ///   as `larder.ahead-POSITION.sqlite`; nil to remove the former database.
  func place(keepingAhead ahead: Int64? = nil) throws(StartFailure) {
    do throws(RestoreError) {
      let aside = "\(folder)/larder.replaced"
      try? FileManager.default.removeItem(atPath: aside)
      let restore = try DatabaseRestore(of: file, into: folder, key: nil)
      _ = try restore.place(replacing: true, aside: aside)
      if let ahead { keep(aside, as: "\(folder)/larder.ahead-\(ahead).sqlite") }
      for path in [file, aside] { try? FileManager.default.removeItem(atPath: path) }
    } catch {
      throw StartFailure(.dataFolder, "The snapshot cannot be put into place: \(error).")
    }
  }

  private func keep(_ aside: String, as kept: String) {
    let manager = FileManager.default
    let names = (try? manager.contentsOfDirectory(atPath: aside)) ?? []
    for name in names {
      let suffix = name.dropFirst(DatabaseRestore.databaseName.count)
      do {
        try? manager.removeItem(atPath: kept + suffix)
        try manager.moveItem(atPath: "\(aside)/\(name)", toPath: kept + suffix)
      } catch {
        logger.error(
          "the former database could not be kept",
          metadata: ["file": "\(name)", "cause": "\(error)"])
      }
    }
    logger.notice("the former database is kept", metadata: ["file": "\(kept)"])
  }
}
