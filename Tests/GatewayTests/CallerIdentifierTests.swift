import Accounts
import Model
import Testing

@testable import Gateway

struct CallerIdentifierTests {
  static let adminToken = String(repeating: "t", count: 32)
  static let viewerToken = String(repeating: "v", count: 32)

  let folder: StoreFolder

  init() throws {
    folder = try StoreFolder()
  }

  func identifier(forward: [String] = ["authorization"]) -> CallerIdentifier {
    let clock = TestClock()
    return CallerIdentifier(
      adminToken: Self.adminToken, viewerToken: Self.viewerToken, forwardedNames: forward,
      keys: KeyRing(root: Array(0..<32)),
      devices: .forTests(folder, clock),
      tickets: StreamTickets(clock: clock.clock, random: RandomBytes { 0 }))
  }

  @Test("A request without credentials is anonymous")
  func noHeadersIsAnonymous() async throws {
    let caller = try await identifier().caller { _ in nil }
    #expect(caller.subject == nil)
    #expect(caller.scope(sharing: .user) == .public)
    #expect(caller.viewer(of: .public).isAnonymous)
  }

  @Test("A forwarded token gives a private scope that does not contain the token")
  func forwardedTokenMakesPrivateScope() async throws {
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

  @Test("Different tokens have different subjects")
  func differentTokensAreDifferentUsers() async throws {
    let one = try await identifier().caller { $0 == "authorization" ? "Bearer abc" : nil }
    let other = try await identifier().caller { $0 == "authorization" ? "Bearer abd" : nil }
    #expect(one.subject != other.subject)
  }

  @Test("A token that is not forwarded gives no subject")
  func unforwardedTokenHasNoSubject() async throws {
    let caller = try await identifier(forward: []).caller {
      $0 == "authorization" ? "Bearer abc" : nil
    }
    #expect(caller.scope(sharing: .user) == .public)
    #expect(caller.hasToken)
  }

  @Test("The admin token is never forwarded")
  func adminTokenIsNotForwarded() async throws {
    let caller = try await identifier().caller {
      $0 == "authorization" ? "bearer  \(Self.adminToken)" : nil
    }
    #expect(caller.isAdmin)
    #expect(caller.credentials.isEmpty)
    #expect(caller.scope(sharing: .user) == .public)
  }

  @Test("The viewer token is never forwarded, and its caller only reads")
  func viewerTokenIsNotForwarded() async throws {
    let caller = try await identifier().caller {
      $0 == "authorization" ? "Bearer \(Self.viewerToken)" : nil
    }
    #expect(caller.operatorRole == .viewer && caller.isAdmin && !caller.hasToken)
    #expect(caller.credentials.isEmpty && caller.subject == nil)
    #expect(caller.seen(by: .sole).operatorRole == .viewer)
    #expect(throws: Failure.self) { try caller.admitWriting() }
  }

  @Test("The console's cookie is not forwarded, and is no credential of the caller")
  func consoleCookieIsNotForwarded() async throws {
    let alone = try await identifier(forward: ["cookie"]).caller {
      $0 == "cookie" ? "__Host-larder-console=abc" : nil
    }
    #expect(alone.credentials.isEmpty && alone.subject == nil && !alone.isAdmin)
    let beside = try await identifier(forward: ["cookie"]).caller {
      $0 == "cookie" ? "sid=1; larder-console=abc; theme=dark" : nil
    }
    #expect(beside.credentials == [Caller.Header(name: "cookie", value: "sid=1; theme=dark")])
  }

  @Test("A partition header splits the scope, which stays public")
  func partitionHeader() async throws {
    let headers = ["x-hasura-role": "editor"]
    let caller = try await identifier(forward: ["X-Hasura-Role"]).caller { headers[$0] }
    let scope = caller.scope(sharing: .user)
    #expect(scope == Scope(kind: .public, subject: "", partition: "x-hasura-role:editor"))
    #expect(caller.forwarded(for: scope) == [Caller.Header(name: "x-hasura-role", value: "editor")])
    #expect(caller.viewer(of: scope).isAnonymous == false)
  }

  @Test(
    "A partition header that is a credential is stored as a digest",
    arguments: [
      "X-Api-Key", "x-session-token", "X-Amz-Security-Token", "my_secret", "X-Auth", "JWT",
      "x-cookie-jar",
    ])
  func secretPartitionIsDigest(name: String) async throws {
    let identifier = identifier(forward: [name, "x-tenant"])
    func caller(_ value: String) async throws -> Caller {
      let headers = [name.lowercased(): value, "x-tenant": "zeta"]
      return try await identifier.caller { headers[$0] }
    }
    let one = try await caller("s3cret")
    #expect(one.hasSecretPartition)
    for layer in one.viewer.layers {
      #expect(!layer.partition.contains("s3cret") && layer.partition.contains("x-tenant:zeta"))
    }
    #expect(try await caller("s3cret").partition == one.partition)
    #expect(try await caller("another").partition != one.partition)
    let sent = one.forwarded(for: one.scope(sharing: .public))
    #expect(sent.contains { $0.name == name.lowercased() && $0.value == "s3cret" })
  }

  @Test("A queued mutation stores such headers sealed for its device")
  func secretPartitionIsSealed() async throws {
    let headers = ["x-api-key": "s3cret", "x-tenant": "zeta"]
    let caller = try await identifier(forward: ["x-api-key", "x-tenant"]).caller { headers[$0] }
    let queued = QueuedCaller(
      sealer: Sealer(
        key: KeyRing(root: Array(0..<32)).key(for: .credential), random: RandomBytes { 7 }))
    let text = try queued.partitions(of: caller, device: "d_1")
    #expect(!text.contains("s3cret") && text.contains("zeta"))
    func opened(_ device: String) -> Caller? {
      queued.caller(
        sealedCredential: nil, partitions: text, scope: caller.scope(sharing: .user), user: nil,
        device: device)
    }
    let same = try #require(opened("d_1"))
    #expect(same.partitions == caller.partitions && same.partition == caller.partition)
    #expect(opened("d_2") == nil)
    // The form of mutations that were queued by earlier versions.
    let old = queued.caller(
      sealedCredential: nil, partitions: #"{"x-api-key":"s3cret"}"#, scope: .public, user: nil,
      device: "d_1")
    #expect(old?.partitions == [Caller.Header(name: "x-api-key", value: "s3cret")])
  }

  @Test("An unknown device token is refused")
  func unknownDeviceToken() async {
    await #expect(throws: Failure.self) {
      try await identifier().caller { $0 == "device-token" ? "x" : nil }
    }
  }
}
