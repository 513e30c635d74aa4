import Model
import Storage
import SyncScheduler
import Testing

/// What the store refuses disabled accounts inside its transactions.
struct DisabledAccountTests {
  private static let now = Timestamp(milliseconds: 1_000_000)

  private static func account(_ id: String) -> Account {
    Account(id: id, email: "\(id)@example.com", passwordHash: "hash", created: now)
  }

  private static func session(_ id: String) -> RefreshSession {
    RefreshSession(
      id: id, account: "u_1", familyDigest: "family \(id)", tokenDigest: "token", rotated: now,
      expires: now.advanced(by: .seconds(3_600)))
  }

  private static func rotation(_ id: String, from token: String, to next: String)
    -> RefreshRotation
  {
    RefreshRotation(
      familyDigest: "family \(id)", presentedDigest: token, nextDigest: next, now: now,
      expires: now.advanced(by: .seconds(3_600)), leeway: .zero)
  }

  @Test("A disabled account opens and renews no session, and keeps those it has")
  func sessionsWait() async throws {
    let folder = TemporaryFolder()
    let first = try StoreFixture(folder)
    #expect(try await first.store.create(Self.account("u_1")))
    #expect(
      try await first.store.open(Self.session("s_1"), passwordHash: "hash", sessionsMax: 9))
    #expect(try await first.store.disableAccount("u_1", at: Self.now))
    #expect(try await !first.store.disableAccount("u_2", at: Self.now))
    first.store.close()
    let fixture = try StoreFixture(folder, segment: 2)
    defer { fixture.store.close() }
    let store = fixture.store
    #expect(try await store.disabledAccounts() == ["u_1"])
    #expect(try await store.account(id: "u_1")?.isDisabled == true)
    #expect(
      try await !store.open(Self.session("s_2"), passwordHash: "hash", sessionsMax: 9))
    for _ in 1...2 {
      #expect(try await store.rotate(Self.rotation("s_1", from: "token", to: "next")) == .disabled)
    }
    #expect(try await store.enableAccount("u_1"))
    #expect(
      try await store.rotate(Self.rotation("s_1", from: "token", to: "next"))
        == .rotated(session: "s_1", account: "u_1"))
    // A token that was stolen ends its session, disabled or not.
    #expect(try await store.disableAccount("u_1", at: Self.now))
    #expect(
      try await store.rotate(Self.rotation("s_1", from: "token", to: "other"))
        == .reused(session: "s_1", account: "u_1"))
    #expect(try await store.accountSummary(id: "u_1", at: Self.now)?.isDisabled == true)
  }

  @Test("The mark of a disabled account outlives the account")
  func outlivesItsAccount() async throws {
    let fixture = try StoreFixture()
    defer { fixture.store.close() }
    #expect(try await fixture.store.create(Self.account("u_1")))
    #expect(try await fixture.store.disableAccount("u_1", at: Self.now))
    #expect(try await fixture.store.removeAccount(id: "u_1"))
    #expect(try await fixture.store.disabledAccounts() == ["u_1"])
    #expect(try await !fixture.store.enableAccount("u_1"))
  }

  @Test("No mutation of a disabled account's device is claimed, and none is lost")
  func queuesWait() async throws {
    let world = try await QueueWorld()
    defer { world.store.close() }
    #expect(try await world.store.create(Self.account("u_1")))
    #expect(try await world.store.bind(device: QueueWorld.device, to: "u_1")?.user == "u_1")
    _ = try await world.enqueue(
      QueueWorld.arrival("a", mode: .steady), QueueWorld.arrival("b", mode: .steady)
    ).get()
    let sent = try #require(try await world.claim("a"))
    #expect(try await world.store.disableAccount("u_1", at: world.now))
    // What was being sent keeps its outcome, and nothing follows it.
    let settled = try await world.store.settle(
      MutationSettlement(
        claim: sent.claim, outcome: .applied(created: [:]), othersSucceeded: nil, response: nil,
        result: nil), goesOn: true, of: QueueWorld.device, timing: world.timing)
    #expect(settled.answer.mutation?.state == .applied && settled.answer.next == nil)
    #expect(settled.outlook.ready.isEmpty)
    #expect(try await world.claim("b") == nil)
    #expect(try await world.state("b") == .queued)
    let later = try await world.enqueue(QueueWorld.arrival("c", mode: .steady)).get()
    #expect(later.outlook.ready.isEmpty)
    #expect(try await world.store.enableAccount("u_1"))
    let outlook = try await world.store.look(at: QueueWorld.device, timing: world.timing).outlook
    #expect(outlook.ready.map(\.id) == [MutationID("m_b")])
    #expect(try await world.claim("b") != nil)
  }
}
