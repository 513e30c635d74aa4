import CLinux
import Glibc

/// Name lookups through the system's resolver (hosts file, DNS, as configured in nsswitch).
enum Resolver {
  /// The limit on addresses of a name; further ones are ignored.
  static let addressesMax = 16

  /// Looks up a name. `getaddrinfo` blocks, so it runs on the pool. The order is the resolver's
  /// (RFC 6724).
  static func addresses(
    of host: String, port: UInt16, on pool: BlockingPool
  ) async -> Result<[SocketAddress], ConnectFailure> {
    if isLoopbackName(host) { return .success(loopback(port: port)) }
    if isInvalidName(host) { return .failure(.unresolved("names under .invalid never exist")) }
    return await pool.run { resolve(host, port: port) }
  }

  /// Returns whether a name is `localhost` or below it, which is this machine and never looked up
  /// (RFC 6761, 6.3): some resolvers query the network for the address family missing in the hosts file.
  static func isLoopbackName(_ host: String) -> Bool {
    isName(host, under: "localhost")
  }

  /// Returns whether a name is below `invalid`, which never has an address (RFC 6761, 6.4).
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

extension EventLoopGroup {
  /// Returns the addresses of a name, or of a numeric address that address, each with port 0; none if it cannot be
  /// resolved. No loop waits for the lookup.
  package func addresses(ofHost host: String) async -> [SocketAddress] {
    if let address = SocketAddress(numericHost: host, port: 0) { return [address] }
    switch await Resolver.addresses(of: host, port: 0, on: blockingPool) {
    case .success(let addresses): return addresses
    case .failure: return []
    }
  }
}
