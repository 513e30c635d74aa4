import FoundationEssentials
import GRDB

/// Copies a database as of one moment, while others may write to it.
///
/// The copy is made in a folder beside its place that its owner alone may enter, is checked and
/// synced there, and takes its place whole: by a second name of the file, which no file that is
/// there can be overwritten by. Writers go on; their log is not cut short meanwhile.
struct BackupWriter {
  private static let ownerOnlyFolder = 0o700
  private static let ownerOnlyFile = 0o600

  let databasePath: String
  /// How SQLite opens the database to read it, see ``ReadOnlyDatabase``.
  let parameters: String

  func write(to path: String) throws(BackupError) {
    let manager = FileManager.default
    guard !manager.fileExists(atPath: path) else { throw .exists }
    let workplace = "\(path).partial"
    do {
      try manager.createDirectory(
        atPath: workplace, withIntermediateDirectories: false,
        attributes: [.posixPermissions: Self.ownerOnlyFolder])
    } catch let error as CocoaError where error.code == .fileWriteFileExists {
      throw .exists
    } catch {
      throw .cannotWrite(reason: "\(workplace) cannot be made")
    }
    defer { try? manager.removeItem(atPath: workplace) }
    let copy = "\(workplace)/copy.sqlite"
    guard
      manager.createFile(
        atPath: copy, contents: nil, attributes: [.posixPermissions: Self.ownerOnlyFile])
    else { throw .cannotWrite(reason: "\(copy) cannot be made") }
    do {
      try fill(copy)
      try check(copy)
    } catch {
      throw .failed(StorageError(error))
    }
    try place(copy, at: path)
  }

  private func fill(_ copy: String) throws {
    // An empty file is taken as a new database. A name that began with `file:` would be an address.
    let name = copy.hasPrefix("/") ? copy : "./\(copy)"
    let source = try ReadOnlyDatabase(path: databasePath, parameters: parameters)
    _ = try source.strings("VACUUM INTO \(Quotation.quoted(name, by: "'"))")
  }

  /// A copy that cannot be read back is none. One write of its own has SQLite sync all of it.
  private func check(_ copy: String) throws {
    let queue = try DatabaseQueue(path: copy)
    defer { try? queue.close() }
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = FULL")
      try database.execute(sql: "UPDATE counter SET probes = probes + 1")
      let findings = try String.fetchAll(database, sql: "PRAGMA quick_check(1)")
      guard findings == ["ok"] else {
        throw StorageError.corrupt(findings.first ?? "the copy cannot be checked")
      }
    }
  }

  private func place(_ copy: String, at path: String) throws(BackupError) {
    do {
      try FileManager.default.linkItem(atPath: copy, toPath: path)
    } catch let error as CocoaError where error.code == .fileWriteFileExists {
      throw .exists
    } catch {
      throw .cannotWrite(reason: "\(path) cannot be made")
    }
  }
}
