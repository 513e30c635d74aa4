import Gateway
import Model
import Testing

/// Forwarded headers partition upstream data; local data is not partitioned.
struct OwnDataScopeTests {
  private static func caller(_ tenant: String?) -> Caller {
    Caller(
      partitions: tenant.map { [Caller.Header(name: "x-tenant", value: $0)] } ?? [],
      subject: "ada", user: "ada",
      device: Caller.Device(id: "d_1", tokenDigest: "digest"))
  }

  @Test(
    "Local data is visible whatever headers are forwarded", arguments: [nil, "a", "b"] as [String?])
  func localDataIgnoresHeaders(tenant: String?) {
    let layers = Self.caller(tenant).viewer.layers
    #expect(layers.first == .ownData(ofDevice: "d_1"))
    #expect(layers.contains(.ownData(ofUser: "ada")))
    #expect(Set(layers).count == layers.count)
  }

  @Test("Upstream data is visible only with the same partition headers")
  func upstreamDataIsPartitioned() {
    let (one, other) = (Self.caller("a").viewer.layers, Self.caller(nil).viewer.layers)
    #expect(one.contains(.user("ada", partition: "x-tenant:a")))
    #expect(!one.contains(.user("ada")))
    #expect(other.contains(.user("ada")))
    #expect(!other.contains(.user("ada", partition: "x-tenant:a")))
    #expect(!one.contains(.public))
  }

  /// Texts that no header produces.
  @Test("No header value can produce the scope of local data", arguments: ["own", "", ":"])
  func headersCannotReachLocalData(tenant: String) {
    #expect(Self.caller(tenant).scope(sharing: .user) != .ownData(ofUser: "ada"))
  }
}
