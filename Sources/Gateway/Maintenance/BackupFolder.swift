package import Model
package import Storage
import Synchronization

/// The folder for online backups; only one is written at a time.
package final class BackupFolder: Sendable {
  package struct Written: Sendable {
    package let name: String
    /// The file's path relative to the data folder.
    package let place: String
  }

  /// A file in the folder.
  package struct Found: Sendable {
    package let file: String
    package let bytes: Int
    package let modified: Timestamp

    package init(file: String, bytes: Int, modified: Timestamp) {
      self.file = file
      self.bytes = bytes
      self.modified = modified
    }
  }

  /// A backup that was written completely.
  package struct Backup: Sendable {
    package let name: String
    /// The file's path relative to the data folder.
    package let place: String
    package let bytes: Int
    package let written: Timestamp
    package let isEncrypted: Bool
  }

  private static let suffix = ".sqlite"
  static let folderName = "backups"
  private static let nameBytesMax = 100

  private let store: Store
  private let path: String
  /// Nil for backups that are not encrypted.
  private let sealing: BackupSealing?
  /// Creates the folder if missing; returns false on failure.
  private let makeFolder: @Sendable (_ path: String) -> Bool
  private let makeName: @Sendable () -> String
  /// Lists the files of the folder; empty without one.
  private let files: @Sendable (_ path: String) async -> [Found]
  private let isWriting = Atomic(false)

  /// - Parameters:
  ///   - dataFolder: the parent folder.
  ///   - sealing: encrypts the backups; nil to keep them as databases.
  ///   - makeName: makes a name for a backup without one.
  ///   - files: lists the files of a folder.
  package init(
    store: Store, dataFolder: String, sealing: BackupSealing? = nil,
    makeFolder: @escaping @Sendable (_ path: String) -> Bool,
    makeName: @escaping @Sendable () -> String,
    files: @escaping @Sendable (_ path: String) async -> [Found]
  ) {
    self.store = store
    self.sealing = sealing
    path = "\(dataFolder)/\(Self.folderName)"
    self.makeFolder = makeFolder
    self.makeName = makeName
    self.files = files
  }

  /// Returns the backups, newest first.
  package func backups() async -> [Backup] {
    await files(path).compactMap { found in
      let sealed = Self.suffix + BackupSealing.suffix
      let isEncrypted = found.file.hasSuffix(sealed)
      guard isEncrypted || found.file.hasSuffix(Self.suffix) else { return nil }
      let name = String(found.file.dropLast(isEncrypted ? sealed.count : Self.suffix.count))
      guard Self.isName(name) else { return nil }
      return Backup(
        name: name, place: "\(Self.folderName)/\(found.file)", bytes: found.bytes,
        written: found.modified, isEncrypted: isEncrypted)
    }.sorted { ($0.written, $0.name) > ($1.written, $1.name) }
  }

  /// Removes what crashes left of earlier backups. Blocks; call it at the start.
  package func removeLeftovers() {
    Store.removeBackupLeftovers(in: path)
  }

  /// Copies the current database into a new file of the folder.
  package func write(name: String?) async throws(Failure) -> Written {
    let name = name ?? makeName()
    guard Self.isName(name) else {
      throw Failure(
        .malformedRequest, "The backup name is invalid.",
        details: [
          Failure.Detail(
            place: .pointer("/name"),
            detail:
              "must be 1 to \(Self.nameBytesMax) letters, digits, dots, hyphens or underscores, "
              + "starting with a letter or digit")
        ])
    }
    guard !isWriting.exchange(true, ordering: .acquiring) else {
      throw Failure(
        .overloaded, "Another backup is in progress; retry later.", retry: .after,
        retryAfter: .seconds(5))
    }
    defer { isWriting.store(false, ordering: .releasing) }
    guard makeFolder(path) else {
      throw Self.failure(.cannotWrite(reason: "the folder \(path) cannot be created"), of: name)
    }
    let file = "\(name)\(Self.suffix)\(sealing == nil ? "" : BackupSealing.suffix)"
    do throws(BackupError) {
      try await store.backUp(to: "\(path)/\(file)", sealing: sealing)
    } catch {
      throw Self.failure(error, of: file)
    }
    return Written(name: name, place: "\(Self.folderName)/\(file)")
  }

  /// Whether the name is a single path component that is not hidden and does not leave the folder.
  private static func isName(_ name: String) -> Bool {
    guard 1...nameBytesMax ~= name.utf8.count, name.utf8.first != UInt8(ascii: "."),
      name.utf8.first != UInt8(ascii: "-"), name.utf8.first != UInt8(ascii: "_")
    else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }

  /// - Returns: a failure whose cause, which only operators learn, names the backup.
  private static func failure(_ error: BackupError, of file: String) -> Failure {
    switch error {
    case .exists:
      Failure(.alreadyExists, "A backup with this name already exists.")
    case .cannotWrite(let reason):
      Failure(
        .storageUnavailable, "The backup cannot be written.", retry: .after,
        retryAfter: .seconds(60), cause: "backup \(file): \(reason)")
    case .failed(let cause):
      Failure(
        .storageUnavailable, "The backup cannot be written.", retry: .after,
        retryAfter: .seconds(60), cause: "backup \(file): \(cause)")
    }
  }
}
