import CLinux
import Glibc

/// The socket calls in use, with their flags, each returning a typed error.
enum Socket {
  /// A keep-alive probe after this much silence, then at this interval, so often (tcp(7)).
  static let keepAliveIdleSeconds: Int32 = 60
  static let keepAliveIntervalSeconds: Int32 = 10
  static let keepAliveProbes: Int32 = 6
  /// How long sent bytes may stay unacknowledged before the kernel gives the connection up.
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

  /// No waiting for full segments (writes are gathered already), and dead peers are found. On
  /// Linux an accepted socket inherits all of these from its listener.
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

  /// Takes the next connection; nil when none waits (or the one that did is gone already).
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
      // ECONNABORTED and network errors of the new socket are its own business (accept(2)).
      case EINTR, ECONNABORTED, EPROTO, ENETDOWN, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH: continue
      // EINVAL: shut down, and nobody is left.
      case EAGAIN, EINVAL: return nil
      default: throw SystemError("accept4")
      }
    }
  }

  /// Whether a connection waits to be accepted.
  static func hasConnectionWaiting(_ listener: Int32) -> Bool {
    var request = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 0) == 1
  }

  /// The error a non-blocking connect ended with, 0 when it succeeded.
  static func pendingError(of descriptor: Int32) -> Int32 {
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else { return errno }
    return code
  }

  /// Bytes written that the peer's kernel has not confirmed (SIOCOUTQ, tcp(7)); of a Unix socket,
  /// the memory of what the peer has not read.
  static func unacknowledgedBytes(of descriptor: Int32) -> Int {
    var count: Int32 = 0
    guard ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 else { return 0 }
    return Int(count)
  }

  static func isSocketFile(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  /// Has `close` send a reset and drop what is unsent.
  static func closeResets(_ descriptor: Int32) {
    var value = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
  }
}
