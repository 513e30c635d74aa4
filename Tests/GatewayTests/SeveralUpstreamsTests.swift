import HTTPClient
import Model
import Testing
import Upstream

@testable import Gateway

/// Callers of a service whose upstreams receive different header fields.
struct SeveralUpstreamsTests {
  let folder: StoreFolder

  init() throws {
    folder = try StoreFolder()
  }

  private func identifier(_ rules: [UpstreamName: ForwardingRule]) -> CallerIdentifier {
    let clock = TestClock()
    return CallerIdentifier(
      adminToken: CallerIdentifierTests.adminToken, rules: rules,
      keys: KeyRing(root: Array(0..<32)),
      devices: .forTests(folder, clock),
      tickets: StreamTickets(clock: clock.clock, random: RandomBytes { 0 }))
  }

  private static let rules: [UpstreamName: ForwardingRule] = [
    "films": ForwardingRule(names: ["Authorization", "x-tenant", "device-token"]),
    "shop": ForwardingRule(names: ["cookie"]),
    "crm": ForwardingRule(names: []),
  ]

  private static let headers = [
    "authorization": "Bearer abc", "cookie": "s=1", "x-tenant": "acme", "device-token": "secret",
  ]

  @Test("An upstream is sent the headers that it forwards, and no others")
  func divides() async throws {
    let caller = try await identifier(Self.rules).caller {
      $0 == "device-token" ? nil : Self.headers[$0]
    }
    func sent(_ upstream: UpstreamName) -> [String] {
      let seen = caller.seen(by: upstream)
      return seen.forwarded(for: seen.scope(sharing: .user)).map(\.name)
    }
    #expect(sent("films") == ["authorization", "x-tenant"])
    #expect(sent("shop") == ["cookie"])
    #expect(sent("crm") == [])
    #expect(sent("unknown") == [])
    #expect(caller.seen(by: "films").subject != caller.seen(by: "shop").subject)
    #expect(caller.seen(by: "crm").scope(sharing: .user) == .public)
    #expect(
      identifier(Self.rules).forwardedNames == ["authorization", "x-tenant", "cookie"],
      "in the order of the upstreams' names")
  }

  @Test("A caller sees what every upstream returned for it, and nothing of another partition")
  func sees() async throws {
    let identifier = identifier(Self.rules)
    let acme = try await identifier.caller { $0 == "x-tenant" ? "acme" : nil }
    let none = try await identifier.caller { _ in nil }
    let filmsOfAcme = acme.seen(by: "films").scope(sharing: .public)
    let filmsOfNone = none.seen(by: "films").scope(sharing: .public)
    let offers = acme.seen(by: "crm").scope(sharing: .public)
    #expect(filmsOfAcme != filmsOfNone)
    #expect(offers == none.seen(by: "crm").scope(sharing: .public))
    #expect(acme.viewer.layers.contains(filmsOfAcme) && acme.viewer.layers.contains(offers))
    #expect(!acme.viewer.layers.contains(filmsOfNone))
    #expect(!none.viewer.layers.contains(filmsOfAcme))
    #expect(none.viewer.layers.contains(filmsOfNone))
  }

  @Test("Upstreams that receive the same headers have the same scopes")
  func sharesScopes() async throws {
    let same = ForwardingRule(names: ["authorization"])
    let caller = try await identifier(["a": same, "b": same]).caller {
      $0 == "authorization" ? Self.headers[$0] : nil
    }
    #expect(
      caller.seen(by: "a").scope(sharing: .user) == caller.seen(by: "b").scope(sharing: .user))
    #expect(caller.viewer.layers.count == 2)
    let sole = try await CallerIdentifier(
      adminToken: nil, forwardedNames: ["authorization"], keys: KeyRing(root: Array(0..<32)),
      devices: .forTests(folder, TestClock()),
      tickets: StreamTickets(clock: TestClock().clock, random: RandomBytes { 0 })
    ).caller { $0 == "authorization" ? Self.headers[$0] : nil }
    #expect(sole.viewer == caller.viewer, "data stays visible when an upstream is added")
  }

  @Test("An anonymous caller of upstreams without partitions has the fast view")
  func staysAnonymous() async throws {
    let rules: [UpstreamName: ForwardingRule] = [
      "films": ForwardingRule(names: ["authorization"]), "shop": ForwardingRule(names: []),
    ]
    let caller = try await identifier(rules).caller { _ in nil }
    #expect(caller.viewer.isAnonymous)
  }

  @Test("The admin token is sent to no upstream")
  func keepsAdminToken() async throws {
    let caller = try await identifier(Self.rules).caller {
      $0 == "authorization" ? "Bearer \(CallerIdentifierTests.adminToken)" : nil
    }
    #expect(caller.isAdmin)
    #expect(caller.seen(by: "films").credentials == [])
    #expect(caller.credentials == [])
  }

  @Test("A queued caller is sent with no header that its upstream does not receive")
  func limitsQueued() {
    let queued = Caller(
      credentials: [
        .init(name: "authorization", value: "Bearer abc"), .init(name: "cookie", value: "s=1"),
      ], partitions: [.init(name: "x-tenant", value: "acme")], subject: "s")
    let limited = queued.limited(to: ["cookie"])
    #expect(limited.credentials.map(\.name) == ["cookie"])
    #expect(limited.partitions == [])
    #expect(limited.subject == "s")
  }

  @Test("Stored data of an upstream without service credentials is open, that of others is not")
  func guardsTypes() throws {
    let gate = StoredDataGate(
      hasServiceCredentials: true, ownTypes: ["Note"], openTypes: ["Film"])
    let stranger = Caller()
    let device = Caller(device: Caller.Device(id: "d", tokenDigest: ""))
    try gate.admit(stranger, types: ["Film"])
    try gate.admit(device, types: ["Film", "Note"])
    for types: Set<String>? in [nil, ["Offer"], ["Film", "Offer"], ["Note"]] {
      #expect(throws: Failure.self) { try gate.admit(stranger, types: types) }
    }
    #expect(throws: Failure.self) { try gate.admit(device, types: ["Film", "Offer"]) }
    try gate.admit(Caller(user: "ada"), types: nil)
  }

  @Test("What the service fetches by itself is stored where callers without headers see it")
  func storesOwnFetches() async throws {
    let served = Self.rules.map { name, rule in
      ServedUpstream(
        client: UpstreamClient(
          settings: UpstreamConfiguration(name: name, url: "http://\(name).test/"),
          clock: TestClock().clock
        ) { _, _ throws(HTTPClientError) in
          throw .clientClosed
        }, pulse: .silent, forwarding: rule)
    }
    let service = Upstreams(served).service
    let stranger = try await identifier(Self.rules).caller { _ in nil }
    let tenant = try await identifier(Self.rules).caller { $0 == "x-tenant" ? "acme" : nil }
    for upstream in Self.rules.keys {
      let scope = service.seen(by: upstream).scope(sharing: .user)
      #expect(stranger.viewer.layers.contains(scope), "\(upstream)")
      #expect(tenant.viewer.layers.contains(scope) == (upstream != "films"), "\(upstream)")
    }
  }

  @Test("An operation of an upstream that is not configured is not sent anywhere")
  func refusesUnknownUpstream() async throws {
    let upstreams = Upstreams([])
    #expect(upstreams["films"].configuration.url == "")
    await #expect(throws: UpstreamFailure.self) {
      _ = try await upstreams["films"].client.introspect(call: UpstreamCall())
    }
  }
}
