import Gateway
import Model
import Testing

struct CallerIdentifierTests {
  static let adminToken = String(repeating: "t", count: 32)

  func identifier(forward: [String] = ["authorization"]) -> CallerIdentifier {
    CallerIdentifier(
      adminToken: Self.adminToken, forwardedNames: forward, keys: KeyRing(root: Array(0..<32)))
  }

  @Test func nobodyIsAnonymous() throws {
    let caller = try identifier().caller { _ in nil }
    #expect(caller.subject == nil)
    #expect(caller.scope(sharing: .user) == .public)
    #expect(caller.viewer(of: .public).isAnonymous)
  }

  @Test func aForwardedTokenMakesAPrivateScopeWithoutHoldingTheToken() throws {
    let caller = try identifier().caller { $0 == "authorization" ? "Bearer abc" : nil }
    let scope = caller.scope(sharing: .user)
    #expect(scope.kind == .user)
    #expect(!scope.subject.contains("abc"))
    #expect(
      caller.forwarded(for: scope) == [Caller.Header(name: "authorization", value: "Bearer abc")])
    #expect(caller.scope(sharing: .public) == .public)
    #expect(caller.forwarded(for: .public).isEmpty)
    #expect(caller.viewer(of: scope).layers == [scope, .public])
  }

  @Test func differentTokensAreDifferentUsers() throws {
    let one = try identifier().caller { $0 == "authorization" ? "Bearer abc" : nil }
    let other = try identifier().caller { $0 == "authorization" ? "Bearer abd" : nil }
    #expect(one.subject != other.subject)
  }

  @Test func aTokenThatIsNotForwardedChangesNothing() throws {
    let caller = try identifier(forward: []).caller { $0 == "authorization" ? "Bearer abc" : nil }
    #expect(caller.scope(sharing: .user) == .public)
    #expect(caller.hasToken)
  }

  @Test func theAdminTokenIsNeverForwarded() throws {
    let caller = try identifier().caller {
      $0 == "authorization" ? "bearer  \(Self.adminToken)" : nil
    }
    #expect(caller.isAdmin)
    #expect(caller.credentials.isEmpty)
    #expect(caller.scope(sharing: .user) == .public)
  }

  @Test func aPartitionHeaderSplitsTheScopeButStaysPublic() throws {
    let headers = ["x-hasura-role": "editor"]
    let caller = try identifier(forward: ["X-Hasura-Role"]).caller { headers[$0] }
    let scope = caller.scope(sharing: .user)
    #expect(scope == Scope(kind: .public, subject: "", partition: "x-hasura-role:editor"))
    #expect(caller.forwarded(for: scope) == [Caller.Header(name: "x-hasura-role", value: "editor")])
    #expect(caller.viewer(of: scope).isAnonymous == false)
  }

  @Test func anUnknownDeviceTokenIsRefused() {
    #expect(throws: Failure.self) {
      try identifier().caller { $0 == "device-token" ? "x" : nil }
    }
  }
}
