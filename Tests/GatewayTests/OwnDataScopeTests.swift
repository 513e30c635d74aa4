import Gateway
import Model
import Testing

/// Forwarded headers part what upstream says; own data is one, whatever comes along.
struct OwnDataScopeTests {
  private static func caller(_ tenant: String?) -> Caller {
    Caller(
      partitions: tenant.map { [Caller.Header(name: "x-tenant", value: $0)] } ?? [],
      subject: "ada", user: "ada",
      device: Caller.Device(id: "d_1", tokenDigest: "digest"))
  }

  @Test(arguments: [nil, "a", "b"] as [String?])
  func ownDataIsSeenWhateverHeadersCome(tenant: String?) {
    let layers = Self.caller(tenant).viewer.layers
    #expect(layers.first == .ownData(ofDevice: "d_1"))
    #expect(layers.contains(.ownData(ofUser: "ada")))
    #expect(Set(layers).count == layers.count)
  }

  @Test func whatUpstreamSaidIsSeenWithItsHeadersAlone() {
    let (one, other) = (Self.caller("a").viewer.layers, Self.caller(nil).viewer.layers)
    #expect(one.contains(.user("ada", partition: "x-tenant:a")))
    #expect(!one.contains(.user("ada")))
    #expect(other.contains(.user("ada")))
    #expect(!other.contains(.user("ada", partition: "x-tenant:a")))
    #expect(!one.contains(.public))
  }

  /// A text that no header makes.
  @Test(arguments: ["own", "", ":"])
  func noHeadersMeetOwnData(tenant: String) {
    #expect(Self.caller(tenant).scope(sharing: .user) != .ownData(ofUser: "ada"))
  }
}
