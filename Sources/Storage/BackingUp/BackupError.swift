/// Why there is no backup. Nothing of it is left behind.
package enum BackupError: Error, Hashable, Sendable {
  /// There is a file of that name, or another backup is being written to it.
  case exists
  /// The folder does not take it.
  case cannotWrite(reason: String)
  /// What was to be copied cannot be read, or the copy is damaged.
  case failed(StorageError)
}
