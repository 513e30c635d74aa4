import CLinux
import Glibc

/// An address that a socket is bound or connected to.
package enum SocketAddress: Hashable, Sendable {
  /// The address with its first octet in the highest byte.
  case ipv4(UInt32, port: UInt16)
  /// The address in two halves, first octet in the highest byte, and the zone of a link-local one.
  case ipv6(UInt64, UInt64, port: UInt16, zone: UInt32)
  /// A path in the file system; empty for the unnamed end of a connection.
  case unix(path: String)

  /// Parses a numeric address (`127.0.0.1`, `::1`); nil for anything else, including names.
  package init?(numericHost host: String, port: UInt16) {
    var v4 = in_addr()
    var v6 = in6_addr()
    if inet_pton(AF_INET, host, &v4) == 1 {
      self = .ipv4(UInt32(bigEndian: v4.s_addr), port: port)
    } else if inet_pton(AF_INET6, host, &v6) == 1 {
      let (high, low) = Self.halves(of: v6)
      self = .ipv6(high, low, port: port, zone: 0)
    } else {
      return nil
    }
  }

  /// The port, or nil for a path.
  package var port: UInt16? {
    switch self {
    case .ipv4(_, let port), .ipv6(_, _, let port, _): port
    case .unix: nil
    }
  }

  /// Returns the address with another port; a path is unchanged.
  package func with(port: UInt16) -> SocketAddress {
    switch self {
    case .ipv4(let address, _): .ipv4(address, port: port)
    case .ipv6(let high, let low, _, let zone): .ipv6(high, low, port: port, zone: zone)
    case .unix: self
    }
  }

  var family: Int32 {
    switch self {
    case .ipv4: AF_INET
    case .ipv6: AF_INET6
    case .unix: AF_UNIX
    }
  }
}

extension SocketAddress {
  /// The address without its port: `127.0.0.1`, `::1`, or the path.
  package var host: String {
    switch self {
    case .ipv4(let address, _):
      return "\(address >> 24).\(address >> 16 & 255).\(address >> 8 & 255).\(address & 255)"
    case .ipv6(let high, let low, _, _):
      var address = in6_addr()
      withUnsafeMutableBytes(of: &address) { bytes in
        bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
      }
      return withUnsafeTemporaryAllocation(
        of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)
      ) { buffer in
        guard let start = buffer.baseAddress,
          inet_ntop(AF_INET6, &address, start, socklen_t(buffer.count)) != nil
        else { return "::" }
        return String(cString: start)
      }
    case .unix(let path):
      return path
    }
  }

  private static func halves(of address: in6_addr) -> (UInt64, UInt64) {
    withUnsafeBytes(of: address) { bytes in
      (
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }
}

extension SocketAddress: CustomStringConvertible {
  package var description: String {
    switch self {
    case .ipv4(_, let port): "\(host):\(port)"
    case .ipv6(_, _, let port, _): "[\(host)]:\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }
}

extension SocketAddress {
  /// The longest path of a Unix socket, without the terminating NUL (unix(7)).
  static let pathBytesMax = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  /// Calls `body` with the address in the kernel's form. Returns nil for a path that is too long.
  func withSockaddr<Result>(
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    switch self {
    case .ipv4(let address, let port):
      Self.store(
        sockaddr_in(
          sin_family: sa_family_t(AF_INET), sin_port: port.bigEndian,
          sin_addr: in_addr(s_addr: address.bigEndian), sin_zero: (0, 0, 0, 0, 0, 0, 0, 0)),
        in: &storage)
    case .ipv6(let high, let low, let port, let zone):
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      address.sin6_scope_id = zone
      withUnsafeMutableBytes(of: &address.sin6_addr) { bytes in
        bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
      }
      Self.store(address, in: &storage)
      length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    case .unix(let path):
      let octets = Array(path.utf8)
      guard !octets.isEmpty, octets.count <= Self.pathBytesMax, !octets.contains(0) else {
        return nil
      }
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
      Self.store(address, in: &storage)
      length = socklen_t(MemoryLayout<sockaddr_un>.size)
    }
    return withUnsafePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }

  /// Reads the result of a call such as `accept4` or `getsockname`; nil for other families.
  init?(_ storage: inout sockaddr_storage, length: socklen_t) {
    let family = Int32(storage.ss_family)
    switch family {
    case AF_INET:
      let address = Self.load(sockaddr_in.self, from: &storage)
      self = .ipv4(
        UInt32(bigEndian: address.sin_addr.s_addr), port: UInt16(bigEndian: address.sin_port))
    case AF_INET6:
      let address = Self.load(sockaddr_in6.self, from: &storage)
      let (high, low) = Self.halves(of: address.sin6_addr)
      self = .ipv6(
        high, low, port: UInt16(bigEndian: address.sin6_port), zone: address.sin6_scope_id)
    case AF_UNIX:
      let address = Self.load(sockaddr_un.self, from: &storage)
      let offset = MemoryLayout<sa_family_t>.size
      let path = withUnsafeBytes(of: address.sun_path) { bytes in
        String(
          decoding: bytes.prefix(max(0, Int(length) - offset)).prefix { $0 != 0 }, as: UTF8.self)
      }
      self = .unix(path: path)
    default:
      return nil
    }
  }

  private static func store<Address>(_ address: Address, in storage: inout sockaddr_storage) {
    withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: Address.self) }
  }

  private static func load<Address>(
    _ type: Address.Type, from storage: inout sockaddr_storage
  ) -> Address {
    withUnsafeBytes(of: &storage) { $0.load(as: type) }
  }
}
