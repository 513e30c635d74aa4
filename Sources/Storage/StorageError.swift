/// Why the store could not do what was asked. Reads go on after every one of the write failures.
package enum StorageError: Error, Sendable, Hashable {
  /// Another process holds the data folder: stop it, or name another folder.
  case inUse(folder: String)
  /// The database was written by a newer Larder: run that one.
  case newerSchema(folder: String)
  /// The folder or the database file cannot be made, opened or read.
  case cannotOpen(folder: String, reason: String)
  /// The folder was in use, and its database is missing, empty or without its write-ahead log.
  case noDatabase(folder: String)
  /// The database is not the one that the folder was used with.
  case otherDatabase(folder: String)
  /// The disk is full: nothing was written; the same write may be tried again later.
  case full
  /// The file or its file system does not take writes.
  case readOnly
  /// The file is damaged: restore a backup.
  case corrupt(String)
  /// The file was removed or replaced while the store was open: what is written would be lost.
  case moved
  /// The store has been closed.
  case closed
  /// A query ran longer than its deadline and was stopped: ask for less.
  case tooCostly
  /// Too many queries wait for a connection: ask again later.
  case overloaded
  /// Anything else SQLite reports, with its message and without any stored value.
  case failed(code: Int32, message: String)
}
