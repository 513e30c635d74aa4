import Glibc

/// The files of a database that is not open.
enum DatabaseFiles {
  private static let suffixes = ["", "-wal", "-shm", "-journal"]

  /// Removes them, as far as they are there.
  static func remove(_ path: String) {
    for suffix in suffixes { unlink(path + suffix) }
  }
}
