import GRDB

/// An error of the store. Reads keep working after every one of the write failures.
package enum StorageError: Error, Sendable, Hashable {
  /// Another process holds the data folder: stop it, or name another folder.
  case inUse(folder: String)
  /// The database was written by a newer Larder: run that one.
  case newerSchema(folder: String)
  /// The folder or the database file cannot be created, opened or read.
  case cannotOpen(folder: String, reason: String)
  /// The folder was in use, and its database is missing, empty or without its write-ahead log.
  case noDatabase(folder: String)
  /// The database is not the one that the folder was used with.
  case otherDatabase(folder: String)
  /// The disk is full: nothing was written; the same write can be retried later.
  case full
  /// The file or its file system does not take writes.
  case readOnly
  /// The file is damaged: restore a backup.
  case corrupt(String)
  /// The file was removed or replaced while the store was open: writes would be lost.
  case moved
  /// The store is a replica's, or another node has become the leader: nothing was written.
  case notLeader
  /// The log of the cluster cannot be reached; nothing was written.
  case logUnavailable(String)
  /// It is unknown whether the write reached the log of the cluster. No further write is taken before the end of
  /// the log has been read.
  case logInDoubt(String)
  /// A replica's database is not what the log says, and must be replaced by a snapshot.
  case diverged(String)
  /// A replica's database has the tables of another version of Larder, or of other operations, than this node:
  /// it can be read only by nodes with those.
  case otherTables(String)
  /// The database is that of a node of a cluster, and was to be opened as a single machine's.
  case inCluster
  /// The store has been closed.
  case closed
  /// A query ran longer than its deadline and was stopped: ask for less.
  case tooCostly
  /// Too many queries are waiting for a connection: retry later.
  case overloaded
  /// Anything else SQLite reports, with its message and without any stored value.
  case failed(code: Int32, message: String)
}

extension StorageError {
  /// SQLITE_IOERR_WRITE, _FSYNC, _DIR_FSYNC and _TRUNCATE: the file system takes no writes.
  private static let writeFailures: Set<Int32> = [778, 1_034, 1_290, 1_546]

  /// Converts any error of a connection. SQL and bound values are left out.
  init(_ error: any Error) {
    if let own = error as? StorageError {
      self = own
      return
    }
    guard let error = error as? DatabaseError else {
      self = .failed(code: 0, message: "\(type(of: error))")
      return
    }
    switch error.resultCode {
    case .SQLITE_FULL: self = .full
    case .SQLITE_INTERRUPT: self = .tooCostly
    case .SQLITE_READONLY: self = .readOnly
    case .SQLITE_IOERR where Self.writeFailures.contains(error.extendedResultCode.rawValue):
      self = .readOnly
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .corrupt(error.message ?? "")
    case .SQLITE_MISUSE where error.message == "Connection is closed": self = .closed
    default:
      self = .failed(code: error.extendedResultCode.rawValue, message: error.message ?? "")
    }
  }
}

extension StorageError {
  /// Converts an error during opening: SQLite's message becomes the reason, next to the folder.
  init(opening error: any Error, folder: String) {
    switch StorageError(error) {
    case .failed(_, let message): self = .cannotOpen(folder: folder, reason: message)
    case let known: self = known
    }
  }
}

extension StorageError {
  init(_ error: CommitLogError) {
    switch error {
    case .unavailable(let reason): self = .logUnavailable(reason)
    case .notLeader: self = .notLeader
    case .inDoubt(let reason): self = .logInDoubt(reason)
    }
  }

  /// Whether the store must write nothing more until it has been opened again.
  var endsLeading: Bool {
    switch self {
    case .notLeader, .logInDoubt: true
    default: false
    }
  }
}
