import Glibc
import TestSupport
import Testing

@testable import Transport

struct SocketAddressTests {
  @Test(
    "Numeric addresses are parsed and formatted",
    arguments: [
      ("127.0.0.1", "127.0.0.1:80"), ("255.1.2.3", "255.1.2.3:80"), ("::1", "[::1]:80"),
      ("2001:db8::ff00:42:8329", "[2001:db8::ff00:42:8329]:80"),
    ])
  func parsesAndFormatsNumericAddresses(host: String, text: String) {
    #expect(SocketAddress(numericHost: host, port: 80).map { "\($0)" } == text)
  }

  @Test(
    "Text that is not a numeric address is refused",
    arguments: ["localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", "", "::g", "[::1]", "1.2.3.4 "])
  func refusesWhatIsNotAnAddress(host: String) {
    #expect(SocketAddress(numericHost: host, port: 80) == nil)
  }

  @Test(
    "An IP address round-trips through the kernel's form",
    arguments: ["127.0.0.1", "127.1.2.3", "::1"])
  func addressRoundTripsThroughSockaddr(host: String) throws {
    let address = try #require(SocketAddress(numericHost: host, port: 0))
    let socket = try Socket.open(family: address.family)
    defer { close(socket) }
    try Socket.bind(socket, to: address)
    let bound = try #require(Socket.localAddress(of: socket))
    #expect(bound.host == host)
    #expect((bound.port ?? 0) > 0)
    #expect(bound.with(port: 0) == address)
  }

  @Test("A path round-trips through the kernel's form")
  func pathRoundTripsThroughSockaddr() throws {
    let folder = try TestFolder("address")
    defer { folder.remove() }
    let address = SocketAddress.unix(path: "\(folder.path)/a.sock")
    let socket = try Socket.open(family: AF_UNIX)
    defer { close(socket) }
    try Socket.bind(socket, to: address)
    #expect(Socket.localAddress(of: socket) == address)
  }

  @Test("Paths too long for the kernel are refused")
  func refusesPathsTheKernelWouldCut() {
    let long = SocketAddress.unix(path: "/" + String(repeating: "a", count: 107))
    #expect(long.withSockaddr { _, _ in true } == nil)
    let longest = SocketAddress.unix(path: "/" + String(repeating: "a", count: 106))
    #expect(longest.withSockaddr { _, _ in true } == true)
  }
}
