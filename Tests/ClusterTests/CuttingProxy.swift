import Foundation
import Glibc
import Synchronization

/// A TCP proxy in front of a server's Unix socket, which cuts a connection after a number of bytes.
final class CuttingProxy: Sendable {
  enum Direction: String, CaseIterable, Sendable { case toServer, toClient }

  struct Cut: Sendable {
    let direction: Direction
    var bytesLeft: Int
  }

  struct Failure: Error { let call: String }

  let port: Int
  private let listening: Int32
  private let socketPath: String
  private let cut = Mutex<Cut?>(nil)

  init(to socketPath: String) throws {
    self.socketPath = socketPath
    listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { [listening] pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listening, pointer, length) == 0 && listen(listening, 16) == 0
          && getsockname(listening, pointer, &length) == 0
      }
    }
    guard isBound else { throw Failure(call: "bind") }
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread { [self] in acceptAll() }.start()
  }

  /// Ends the thread that accepts.
  func close() { shutdown(listening, Int32(SHUT_RDWR)) }

  /// Cuts the next connection that has carried as many more bytes in that direction, and only that one.
  func cutAfter(_ bytes: Int, _ direction: Direction) {
    cut.withLock { $0 = Cut(direction: direction, bytesLeft: bytes) }
  }

  /// Takes back the cut that is due; nil if it was made.
  func takeCut() -> Cut? { cut.withLock { $0.take() } }

  private func acceptAll() {
    while true {
      let client = accept(listening, nil, nil)
      guard client >= 0 else { break }
      guard let server = connect() else {
        Glibc.close(client)
        continue
      }
      let ends = Ends(client: client, server: server)
      for direction in Direction.allCases {
        Thread { [self] in
          pump(direction, ends)
          if ends.leave() == 0 { ends.close() }
        }.start()
      }
    }
    Glibc.close(listening)
  }

  /// The sockets of a connection, closed once both directions have ended.
  private final class Ends: Sendable {
    let client: Int32
    let server: Int32
    private let users = Atomic(2)

    init(client: Int32, server: Int32) {
      self.client = client
      self.server = server
    }

    func leave() -> Int { users.subtract(1, ordering: .acquiringAndReleasing).newValue }

    func shutDown() {
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server, Int32(SHUT_RDWR))
    }

    func close() {
      Glibc.close(client)
      Glibc.close(server)
    }
  }

  private func pump(_ direction: Direction, _ ends: Ends) {
    let (from, to) =
      direction == .toServer ? (ends.client, ends.server) : (ends.server, ends.client)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    defer { ends.shutDown() }
    while true {
      let count = recv(from, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      let (allowed, isCut) = allow(count, direction)
      var sent = 0
      while sent < allowed {
        let written = buffer[sent..<allowed].withUnsafeBytes {
          send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard written > 0 else { return }
        sent += written
      }
      if isCut { return }
    }
  }

  private func allow(_ count: Int, _ direction: Direction) -> (bytes: Int, isCut: Bool) {
    cut.withLock { cut in
      guard let due = cut, due.direction == direction else { return (count, false) }
      if count < due.bytesLeft {
        cut?.bytesLeft -= count
        return (count, false)
      }
      cut = nil
      return (due.bytesLeft, true)
    }
  }

  private func connect() -> Int32? {
    let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(socketPath.utf8)) }
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(server, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    if isConnected { return server }
    Glibc.close(server)
    return nil
  }
}
