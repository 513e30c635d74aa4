import Testing
import Transport

@testable import Composition

struct SharedAddressesTests {
  @Test(
    "Addresses of this machine and of private networks are shared",
    arguments: [
      ("127.0.0.1", true), ("::1", true), ("10.255.0.1", true), ("172.17.0.1", true),
      ("172.32.0.1", false), ("192.168.1.9", true), ("192.169.0.1", false), ("169.254.10.1", true),
      ("100.64.0.1", true), ("100.128.0.1", false), ("fe80::1", true), ("fd00::7", true),
      ("2001:db8::1", false), ("203.0.113.9", false), ("::ffff:10.1.2.3", true),
      ("::ffff:203.0.113.9", false),
    ])
  func localAndPrivateAddressesAreShared(text: String, isShared: Bool) throws {
    let address = try #require(SocketAddress(numericHost: text, port: 1234))
    #expect(SharedAddresses.contain(address) == isShared)
  }

  @Test("Unix sockets are shared")
  func unixSocketsAreShared() {
    #expect(SharedAddresses.contain(.unix(path: "/run/larder.sock")))
  }
}
