import CLinux
import Glibc

/// Opens the listening sockets of an address, one for each loop.
enum BoundSockets {
  /// Returns `count` listening sockets and their bound address. The kernel queues up to `backlog`
  /// connections for each.
  static func open(
    _ address: SocketAddress, count: Int, backlog: Int32 = Listener.backlog
  ) throws(SystemError) -> ([Int32], SocketAddress) {
    var sockets: [Int32] = []
    do throws(SystemError) {
      if case .unix(let path) = address {
        sockets.append(try bindUnix(path, backlog: backlog))
        while sockets.count < count { sockets.append(try duplicate(sockets[0])) }
        return (sockets, address)
      }
      sockets.append(try bindTCP(address, isFirst: true))
      let bound = Socket.localAddress(of: sockets[0]) ?? address
      while sockets.count < count { sockets.append(try bindTCP(bound, isFirst: false)) }
      for socket in sockets { try listen(socket, backlog: backlog) }
      return (sockets, bound)
    } catch {
      for socket in sockets { close(socket) }
      throw error
    }
  }

  private static func bindTCP(
    _ address: SocketAddress, isFirst: Bool
  ) throws(SystemError) -> Int32 {
    let socket = try Socket.open(family: address.family)
    do throws(SystemError) {
      // A server that restarts must not wait for its old connections to leave TIME_WAIT.
      try Socket.set(SO_REUSEADDR, to: 1, on: socket)
      if !isFirst { try Socket.set(SO_REUSEPORT, to: 1, on: socket) }
      try Socket.tuneTCP(socket)
      try Socket.bind(socket, to: address)
      // Other sockets of this process join only now: the first bind without it proves that the address
      // was free.
      if isFirst { try Socket.set(SO_REUSEPORT, to: 1, on: socket) }
      return socket
    } catch {
      close(socket)
      throw error
    }
  }

  /// Replaces a socket file left by a dead server, but no other file.
  private static func bindUnix(_ path: String, backlog: Int32) throws(SystemError) -> Int32 {
    let address = SocketAddress.unix(path: path)
    UnixSocketFile.removeAbandoned(path)
    let socket = try Socket.open(family: AF_UNIX)
    do throws(SystemError) {
      try Socket.bind(socket, to: address)
    } catch {
      close(socket)
      throw error
    }
    do throws(SystemError) {
      guard chmod(path, UnixSocketFile.mode) == 0 else { throw SystemError("chmod") }
      try listen(socket, backlog: backlog)
      return socket
    } catch {
      unlink(path)
      close(socket)
      throw error
    }
  }

  private static func listen(_ socket: Int32, backlog: Int32) throws(SystemError) {
    guard Glibc.listen(socket, backlog) == 0 else { throw SystemError("listen") }
  }

  private static func duplicate(_ socket: Int32) throws(SystemError) -> Int32 {
    let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw SystemError("fcntl") }
    return copy
  }
}

/// The file of a listening Unix socket, owned from `bind` to the end.
struct UnixSocketFile {
  /// For this user and its group, such as a proxy's; connecting requires write permission.
  static let mode: mode_t = 0o660

  private let path: String
  /// Device and inode identify our file, in case another has replaced it.
  private let device: dev_t
  private let inode: ino_t

  /// Creates it for a Unix address; nil for other addresses, or if there is no file.
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

  /// Removes a socket file without a listener, left by a dead server. An ordinary file refuses a
  /// connection as well, so the file type is checked first.
  static func removeAbandoned(_ path: String) {
    guard Socket.isSocketFile(path), let probe = try? Socket.open(family: AF_UNIX) else { return }
    defer { close(probe) }
    let result = SocketAddress.unix(path: path).withSockaddr { connect(probe, $0, $1) }
    if result != 0, errno == ECONNREFUSED { unlink(path) }
  }
}
