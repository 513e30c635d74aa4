import FoundationEssentials
import GRDB

/// The reason why a backup was not made. No partial files remain.
package enum BackupError: Error, Hashable, Sendable {
  /// A file with that name exists, or another backup is being written to it.
  case exists
  /// The backup's folder cannot be written to.
  case cannotWrite(reason: String)
  /// The database cannot be read, or the copy is damaged.
  case failed(StorageError)
}

/// Copies one snapshot of a database while others write to it.
///
/// The copy is written to a temporary folder next to the target (mode 0700), checked and synced there, and
/// published by a hard link, which is atomic and never overwrites an existing file. Writers continue; the
/// write-ahead log is not truncated while the copy is made.
///
/// An encrypted backup is first copied to a folder next to the database, so that nothing leaves the
/// database's own disk unencrypted. Opening the store and the next backup remove what a crash left of both
/// folders, see ``BackupWorkFolder``.
struct BackupWriter {
  private static let ownerOnlyFile = 0o600

  let databasePath: String
  /// Parameters of the `file:` URI that SQLite reads the database with; see ``ReadOnlyDatabase``.
  let parameters: String
  /// Nil for a backup that is a database.
  let sealing: BackupSealing?
  /// Of the copy, and then of the encryption.
  var progress = WorkProgress.ignored

  func write(to path: String) throws(BackupError) {
    let manager = FileManager.default
    guard !manager.fileExists(atPath: path) else { throw .exists }
    guard let work = try BackupWorkFolder.take(path + BackupWorkFolder.suffix) else {
      throw .exists
    }
    defer { work.remove() }
    guard let sealing else {
      let copy = "\(work.path)/\(BackupWorkFolder.filePrefix)"
      try copyDatabase(to: copy)
      return try publish(copy, at: path)
    }
    guard let plainWork = try BackupWorkFolder.take(Self.plainFolder(databasePath)) else {
      throw .cannotWrite(reason: "another encrypted backup is being written")
    }
    defer { plainWork.remove() }
    let plain = "\(plainWork.path)/\(BackupWorkFolder.filePrefix)"
    let sealed = "\(work.path)/\(BackupWorkFolder.filePrefix)\(BackupSealing.suffix)"
    try copyDatabase(to: plain)
    do throws(BackupOpeningError) {
      try SealedBackup.seal(plain, as: sealed, sealing, progress: progress)
    } catch {
      switch error {
      case .cannotRead(let reason), .cannotWrite(let reason): throw .cannotWrite(reason: reason)
      case .notEncrypted, .notAuthentic, .exists: throw .cannotWrite(reason: "\(error)")
      }
    }
    try publish(sealed, at: path)
  }

  /// The folder beside the database in which an encrypted backup is a plain copy at first.
  static func plainFolder(_ databasePath: String) -> String { "\(databasePath).backup" }

  /// Copies the database to a new file, reads the copy back, and syncs it.
  private func copyDatabase(to copy: String) throws(BackupError) {
    guard
      FileManager.default.createFile(
        atPath: copy, contents: nil, attributes: [.posixPermissions: Self.ownerOnlyFile])
    else { throw .cannotWrite(reason: "cannot create \(copy)") }
    do {
      try fill(copy)
      try check(copy)
    } catch {
      throw .failed(StorageError(error))
    }
  }

  private func fill(_ copy: String) throws {
    // SQLite treats an empty file as a new database, and a name that begins with `file:` as a URI.
    let name = copy.hasPrefix("/") ? copy : "./\(copy)"
    let source = try ReadOnlyDatabase(path: databasePath, parameters: parameters)
    let byteCount =
      try source.number("PRAGMA page_count") * source.number("PRAGMA page_size")
    try source.execute("VACUUM INTO \(Quotation.quoted(name, by: "'"))") {
      let attributes = try? FileManager.default.attributesOfItem(atPath: copy)
      progress.report(attributes?[.size] as? Int ?? 0, of: byteCount)
    }
  }

  /// Reads the copy back. One write to it makes SQLite sync the whole file.
  private func check(_ copy: String) throws {
    let queue = try DatabaseQueue(path: copy)
    defer { try? queue.close() }
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = FULL")
      try database.execute(sql: "UPDATE counter SET probes = probes + 1")
      let findings = try String.fetchAll(database, sql: "PRAGMA quick_check(1)")
      guard findings == ["ok"] else {
        throw StorageError.corrupt(findings.first ?? "quick_check of the copy returned no result")
      }
    }
  }

  private func publish(_ copy: String, at path: String) throws(BackupError) {
    do {
      try FileManager.default.linkItem(atPath: copy, toPath: path)
    } catch let error as CocoaError where error.code == .fileWriteFileExists {
      throw .exists
    } catch {
      throw .cannotWrite(reason: "cannot create \(path)")
    }
  }
}
