import CLinux
import Glibc

/// Name look-ups through the system's resolver (hosts file, DNS, whatever nsswitch says).
enum Resolver {
  /// Addresses of a name tried at most; a name with more is taken for a mistake beyond these.
  static let addressesMax = 16

  /// `getaddrinfo` blocks, so it runs on the pool. Order is the resolver's (RFC 6724).
  static func addresses(
    of host: String, port: UInt16, on pool: BlockingPool
  ) async -> Result<[SocketAddress], ConnectFailure> {
    if isLoopbackName(host) { return .success(loopback(port: port)) }
    if isInvalidName(host) { return .failure(.unresolved("a name that never exists")) }
    return await pool.run { resolve(host, port: port) }
  }

  /// `localhost` and what lies under it is this machine and no resolver's business (RFC 6761, 6.3);
  /// some resolvers ask the network for the address family that the hosts file leaves out.
  static func isLoopbackName(_ host: String) -> Bool {
    isName(host, under: "localhost")
  }

  /// Names under `invalid` have no address, whatever a network says (RFC 6761, 6.4).
  static func isInvalidName(_ host: String) -> Bool {
    isName(host, under: "invalid")
  }

  private static func isName(_ host: String, under domain: String) -> Bool {
    var name = host.lowercased()
    if name.hasSuffix(".") { name.removeLast() }
    return name == domain || name.hasSuffix("." + domain)
  }

  private static func loopback(port: UInt16) -> [SocketAddress] {
    [.ipv4(0x7F00_0001, port: port), .ipv6(0, 1, port: port, zone: 0)]
  }

  static func resolve(_ host: String, port: UInt16) -> Result<[SocketAddress], ConnectFailure> {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, nil, &hints, &list)
    guard code == 0 else { return .failure(.unresolved(String(cString: gai_strerror(code)))) }
    defer { freeaddrinfo(list) }
    var found: [SocketAddress] = []
    var next = list
    while let entry = next, found.count < addressesMax {
      if let address = address(in: entry.pointee)?.with(port: port), !found.contains(address) {
        found.append(address)
      }
      next = entry.pointee.ai_next
    }
    return found.isEmpty ? .failure(.unresolved("no address")) : .success(found)
  }

  private static func address(in entry: addrinfo) -> SocketAddress? {
    let length = Int(entry.ai_addrlen)
    guard let source = entry.ai_addr, length <= MemoryLayout<sockaddr_storage>.size else {
      return nil
    }
    var storage = sockaddr_storage()
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes.copyMemory(from: UnsafeRawBufferPointer(start: source, count: length))
    }
    return SocketAddress(&storage, length: entry.ai_addrlen)
  }
}
