import FoundationEssentials
import GRDB

/// The folder that holds the database, and the lock that keeps other processes out.
///
/// The lock is an exclusive transaction on a small database of its own, kept open: the kernel
/// drops it with the process, however that ends, and it needs no system call of ours.
struct DataFolder: Sendable {
  static let databaseName = "larder.sqlite"
  static let lockName = "larder.lock"
  /// Longer than ``StoreInspector`` looks at the lock, so that a look never fails a start.
  private static let lockPatienceSeconds = 0.2

  let databasePath: String
  private let lock: DatabaseQueue

  init(path: String) throws(StorageError) {
    databasePath = "\(path)/\(Self.databaseName)"
    let lockPath = "\(path)/\(Self.lockName)"
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try Self.makePrivateFile(databasePath)
      try Self.makePrivateFile(lockPath)
    } catch {
      throw .cannotOpen(folder: path, reason: "\(error)")
    }
    do {
      var configuration = Configuration()
      configuration.allowsUnsafeTransactions = true
      configuration.busyMode = .timeout(Self.lockPatienceSeconds)
      // Without a journal's file: the lock can be had on a full disk, too.
      configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = MEMORY") }
      lock = try DatabaseQueue(path: lockPath, configuration: configuration)
      try lock.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
    } catch {
      if (error as? DatabaseError)?.resultCode == .SQLITE_BUSY { throw .inUse(folder: path) }
      throw .cannotOpen(folder: path, reason: "\(error)")
    }
  }

  func release() {
    try? lock.close()
  }

  /// SQLite gives the log and its index the mode of the database file.
  private static func makePrivateFile(_ path: String) throws {
    guard !FileManager.default.fileExists(atPath: path) else { return }
    guard
      FileManager.default.createFile(
        atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown) }
  }
}
