import GRDB

extension StorageError {
  /// SQLITE_IOERR_WRITE, _FSYNC, _DIR_FSYNC and _TRUNCATE: the file system takes no writes.
  private static let writeFailures: Set<Int32> = [778, 1_034, 1_290, 1_546]

  /// Any error met on a connection. SQL and bound values are left out.
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
