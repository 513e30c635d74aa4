import FoundationEssentials
import GRDB
import Synchronization

/// The folder that holds the database, and the lock that keeps other processes out.
///
/// The lock is an exclusive transaction on a small separate database that is kept open: the kernel
/// releases it with the process, however that ends, and it needs no system call of ours.
struct StoreFolderLock: Sendable {
  static let databaseName = "larder.sqlite"
  static let lockName = "larder.lock"
  /// Longer than ``StoreInspector`` holds the lock, so that an inspection never fails a start.
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
      // Without a journal file, so that the lock can be acquired on a full disk.
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

  /// Creates an empty file with mode 0600. SQLite gives the log and its index the mode of the
  /// database file.
  private static func makePrivateFile(_ path: String) throws {
    guard !FileManager.default.fileExists(atPath: path) else { return }
    guard
      FileManager.default.createFile(
        atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown) }
  }
}

/// Records the first error since opening that shows that the database file is damaged or missing, and
/// counts the writes that a full disk refused.
final class StoreDamage: Sendable {
  private struct State {
    var found: StorageError?
    var fullCount = 0
    var observer: (@Sendable (StorageError) -> Void)?
  }

  private let state = Mutex(State())

  /// The first such error; a restart forgets it.
  var found: StorageError? { state.withLock { $0.found } }

  /// The number of failures by a full disk since opening.
  var fullCount: Int { state.withLock { $0.fullCount } }

  /// Registers an observer.
  ///
  /// - Parameter observer: called once; immediately if damage was already found.
  func observe(_ observer: @escaping @Sendable (StorageError) -> Void) {
    let found = state.withLock { state in
      state.observer = observer
      return state.found
    }
    if let found { observer(found) }
  }

  func note(_ error: StorageError) {
    switch error {
    case .corrupt, .moved: break
    case .full:
      state.withLock { $0.fullCount += 1 }
      return
    default: return
    }
    let observer = state.withLock { state in
      guard state.found == nil else { return nil as (@Sendable (StorageError) -> Void)? }
      state.found = error
      return state.observer
    }
    observer?(error)
  }
}
