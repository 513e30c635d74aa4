import CLinux
import Glibc

/// The file of a listening Unix socket: ours from `bind` to the end.
struct UnixSocketFile {
  /// For this user and its group, such as a proxy's; connecting takes the right to write.
  static let mode: mode_t = 0o660

  private let path: String
  /// What tells our file from another that has taken its place.
  private let device: dev_t
  private let inode: ino_t

  /// Nil for other addresses, or if nothing is there.
  init?(at address: SocketAddress) {
    var status = stat()
    guard case .unix(let path) = address, lstat(path, &status) == 0 else { return nil }
    self.path = path
    device = status.st_dev
    inode = status.st_ino
  }

  func remove() {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
    unlink(path)
  }

  /// Removes what a dead server left: a socket that nobody listens on. An ordinary file refuses a
  /// connection as well, so what it is counts first.
  static func removeAbandoned(_ path: String) {
    guard Socket.isSocketFile(path), let probe = try? Socket.open(family: AF_UNIX) else { return }
    defer { close(probe) }
    let result = SocketAddress.unix(path: path).withSockaddr { connect(probe, $0, $1) }
    if result != 0, errno == ECONNREFUSED { unlink(path) }
  }
}
