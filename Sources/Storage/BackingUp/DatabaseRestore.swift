package import Cryptography
import FoundationEssentials
import GRDB
import Glibc

/// The reason why a backup was not restored. The database of the folder is as it was.
package enum RestoreError: Error, Hashable, Sendable {
  /// The backup is encrypted, and there is no key.
  case needsKey
  /// The backup was altered, cut off, or encrypted with another key.
  case notAuthentic
  case cannotRead(reason: String)
  /// The file is no database of Larder.
  case notADatabase
  /// The file is a database with a write-ahead log beside it: alone it is not complete.
  case hasLog
  /// The problems that SQLite's integrity check found.
  case damaged([String])
  case newerSchema
  /// A process uses the data folder.
  case inUse
  /// The data folder has a database, which was not to be replaced.
  case hasDatabase
  /// Another restore writes to the folder.
  case underWay
  case cannotWrite(reason: String)
}

/// A backup that was copied into a data folder and verified there, but does not yet take the place of the
/// folder's database.
///
/// The copy is in a locked work folder beside the database, so that a rename puts it into place. A crash
/// before that leaves the database as it was, and the next start removes the work folder. A crash between
/// the first and the last step of ``place(replacing:aside:)`` leaves a folder that no service starts on,
/// because its marker names the restored database: run the restore again.
///
/// Call ``place(replacing:aside:)`` or ``discard()`` exactly once.
package struct DatabaseRestore: Sendable {
  /// The names of a database's files, the database first.
  private static let suffixes = ["", "-wal", "-shm"]

  /// The name of a data folder's database.
  package static var databaseName: String { StoreFolderLock.databaseName }

  package let inspection: StoreInspection
  package let marker: StoreMarker?
  private let work: BackupWorkFolder
  private let folder: String
  private var copy: String { Self.copy(in: work) }
  private var databasePath: String { "\(folder)/\(StoreFolderLock.databaseName)" }

  static func workFolder(_ databasePath: String) -> String { "\(databasePath).restore" }

  private static func copy(in work: BackupWorkFolder) -> String {
    "\(work.path)/\(BackupWorkFolder.filePrefix)"
  }

  /// Copies a backup into an existing data folder, decrypts it if it is encrypted, and verifies it. Blocks.
  ///
  /// - Parameter key: of encrypted backups; nil if there is none.
  package init(
    of backup: String, into folder: String, key: SymmetricKey?, progress: WorkProgress = .ignored
  ) throws(RestoreError) {
    self.folder = folder
    let source = StoreInspector(
      folder: Self.parent(of: backup), databaseName: Self.name(of: backup))
    guard !source.hasLog else { throw .hasLog }
    do throws(BackupError) {
      let path = Self.workFolder("\(folder)/\(StoreFolderLock.databaseName)")
      guard let taken = try BackupWorkFolder.take(path) else { throw BackupError.exists }
      work = taken
    } catch {
      switch error {
      case .exists: throw .underWay
      case .cannotWrite(let reason): throw .cannotWrite(reason: reason)
      case .failed(let cause): throw .cannotWrite(reason: "\(cause)")
      }
    }
    do throws(RestoreError) {
      try Self.fill(Self.copy(in: work), from: backup, key: key, progress: progress)
      (inspection, marker) = try Self.verified(in: work)
    } catch {
      work.remove()
      throw error
    }
  }

  /// Puts the copy into the place of the folder's database, on disk when it returns.
  ///
  /// - Parameters:
  ///   - replacing: whether a database that the folder has may be replaced.
  ///   - aside: the path of a folder to make, which the replaced files are moved to.
  /// - Returns: whether files were moved.
  package func place(
    replacing: Bool, aside: String
  ) throws(RestoreError) -> Bool {
    defer { work.remove() }
    let lock: StoreFolderLock
    do throws(StorageError) {
      lock = try StoreFolderLock(path: folder)
    } catch {
      if case .inUse = error { throw .inUse }
      throw .cannotWrite(reason: "\(error)")
    }
    defer { lock.release() }
    let hasDatabase = StoreInspector(folder: folder).hasDatabase
    guard !hasDatabase || replacing else { throw .hasDatabase }
    if hasDatabase {
      try Self.check(mkdir(aside, 0o700), "cannot make the folder \(aside)")
    }
    let former = FileManager.default.contents(atPath: markerPath)
    do throws(RestoreError) {
      try exchange(aside: hasDatabase ? aside : nil)
    } catch {
      undo(aside: aside, marker: former)
      throw error
    }
    return hasDatabase
  }

  /// - Parameter aside: nil to remove the present files, which hold nothing.
  private func exchange(aside: String?) throws(RestoreError) {
    // From here on no service starts before the last step is done.
    try write(marker: marker?.folder ?? Self.noFolder)
    for suffix in Self.suffixes {
      let path = databasePath + suffix
      guard access(path, F_OK) == 0 else { continue }
      if let aside {
        let name = StoreFolderLock.databaseName + suffix
        try Self.check(rename(path, "\(aside)/\(name)"), "cannot move \(path)")
      } else {
        try Self.check(unlink(path), "cannot remove \(path)")
      }
    }
    if let aside { try Self.sync(folder: aside) }
    try Self.check(rename(copy, databasePath), "cannot write \(databasePath)")
    try Self.sync(folder: folder)
    if marker == nil {
      try Self.check(unlink(markerPath), "cannot remove \(markerPath)")
      try Self.sync(folder: folder)
    }
  }

  /// Moves the replaced files back, as far as that succeeds, after a step of the exchange failed.
  private func undo(aside: String, marker: Data?) {
    for suffix in Self.suffixes {
      let moved = "\(aside)/\(StoreFolderLock.databaseName)\(suffix)"
      if access(moved, F_OK) == 0 { rename(moved, databasePath + suffix) }
    }
    rmdir(aside)
    if let marker {
      try? write(marker: String(decoding: marker.prefix { $0 != 10 }, as: UTF8.self))
    } else {
      unlink(markerPath)
    }
  }

  /// Removes the copy. The folder is as it was.
  package func discard() { work.remove() }

  /// Stands in the folder's marker while a database without a marker is put into place.
  private static let noFolder = "restoring"

  private var markerPath: String { "\(folder)/\(Self.markerFileName)" }

  /// Writes the folder's marker, on disk when it returns.
  private func write(marker name: String) throws(RestoreError) {
    let fresh = "\(markerPath).new"
    unlink(fresh)
    do throws(BackupOpeningError) {
      let file = try BackupFile(making: fresh)
      try file.write(Array("\(name)\n".utf8))
      try file.sync()
    } catch {
      throw .cannotWrite(reason: "\(fresh): \(error)")
    }
    try Self.check(rename(fresh, markerPath), "cannot write \(markerPath)")
    try Self.sync(folder: folder)
  }

  /// The name of the file beside the database that repeats the name in its marker.
  package static let markerFileName = "larder.id"

  // MARK: Copying and verifying

  /// Bytes that are copied at once.
  private static let pieceBytes = 1 << 20

  private static func fill(
    _ copy: String, from backup: String, key: SymmetricKey?, progress: WorkProgress
  ) throws(RestoreError) {
    var status = stat()
    // Reading a pipe could wait forever.
    if stat(backup, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw .cannotRead(reason: "it is not a regular file")
    }
    do throws(BackupOpeningError) {
      if try SealedBackup.isSealed(backup) {
        guard let key else { throw BackupOpeningError.notEncrypted }
        return try SealedBackup.open(backup, to: copy, key: key, progress: progress)
      }
      let source = try BackupFile(reading: backup)
      let target = try BackupFile(making: copy)
      let byteCount = try source.byteCount()
      var doneBytes = 0
      while true {
        let piece = try source.read(pieceBytes)
        if piece.isEmpty { break }
        try target.write(piece)
        doneBytes += piece.count
        progress.report(doneBytes, of: byteCount)
      }
      try target.sync()
    } catch {
      switch error {
      case .cannotRead(let reason): throw .cannotRead(reason: reason)
      case .notEncrypted: throw .needsKey
      case .notAuthentic: throw .notAuthentic
      case .exists: throw .underWay
      case .cannotWrite(let reason): throw .cannotWrite(reason: reason)
      }
    }
  }

  /// Reads every page of the copy, and compares its indexes with its tables.
  private static func verified(
    in work: BackupWorkFolder
  ) throws(RestoreError) -> (StoreInspection, StoreMarker?) {
    let inspector = StoreInspector(
      folder: work.path, isDeep: true, databaseName: BackupWorkFolder.filePrefix)
    let found: StoreInspection
    let marker: StoreMarker?
    do {
      guard try inspector.isDatabaseOfLarder() else { throw RestoreError.notADatabase }
      found = try inspector.inspect()
      marker = found.problems.isEmpty ? try inspector.marker() : nil
    } catch let error as RestoreError {
      throw error
    } catch let error as DatabaseError where error.resultCode == .SQLITE_NOTADB {
      throw .notADatabase
    } catch {
      throw .damaged(["\(error)"])
    }
    guard found.problems.isEmpty else { throw .damaged(found.problems) }
    guard !found.isNewerSchema else { throw .newerSchema }
    return (found, marker)
  }

  // MARK: Files

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func name(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }

  private static func check(_ result: Int32, _ action: String) throws(RestoreError) {
    guard result == 0 else { throw .cannotWrite(reason: "\(action) (error \(errno))") }
  }

  private static func sync(folder: String) throws(RestoreError) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .cannotWrite(reason: "cannot open \(folder) (error \(errno))")
    }
    defer { close(descriptor) }
    try check(fsync(descriptor), "cannot sync \(folder)")
  }
}
