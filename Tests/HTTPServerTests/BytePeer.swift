import Glibc

/// A blocking client that knows no HTTP: what it sends is what goes out, what came in is what it
/// got. Every wait ends after some seconds.
final class BytePeer {
  enum Problem: Error {
    case connect(Int32)
    case closed(after: String)
    case late(after: String)
  }

  private let descriptor: Int32
  private(set) var received: [UInt8] = []

  /// - Parameter receiveBufferBytes: makes the kernel take little, so that a server soon notices
  ///   that the client does not read.
  init(port: Int, receiveBufferBytes: Int32? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if var bytes = receiveBufferBytes {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    // `deinit` closes the descriptor after a throw as well: all is initialised.
    try connect(to: &address)
  }

  init(unixPath path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { space in
      precondition(path.utf8.count < space.count, "no socket has so long a path")
      space.copyBytes(from: path.utf8)
    }
    try connect(to: &address)
  }

  private func connect<Address>(to address: inout Address) throws {
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
      }
    }
    guard result == 0 else { throw Problem.connect(errno) }
    var wait = timeval(tv_sec: 10, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, size)
  }

  deinit { close(descriptor) }

  var text: String { String(decoding: received, as: UTF8.self) }

  func send(_ text: String) {
    _ = send(Array(text.utf8))
  }

  /// Sends what the kernel takes within a second. Returns how much that was.
  func send(_ bytes: [UInt8]) -> Int {
    var wait = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return sent }
      sent += count
    }
    return sent
  }

  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Has the peer see a reset when this is gone.
  func resetAtEnd() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// Reads until the text received ends in `end`.
  func receive(upTo end: String) throws {
    while !received.suffix(end.utf8.count).elementsEqual(end.utf8) { try receiveSome() }
  }

  /// Reads until something has come.
  func receiveFirst() throws {
    while received.isEmpty { try receiveSome() }
  }

  /// Reads until the peer closes or resets.
  func receiveToEnd() throws {
    do {
      while true { try receiveSome() }
    } catch Problem.closed {}
  }

  /// Sends a piece again and again, each after a wait for an answer, until one comes or the peer is
  /// gone. Returns how many pieces went out; no more than `countMax`.
  func drip(_ piece: String, everyMilliseconds wait: Int32, countMax: Int) -> Int {
    for count in 0..<countMax {
      var events = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&events, 1, wait) != 0 { return count }
      if send(Array(piece.utf8)) < piece.utf8.count { return count }
    }
    return countMax
  }

  /// Takes little again and again, each time after a wait, until the peer is gone. Returns how often
  /// it did; no more than `countMax` times.
  func sip(upTo bytesMax: Int, everyMilliseconds wait: Int32, countMax: Int) -> Int {
    var piece = [UInt8](repeating: 0, count: bytesMax)
    for count in 0..<countMax {
      // Asked for nothing, it reports only that the connection is over.
      var events = pollfd(fd: descriptor, events: 0, revents: 0)
      if poll(&events, 1, wait) != 0 { return count }
      if recv(descriptor, &piece, piece.count, 0) <= 0 { return count }
    }
    return countMax
  }

  private func receiveSome() throws {
    var piece = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &piece, piece.count, 0)
    if count > 0 {
      received += piece[..<count]
    } else if count == 0 || errno == ECONNRESET {
      throw Problem.closed(after: text)
    } else {
      throw Problem.late(after: text)
    }
  }
}
