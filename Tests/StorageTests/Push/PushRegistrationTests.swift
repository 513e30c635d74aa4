import Model
import Storage
import Testing

struct PushRegistrationTests {
  private static let now = Timestamp(milliseconds: 5_000)

  private static func device(
    _ id: String, of user: String? = "ada", token: String? = "token", in store: Store
  ) async throws {
    try await store.register(
      Device(
        id: id, platform: "ios", pushToken: token, user: user,
        registered: Timestamp(milliseconds: 1), lastUsed: Timestamp(milliseconds: 1)),
      tokenDigest: "digest of \(id)")
  }

  private static func due(_ store: Store) async throws -> [DueRegistration] {
    try await store.dueRegistrations(at: now, limit: 9)
  }

  /// Marks all due registrations as synchronised.
  private static func synchroniseAll(_ store: Store, sender: String = "onesignal") async throws {
    for registration in try await due(store) {
      try await store.settle(
        registration, as: .succeeded(sender: sender, remoteID: "r \(registration.token)"))
    }
  }

  private static func state(_ id: String, _ store: Store) async throws -> PushRegistration.State? {
    try await store.pushRegistration(of: id)?.state
  }

  @Test("A device is registered and unregistered")
  func registersAndUnregisters() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await Self.device("d", in: store)
    guard case .kept(let kept) = try await store.registerForPush(device: "d") else {
      return #expect(Bool(false), "not kept")
    }
    #expect(kept.state == .queued)
    #expect(kept.user == "ada")
    let pending = try #require(try await Self.due(store).first)
    #expect(pending.token == "token")
    #expect(!pending.isLeaving)
    try await Self.synchroniseAll(store)
    #expect(try await Self.state("d", store) == .registered)
    #expect(try await store.nextRegistrationDue() == nil)
    try await store.unregisterFromPush(device: "d")
    #expect(try await Self.state("d", store) == nil)
    let leaving = try #require(try await Self.due(store).first)
    #expect(leaving.isLeaving)
    #expect(leaving.remoteID == "r token")
    try await Self.synchroniseAll(store)
    #expect(try await Self.due(store).isEmpty)
  }

  @Test("A device without token or user is not registered")
  func tokenAndUserAreRequired() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await Self.device("d", token: nil, in: store)
    #expect(try await store.registerForPush(device: "d") == .lacksToken)
    try await Self.device("e", of: nil, in: store)
    #expect(try await store.registerForPush(device: "e") == .lacksToken)
    #expect(try await store.registerForPush(device: "f") == .deviceGone)
  }

  /// The request changes during the synchronisation.
  @Test("The result of a synchronisation counts only for the version it was for")
  func resultCountsForItsVersion() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await Self.device("d", in: store)
    _ = try await store.registerForPush(device: "d")
    let pending = try #require(try await Self.due(store).first)
    try await store.unregisterFromPush(device: "d")
    try await store.settle(pending, as: .succeeded(sender: "onesignal", remoteID: "r"))
    let leaving = try #require(try await Self.due(store).first)
    #expect(leaving.isLeaving)
    #expect(leaving.remoteID == "r")
    _ = try await store.registerForPush(device: "d")
    try await store.settle(leaving, as: .succeeded(sender: "onesignal", remoteID: nil))
    #expect(try await Self.state("d", store) == .queued)
    #expect(try await Self.due(store).map(\.isLeaving) == [false])
  }

  @Test("A registration follows changes of its device")
  func registrationFollowsDevice() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await Self.device("d", token: "old", in: store)
    _ = try await store.registerForPush(device: "d")
    try await Self.synchroniseAll(store)
    _ = try await store.change(device: "d", DeviceChange(pushToken: .set("new")))
    let due = try await Self.due(store)
    #expect(Set(due.map { "\($0.token) \($0.isLeaving)" }) == ["old true", "new false"])
    try await Self.synchroniseAll(store)
    #expect(try await Self.state("d", store) == .registered)
    _ = try await store.change(device: "d", DeviceChange(name: .set("other")))
    #expect(try await Self.due(store).isEmpty)
    #expect(try await store.remove(device: "d"))
    #expect(try await Self.due(store).map(\.isLeaving) == [true])
    #expect(try await Self.state("d", store) == nil)
  }

  @Test("A changed device without a registration gets none")
  func noRegistrationIsCreated() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await Self.device("d", in: store)
    _ = try await store.change(device: "d", DeviceChange(pushToken: .set("new")))
    #expect(try await Self.state("d", store) == nil)
    #expect(try await Self.due(store).isEmpty)
  }

  /// Another user of the same phone: a leaving registration must not take away the token.
  @Test("A token belongs only to the device that registered it last")
  func lastRegistrationOwnsToken() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    try await Self.device("d", of: "ada", in: store)
    try await Self.device("e", of: "bob", in: store)
    _ = try await store.registerForPush(device: "d")
    try await Self.synchroniseAll(store)
    try await store.unregisterFromPush(device: "d")
    _ = try await store.registerForPush(device: "e")
    let due = try await Self.due(store)
    #expect(due.map(\.user) == ["bob"])
    #expect(due.map(\.isLeaving) == [false])
  }

  @Test("A change of push service queues all registrations again")
  func newServiceGetsAll() async throws {
    let fixture = try StoreFixture()
    defer { withExtendedLifetime(fixture) {} }
    let store = fixture.store
    for id in ["d", "e"] {
      try await Self.device(id, token: id, in: store)
      _ = try await store.registerForPush(device: id)
    }
    try await Self.synchroniseAll(store, sender: "outbox")
    let wait = Duration.seconds(60)
    try await store.recoverRegistrations(sender: "outbox", at: Self.now, waitMax: wait)
    #expect(try await Self.due(store).isEmpty)
    try await store.recoverRegistrations(sender: "onesignal", at: Self.now, waitMax: wait)
    #expect(try await Self.due(store).count == 2)
  }

  @Test("A user unknown to the push service must register again")
  func unknownUserRegistersAgain() async throws {
    let world = try OutboxWorld()
    for (id, user) in [("d", "u1"), ("e", "u2")] {
      try await Self.device(id, of: user, token: id, in: world.store)
      _ = try await world.store.registerForPush(device: id)
    }
    try await Self.synchroniseAll(world.store)
    _ = try await world.store.enqueue(world.arrival("k"))
    let batch = try #require(try await world.claim())
    try await world.settle(batch, as: .sent(remoteID: nil, invalidIDs: ["u1"]))
    #expect(try await Self.state("d", world.store) == .failed)
    #expect(try await Self.state("e", world.store) == .registered)
    _ = try await world.store.registerForPush(device: "d")
    #expect(try await Self.due(world.store).map(\.user) == ["u1"])
  }
}
