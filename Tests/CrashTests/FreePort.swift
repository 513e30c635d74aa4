import Glibc

/// Ports for services that must restart at the same address.
enum FreePort {
  struct NoneLeft: Error {}

  /// A port that is free now, below those that the kernel assigns.
  static func find() throws -> Int {
    for _ in 0..<100 {
      let port = Int.random(in: 20_000..<30_000)
      if isFree(port) { return port }
    }
    throw NoneLeft()
  }

  private static func isFree(_ port: Int) -> Bool {
    let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(probe) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
