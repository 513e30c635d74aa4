import Glibc
import Testing

@testable import Transport

struct ResolverTests {
  @Test(
    "Names under localhost are loopback addresses",
    arguments: ["localhost", "LOCALHOST", "localhost.", "db.localhost"])
  func namesOfThisMachineAreLoopback(host: String) async throws {
    let found = try await Resolver.addresses(of: host, port: 80, on: BlockingPool(threadsMax: 1))
      .get()
    #expect(found.map(\.description) == ["127.0.0.1:80", "[::1]:80"])
  }

  @Test(
    "Other names are not loopback names",
    arguments: ["localhost.example.com", "notlocalhost", ""])
  func otherNamesAreNotLoopback(host: String) {
    #expect(!Resolver.isLoopbackName(host))
  }

  /// Longer than DNS allows, so that no network is asked.
  @Test("A failed lookup is reported")
  func failedLookupIsReported() {
    guard case .failure(.unresolved) = Resolver.resolve(String(repeating: "a", count: 300), port: 1)
    else {
      Issue.record("resolved")
      return
    }
  }

  @Test("Address families alternate")
  func familiesAlternate() {
    let v4 = (1...3).map { SocketAddress.ipv4(UInt32($0), port: 1) }
    let v6 = (1...2).map { SocketAddress.ipv6(0, UInt64($0), port: 1, zone: 0) }
    #expect(Connector.interleaved(v6 + v4) == [v6[0], v4[0], v6[1], v4[1], v4[2]])
    #expect(Connector.interleaved(v4) == v4)
    #expect(Connector.interleaved([]) == [])
  }

  @Test("The next address is tried when the first refuses")
  func nextAddressIsTriedWhenTheFirstRefuses() async throws {
    try await withLoops(1) { group in
      let server = try await group.listen(on: .host("::1", port: 0)) { _ in
        EchoAcceptor(log: ServerLog())
      }
      let client = await TestClient(
        .host("localhost", port: server.address.port ?? 0), on: group.reactors[0])
      await client.write([1])
      #expect(await client.receive(1) == [1])
    }
  }
}
