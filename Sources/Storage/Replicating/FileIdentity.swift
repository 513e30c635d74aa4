import Glibc

/// Which file a path names: the same for as long as the file is there, and another one for each copy of it.
package struct FileIdentity: Hashable, Sendable {
  /// The number of the file system (`stat(2)`).
  package let device: UInt64
  /// The number of the file in it.
  package let inode: UInt64

  /// Nil if there is no such file, or it cannot be looked at.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}
