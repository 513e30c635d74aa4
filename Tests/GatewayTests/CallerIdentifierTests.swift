import Gateway
import Model
import Testing

struct CallerIdentifierTests {
  static let adminToken = String(repeating: "t", count: 32)

  let folder: StoreFolder

  init() throws {
    folder = try StoreFolder()
  }

  func identifier(forward: [String] = ["authorization"]) -> CallerIdentifier {
    let clock = TestClock()
    return CallerIdentifier(
      adminToken: Self.adminToken, forwardedNames: forward, keys: KeyRing(root: Array(0..<32)),
      devices: .forTests(folder, clock),
      tickets: StreamTickets(clock: clock.clock, random: RandomBytes { 0 }))
  }

  @Test func nobodyIsAnonymous() async throws {
    let caller = try await identifier().caller { _ in nil }
    #expect(caller.subject == nil)
    #expect(caller.scope(sharing: .user) == .public)
    #expect(caller.viewer(of: .public).isAnonymous)
  }

  @Test func aForwardedTokenMakesAPrivateScopeWithoutHoldingTheToken() async throws {
    let caller = try await identifier().caller { $0 == "authorization" ? "Bearer abc" : nil }
    let scope = caller.scope(sharing: .user)
    #expect(scope.kind == .user)
    #expect(!scope.subject.contains("abc"))
    #expect(
      caller.forwarded(for: scope) == [Caller.Header(name: "authorization", value: "Bearer abc")])
    #expect(caller.scope(sharing: .public) == .public)
    #expect(caller.forwarded(for: .public).isEmpty)
    #expect(caller.viewer(of: scope).layers == [scope, .public])
  }

  @Test func differentTokensAreDifferentUsers() async throws {
    let one = try await identifier().caller { $0 == "authorization" ? "Bearer abc" : nil }
    let other = try await identifier().caller { $0 == "authorization" ? "Bearer abd" : nil }
    #expect(one.subject != other.subject)
  }

  @Test func aTokenThatIsNotForwardedChangesNothing() async throws {
    let caller = try await identifier(forward: []).caller {
      $0 == "authorization" ? "Bearer abc" : nil
    }
    #expect(caller.scope(sharing: .user) == .public)
    #expect(caller.hasToken)
  }

  @Test func theAdminTokenIsNeverForwarded() async throws {
    let caller = try await identifier().caller {
      $0 == "authorization" ? "bearer  \(Self.adminToken)" : nil
    }
    #expect(caller.isAdmin)
    #expect(caller.credentials.isEmpty)
    #expect(caller.scope(sharing: .user) == .public)
  }

  @Test func aPartitionHeaderSplitsTheScopeButStaysPublic() async throws {
    let headers = ["x-hasura-role": "editor"]
    let caller = try await identifier(forward: ["X-Hasura-Role"]).caller { headers[$0] }
    let scope = caller.scope(sharing: .user)
    #expect(scope == Scope(kind: .public, subject: "", partition: "x-hasura-role:editor"))
    #expect(caller.forwarded(for: scope) == [Caller.Header(name: "x-hasura-role", value: "editor")])
    #expect(caller.viewer(of: scope).isAnonymous == false)
  }

  @Test func anUnknownDeviceTokenIsRefused() async {
    await #expect(throws: Failure.self) {
      try await identifier().caller { $0 == "device-token" ? "x" : nil }
    }
  }
}
