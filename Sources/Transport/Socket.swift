import CLinux
import Glibc

/// Wrappers of the socket calls in use, with their flags and typed errors.
enum Socket {
  /// Keep-alive: the idle time before the first probe, the interval, and the number of probes (tcp(7)).
  static let keepAliveIdleSeconds: Int32 = 60
  static let keepAliveIntervalSeconds: Int32 = 10
  static let keepAliveProbes: Int32 = 6
  /// How long sent bytes can stay unacknowledged before the kernel drops the connection.
  static let userTimeoutMilliseconds: Int32 = 30_000

  static func open(family: Int32) throws(SystemError) -> Int32 {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(family, type, 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    return descriptor
  }

  static func set(
    _ option: Int32, level: Int32 = SOL_SOCKET, to value: Int32, on descriptor: Int32
  ) throws(SystemError) {
    var value = value
    let size = socklen_t(MemoryLayout<Int32>.size)
    guard setsockopt(descriptor, level, option, &value, size) == 0 else {
      throw SystemError("setsockopt")
    }
  }

  /// Disables waiting for full segments (writes are combined already), and enables detection of dead
  /// peers. On Linux an accepted socket inherits all of these from its listener.
  static func tuneTCP(_ descriptor: Int32) throws(SystemError) {
    let tcp = Int32(IPPROTO_TCP)
    try set(TCP_NODELAY, level: tcp, to: 1, on: descriptor)
    try set(SO_KEEPALIVE, to: 1, on: descriptor)
    try set(TCP_KEEPIDLE, level: tcp, to: keepAliveIdleSeconds, on: descriptor)
    try set(TCP_KEEPINTVL, level: tcp, to: keepAliveIntervalSeconds, on: descriptor)
    try set(TCP_KEEPCNT, level: tcp, to: keepAliveProbes, on: descriptor)
    try set(TCP_USER_TIMEOUT, level: tcp, to: userTimeoutMilliseconds, on: descriptor)
  }

  static func bind(_ descriptor: Int32, to address: SocketAddress) throws(SystemError) {
    let result = address.withSockaddr { Glibc.bind(descriptor, $0, $1) }
    guard let result else { throw SystemError("bind", code: ENAMETOOLONG) }
    guard result == 0 else { throw SystemError("bind") }
  }

  static func localAddress(of descriptor: Int32) -> SocketAddress? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(descriptor, $0, &length)
      }
    }
    guard result == 0 else { return nil }
    return SocketAddress(&storage, length: length)
  }

  /// Accepts the next connection; nil if none waits (or it has already closed).
  static func accept(
    from listener: Int32
  ) throws(SystemError) -> (descriptor: Int32, address: SocketAddress)? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    while true {
      let descriptor = withUnsafeMutablePointer(to: &storage) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          accept4(listener, $0, &length, flags)
        }
      }
      if descriptor >= 0 {
        let address = SocketAddress(&storage, length: length) ?? .unix(path: "")
        return (descriptor, address)
      }
      switch errno {
      // ECONNABORTED and network errors concern only the new socket (accept(2)).
      case EINTR, ECONNABORTED, EPROTO, ENETDOWN, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH: continue
      // EINVAL: shut down, and no connection is left.
      case EAGAIN, EINVAL: return nil
      default: throw SystemError("accept4")
      }
    }
  }

  /// Returns whether a connection waits to be accepted.
  static func hasConnectionWaiting(_ listener: Int32) -> Bool {
    var request = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 0) == 1
  }

  /// Returns the error of a non-blocking connect, 0 on success.
  static func pendingError(of descriptor: Int32) -> Int32 {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else { return errno }
    return code
  }

  /// Returns the bytes written that the peer's kernel has not acknowledged (SIOCOUTQ, tcp(7)); for a Unix
  /// socket, the memory used by unread bytes.
  static func unacknowledgedBytes(of descriptor: Int32) -> Int {
    var count: Int32 = 0
    guard ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 else { return 0 }
    return Int(count)
  }

  static func isSocketFile(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  /// Makes `close` send a reset and drop unsent bytes.
  static func closeResets(_ descriptor: Int32) {
    var value = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
  }
}
