import Glibc

@testable import Transport

/// A blocking socket of the test's own, to play peers that do not behave. Calls are bounded by a
/// receive and send timeout of five seconds.
final class RawPeer {
  let descriptor: Int32

  init(connectedTo port: UInt16, receiveBufferBytes: Int32? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw TestFailure("socket") }
    if var bytes = receiveBufferBytes {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, 4)
    }
    var limit = timeval(tv_sec: 5, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw TestFailure("connect: \(errno)") }
  }

  deinit {
    close(descriptor)
  }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(
          descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw TestFailure("send: \(errno)") }
      sent += count
    }
  }

  /// Connects to a Unix socket; nil if there is no listener any more.
  init?(connectedTo path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw TestFailure("socket") }
    let result = SocketAddress.unix(path: path).withSockaddr { connect(descriptor, $0, $1) }
    if result == 0 { return }
    let code = errno
    guard [ENOENT, ECONNREFUSED].contains(code) else { throw TestFailure("connect: \(code)") }
    return nil
  }

  /// Bytes up to `count`, fewer only when the peer ends first.
  func receive(_ count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while bytes.count < count {
      let got = recv(descriptor, &buffer, min(buffer.count, count - bytes.count), 0)
      if got == 0 { break }
      guard got > 0 else { throw TestFailure("recv: \(errno)") }
      bytes += buffer[..<got]
    }
    return bytes
  }

  func shutDownWriting() {
    shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Has the close that follows send a reset.
  func closeWillReset() {
    var value = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
  }
}
