import Accounts
import Model
import Storage
import Testing

@testable import Gateway

/// The scopes a caller sees, and the scopes that responses are stored in.
struct CallerLayersTests {
  private static let roles = Set(Role.allCases)
  private static let acme = Claim(name: "org_id", issuer: "https://a/", value: #""acme""#)

  private static func caller(
    user: String? = nil, claims: [Claim] = [], isAdmin: Bool = false, hasDevice: Bool = false,
    storedRoles: Set<Role> = roles
  ) -> Caller {
    let verified = user.map {
      Caller.Verified(
        user: VerifiedUser(id: $0, expires: Timestamp(milliseconds: .max), claims: claims),
        token: "t")
    }
    let headers = [
      Caller.Header(name: "authorization", value: "Bearer t"),
      Caller.Header(name: "cookie", value: "c=1"),
    ]
    return Caller(
      credentials: user == nil ? [] : headers,
      partitions: [Caller.Header(name: "x-tenant", value: "a")], subject: user, user: user,
      verified: verified, operatorRole: isAdmin ? .admin : nil, hasToken: user != nil,
      device: hasDevice ? Caller.Device(id: "d_1", tokenDigest: "digest") : nil,
      storedRoles: storedRoles)
  }

  private static let partition = "x-tenant:a"
  private static let open = Scope(kind: .public, subject: "", partition: partition)

  @Test("Layers go from the device to public, and include only what the caller has proved")
  func layers() {
    #expect(Self.caller().viewer.layers == [Self.open])
    #expect(
      Self.caller(isAdmin: true).viewer.layers
        == [.role(.admin, partition: Self.partition), Self.open])
    #expect(
      Self.caller(user: "ada", claims: [Self.acme], hasDevice: true).viewer.layers == [
        .ownData(ofDevice: "d_1"), .ownData(ofUser: "ada"),
        .user("ada", partition: Self.partition), .claim(Self.acme, partition: Self.partition),
        .role(.user, partition: Self.partition), .role(.device, partition: Self.partition),
        Self.open,
      ])
    #expect(
      Self.caller(user: "ada", storedRoles: [.admin]).viewer.layers
        == [.ownData(ofUser: "ada"), .user("ada", partition: Self.partition), Self.open])
    // An opaque token proves no role.
    let opaque = Caller(
      credentials: [], partitions: [], subject: "digest", user: nil, verified: nil,
      operatorRole: nil,
      hasToken: true, storedRoles: Self.roles)
    #expect(opaque.viewer.layers == [.user("digest"), .public])
  }

  @Test("A response is stored in a scope that only permitted callers see")
  func scopesOfResponses() {
    let ada = Self.caller(user: "ada", claims: [Self.acme])
    #expect(ada.scope(sharing: .public) == Self.open)
    #expect(
      ada.scope(sharing: .public, role: .user) == .role(.user, partition: Self.partition))
    #expect(ada.scope(sharing: .user, role: .user) == .user("ada", partition: Self.partition))
    #expect(
      ada.scope(sharing: .claim("org_id")) == .claim(Self.acme, partition: Self.partition))
    let operatorScope = Self.caller(isAdmin: true).scope(sharing: .user, role: .admin)
    #expect(operatorScope == .role(.admin, partition: Self.partition))
    // Without the claim there is no scope that any caller sees.
    let none = Self.caller(user: "eve").scope(sharing: .claim("org_id"))
    #expect(none.kind == .claim)
    for caller in [Self.caller(), ada, Self.caller(user: "eve"), Self.caller(isAdmin: true)] {
      #expect(!caller.viewer.layers.contains(none))
    }
  }

  @Test("Responses shared by a group are fetched with the token alone")
  func forwardedHeaders() {
    let ada = Self.caller(user: "ada", claims: [Self.acme])
    let names = { (scope: Scope) in ada.forwarded(for: scope).map(\.name) }
    #expect(names(ada.scope(sharing: .claim("org_id"))) == ["authorization", "x-tenant"])
    #expect(names(ada.scope(sharing: .user)) == ["authorization", "cookie", "x-tenant"])
    #expect(names(ada.scope(sharing: .public, role: .user)) == ["x-tenant"])
  }

  @Test("Issuer, name and value of a claim are kept apart in scopes")
  func claimsAreSeparated() {
    let claims = [
      Self.acme, Claim(name: "org_id", issuer: "https://b/", value: #""acme""#),
      Claim(name: "org_id", issuer: "https://a/", value: #""acm""#),
      Claim(name: "org_i", issuer: "https://a/", value: #"d"acme""#),
      Claim(name: "team", issuer: "https://a/", value: #""acme""#),
      Claim(name: "org_id", issuer: "https://a/", value: "5"),
      Claim(name: "org_id", issuer: "https://a/", value: #""5""#),
    ]
    #expect(Set(claims.map { Scope.claim($0) }).count == claims.count)
  }

  @Test("A cursor from before a change of roles or claims has expired, and is not another caller's")
  func cursorsAcrossGroups() throws {
    let codec = CursorCodec(key: KeyRing(root: Array(0..<32)).key(for: .cursor))
    let issuer = CursorIssuer(codec: codec, segment: 1, schemaVersion: 1, head: Revision(1))
    let validator = CursorValidator(
      codec: codec, segments: [.init(nonce: 1, start: Revision(0))], schemaVersion: 1)
    func fault(of old: Caller, for new: Caller) -> CursorFault? {
      let text = String(decoding: issuer.cursor(for: old.viewer), as: UTF8.self)
      do throws(CursorFault) {
        _ = try validator.place(of: text, viewer: new.viewer, filter: .all, head: Revision(1))
        return nil
      } catch {
        return error
      }
    }
    let ada = Self.caller(user: "ada", claims: [Self.acme])
    let moved = Self.caller(
      user: "ada", claims: [Claim(name: "org_id", issuer: "https://a/", value: #""other""#)])
    let eve = Self.caller(user: "eve", claims: [Self.acme])
    #expect(fault(of: ada, for: ada) == nil)
    #expect(fault(of: ada, for: moved) == .gone(.scope))
    #expect(fault(of: ada, for: Self.caller(user: "ada", storedRoles: [])) == .gone(.scope))
    #expect(fault(of: Self.caller(), for: ada) == .gone(.scope))
    #expect(fault(of: ada, for: eve) == .otherCaller)
    #expect(fault(of: ada, for: Self.caller()) == .otherCaller)
  }
}
