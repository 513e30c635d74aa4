import Accounts
import LosslessJSON
import Model
import TestSupport
import Testing
import Upstream

@testable import Gateway

/// Who can subscribe, whose credential opens the connection, and who gets the events.
struct SubscriptionAccessTests {
  private static let ada = verified("ada")

  /// A user whose token this service has verified, and forwards.
  private static func verified(
    _ user: String, token: String = "t", claims: [Claim] = [],
    expires: Timestamp = Timestamp(milliseconds: 1_800_000_000_000)
  ) -> Caller {
    Caller(
      credentials: [.init(name: "authorization", value: "Bearer \(user) \(token)")],
      partitions: [], subject: user, user: user,
      verified: .init(
        user: VerifiedUser(id: user, expires: expires, claims: claims), token: token),
      operatorRole: nil, hasToken: true, storedRoles: [.user, .device, .admin])
  }

  private static let admin = Caller(isAdmin: true, storedRoles: [.user, .device, .admin])

  enum Who: CaseIterable, Sendable {
    case anonymous, opaque, user, admin

    var caller: Caller {
      switch self {
      case .anonymous: .anonymous
      case .opaque: .opaque("o")
      case .user: SubscriptionAccessTests.ada
      case .admin: SubscriptionAccessTests.admin
      }
    }
  }

  @Test(
    "Access rules are those of queries",
    arguments: [
      ("Plain", [true, true, true, true], [false, true, true, false]),
      ("ForAll", [true, true, true, true], [true, true, true, true]),
      ("ForUsers", [false, true, true, false], [false, true, true, false]),
      ("ForDevices", [false, false, false, false], [false, false, false, false]),
      ("ForAdmins", [false, false, false, true], [false, false, false, true]),
      ("Shared", [true, true, true, true], [true, true, true, true]),
      ("Team", [false, false, false, false], [false, false, false, false]),
    ] as [(String, [Bool], [Bool])])
  func admits(operation: String, plain: [Bool], withServiceCredentials: [Bool]) async throws {
    for (hasCredentials, expected) in [(false, plain), (true, withServiceCredentials)] {
      let world = try SubscriptionWorld(hasServiceCredentials: hasCredentials)
      for (who, isAdmitted) in zip(Who.allCases, expected) {
        var failure: Failure?
        do {
          _ = try await world.start(operation, by: who.caller)
        } catch {
          failure = error as? Failure
        }
        #expect((failure == nil) == isAdmitted, "\(operation) \(who) \(hasCredentials)")
        if let failure { #expect([.unauthenticated, .forbidden].contains(failure.code)) }
      }
      #expect(world.script.opened.isEmpty)
    }
  }

  @Test("One user's events never reach another caller, even with the same subscription")
  func separatesCallers() async throws {
    let world = try SubscriptionWorld()
    let callers: [Caller] = [
      .anonymous, .opaque("a"), .opaque("b"), Self.ada, Self.verified("eve"),
      Caller(partitions: [.init(name: "accept-language", value: "de")]),
    ]
    var readers: [StreamReader] = []
    for caller in callers { readers.append(try await world.reader("Plain", by: caller)) }
    await eventually { world.script.opened.count == callers.count }
    let names = Set(world.script.opened.map(\.credential))
    #expect(names.count == callers.count, "no two share a connection")
    for opened in world.script.opened {
      let sent = opened.call.forwarded.map(\.value).joined()
      opened.change("1", "for \(sent)")
    }
    for (reader, caller) in zip(readers, callers) {
      let own = (caller.credentials + caller.partitions).map(\.value).joined()
      #expect(await reader.frames(1).first?.contains(#""for \#(own)""#) == true)
    }
    for opened in world.script.opened { opened.send(.complete) }
    for reader in readers {
      await eventually { reader.hasEnded }
      #expect(reader.frames.count == 2)
      await reader.leave()
    }
  }

  @Test("A caller's credential is sent only with that caller's own subscription")
  func sendsCredentials() async throws {
    let world = try SubscriptionWorld(hasServiceCredentials: true)
    let own = try await world.reader("Plain", by: Self.ada)
    let shared = try await world.reader("Shared", by: Self.ada)
    let role = try await world.reader("ForAdmins", by: Self.admin)
    await eventually { world.script.opened.count == 3 }
    func opened(_ name: String) throws -> SubscriptionScript.Opened {
      try #require(world.script.opened.first { $0.operation == name })
    }
    #expect(try opened("Plain").call.carriesUserCredential)
    #expect(try opened("Plain").call.forwarded.map(\.name) == ["authorization"])
    for name in ["Shared", "ForAdmins"] {
      #expect(try !opened(name).call.carriesUserCredential)
      #expect(try opened(name).call.forwarded.isEmpty)
    }
    #expect(try opened("Shared").credential == opened("ForAdmins").credential)
    #expect(try opened("Plain").credential != opened("Shared").credential)
    for reader in [own, shared, role] { await reader.leave() }
  }

  @Test("A role's events are stored for the role alone")
  func storesForRole() async throws {
    let world = try SubscriptionWorld(hasServiceCredentials: true)
    let reader = try await world.reader("ForAdmins", by: Self.admin)
    try await world.opened().change("1", "secret")
    _ = await reader.frames(1)
    #expect(try await world.name(of: "1") == nil)
    #expect(try await world.name(of: "1", viewer: Self.ada.viewer) == nil)
    #expect(try await world.name(of: "1", viewer: Self.admin.viewer) == "secret")
    await reader.leave()
  }

  @Test("Members of a group share a subscription; a refused token ends it only for its owner")
  func sharesByClaim() async throws {
    let world = try SubscriptionWorld()
    let acme = Claim(name: "org", issuer: "i", value: #""acme""#)
    let other = Claim(name: "org", issuer: "i", value: #""other""#)
    let ada = Self.verified("ada", claims: [acme])
    let bob = Self.verified("bob", claims: [acme])
    let first = try await world.reader("Team", by: ada)
    _ = try await world.opened()
    let second = try await world.reader("Team", by: bob)
    let third = try await world.reader("Team", by: Self.verified("eve", claims: [other]))
    await eventually { world.script.opened.count == 2 }
    let opened = world.script.opened[0]
    #expect(opened.call.forwarded.map(\.value) == ["Bearer ada t"])
    opened.change("1", "acme")
    #expect(await first.frames(1) == second.frames(1))
    #expect(third.frames.isEmpty)
    // A newer member's token is tried first.
    opened.send(.failed(.refused(.unauthenticated)))
    let again = try await world.opened(2)
    #expect(again.call.forwarded.map(\.value) == ["Bearer bob t"])
    again.send(.established(afterGap: false))
    #expect(await first.frames(2).last == "gap")
    again.send(.failed(.refused(.unauthenticated)))
    #expect(await second.frames(3).last == "error upstream_unauthenticated never")
    #expect(await first.frames(3).last == "error upstream_busy after")
    _ = try await world.start("Team", by: ada)
    await third.leave()
  }

  @Test("A refused credential is replaced by the same caller's newer one, after a gap")
  func replacesCredential() async throws {
    let world = try SubscriptionWorld()
    let old = try await world.reader("Plain", by: Self.verified("ada", token: "1"))
    let opened = try await world.opened()
    let new = try await world.reader("Plain", by: Self.verified("ada", token: "2"))
    await eventually { world.script.renewed == ["\(opened.credential) Bearer ada 2"] }
    #expect(world.script.opened.count == 1)
    opened.send(.failed(.refused(.unauthenticated)))
    let again = try await world.opened(1)
    #expect(again.call.forwarded.map(\.value) == ["Bearer ada 2"])
    #expect(again.credential == opened.credential)
    again.send(.established(afterGap: false))
    again.change("1", "one")
    for reader in [old, new] {
      let frames = await reader.frames(2)
      #expect(frames.first == "gap" && frames.count == 2)
    }
    again.send(.failed(.refused(.unauthenticated)))
    await eventually { old.hasEnded && new.hasEnded }
    #expect(world.script.opened.count == 2, "the same credential is not tried again")
  }

  @Test("A revoked device and an expired token end the stream, and none can begin with them")
  func endsWithCredentials() async throws {
    let world = try SubscriptionWorld()
    let registered = try await world.devices.register(
      DeviceRegistration(platform: "ios"), by: .anonymous, from: ClientNetwork("192.0.2.1"))
    let (device, digest) = try await world.devices.identify(token: registered.token, user: nil)
    let caller = Caller(device: Caller.Device(id: device.id, tokenDigest: digest))
    let start = try await world.start("ForDevices", by: caller)
    let reader = StreamReader(world.hub, start)
    await reader.waitUntilOpen()
    let upstream = try await world.opened()
    upstream.change("1", "one")
    _ = await reader.frames(1)
    try await world.devices.remove(try #require(caller.device))
    await eventually { reader.hasEnded }
    upstream.change("1", "two")
    #expect(reader.frames.count == 1)
    // Checked before the revocation, opened after it.
    let late = StreamReader(world.hub, start)
    await eventually { late.hasEnded }
    #expect(late.frames == ["error unauthenticated never"])
    let expired = Self.verified(
      "ada", expires: world.time.wall.advanced(by: .zero - .seconds(1)))
    let old = try await world.reader("Plain", by: expired)
    await eventually { old.hasEnded }
    #expect(old.frames.first?.hasPrefix("error token_expired") ?? true)
  }

  @Test("Strangers with made-up headers cannot take all subscriptions")
  func boundsUnverified() throws {
    #expect(SubscriptionHub.unknownMax < SubscriptionHub.subscriptionsMax)
    func isUnknown(_ caller: Caller) throws -> Bool {
      let world = try SubscriptionWorld()
      let operation = try #require(world.registry.operation(named: "Plain"))
      return ReadRequest(operation: operation, variables: .none, caller: caller).isUnknown
    }
    #expect(try isUnknown(.opaque("x")))
    #expect(try isUnknown(Caller(partitions: [.init(name: "x-tenant", value: "1")])))
    #expect(try !isUnknown(.anonymous))
    #expect(try !isUnknown(Self.ada))
    #expect(try !isUnknown(Self.admin))
    // A caller that is known only by its network, whatever it sends.
    func fromNetwork(_ caller: Caller) -> Caller {
      var caller = caller
      caller.network = ClientNetwork("192.0.2.1")
      return caller
    }
    #expect(try isUnknown(fromNetwork(.anonymous)))
    #expect(try isUnknown(fromNetwork(.opaque("x"))))
    #expect(try !isUnknown(fromNetwork(Self.ada)))
    #expect(try !isUnknown(fromNetwork(Self.admin)))
  }
}
