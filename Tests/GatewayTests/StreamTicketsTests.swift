import Logging
import Model
import Testing

@testable import Gateway

struct StreamTicketsTests {
  let clock = TestClock()
  let random = RandomBytes { UInt8.random(in: 0...UInt8.max) }
  let folder: StoreFolder
  let devices: DeviceRegistry
  let callers: CallerIdentifier

  init() throws {
    folder = try StoreFolder()
    devices = .forTests(folder, clock)
    callers = CallerIdentifier(
      adminToken: nil, forwardedNames: ["authorization"], keys: KeyRing(root: Array(0..<32)),
      devices: devices, tickets: StreamTickets(clock: clock.clock, random: random))
  }

  @Test("A ticket authenticates its caller once")
  func ticketIsValidOnce() async throws {
    let ada = try await callers.caller { $0 == "authorization" ? "Bearer ada" : nil }
    let ticket = try callers.tickets.issue(to: ada, from: Self.home)
    let caller = try await callers.caller(ticket: ticket, for: Self.stream).caller
    #expect(caller.credentials == ada.credentials)
    #expect(caller.viewer == ada.viewer)
    await #expect(throws: Failure.self) {
      try await callers.caller(ticket: ticket, for: Self.stream)
    }
  }

  @Test("An expired ticket is refused")
  func expiredTicket() async throws {
    let ticket = try callers.tickets.issue(to: .anonymous, from: Self.home)
    clock.advance(by: .seconds(30))
    await #expect(throws: Failure.self) {
      try await callers.caller(ticket: ticket, for: Self.stream)
    }
  }

  @Test("The ticket of a removed device is refused")
  func revokedDevice() async throws {
    let phone = try await devices.register(
      DeviceRegistration(platform: "ios"), by: .anonymous, from: ClientNetwork("192.0.2.1"))
    let caller = try await callers.caller { $0 == "device-token" ? phone.token : nil }
    #expect(caller.viewer.layers.first == .device(phone.device.id))
    let good = try callers.tickets.issue(to: caller, from: Self.home)
    let late = try callers.tickets.issue(to: caller, from: Self.home)
    #expect(try await callers.caller(ticket: good, for: Self.stream).caller.device == caller.device)
    try await devices.remove(try #require(caller.device))
    await #expect(throws: Failure.self) { try await callers.caller(ticket: late, for: Self.stream) }
  }

  private static let stream = StreamTarget(path: "/v1/changes/stream", query: "ticket=x")
  private static let home = ClientNetwork("192.0.2.1")

  @Test("A network has a limit of tickets, whatever credentials it invents")
  func networkLimit() throws {
    for number in 0..<100 {
      let invented = Caller(subject: "invented \(number)", hasToken: true)
      _ = try callers.tickets.issue(to: invented, from: Self.home)
    }
    let ada = Caller(subject: "ada", hasToken: true)
    #expect(throws: Failure.self) { try callers.tickets.issue(to: ada, from: Self.home) }
    _ = try callers.tickets.issue(to: ada, from: ClientNetwork("192.0.2.2"))
    clock.advance(by: .seconds(30))
    _ = try callers.tickets.issue(to: ada, from: Self.home)
  }

  @Test("Unknown callers of all networks leave tickets for users")
  func unknownCallersLeaveRoom() throws {
    var issued = 0
    for number in 0..<100 {
      let network = ClientNetwork("network \(number)")
      while (try? callers.tickets.issue(to: .anonymous, from: network)) != nil { issued += 1 }
    }
    #expect(issued == 5_000)
    let user = Caller(subject: "u_1", user: "u_1", hasToken: true)
    _ = try callers.tickets.issue(to: user, from: ClientNetwork("network 1"))
  }
}

extension DeviceRegistry {
  /// Open registration, with default settings.
  static func forTests(_ folder: StoreFolder, _ clock: TestClock) -> DeviceRegistry {
    DeviceRegistry(
      store: folder.store,
      settings: DeviceSettings(
        registration: .open, registrationsPerMinute: 30, expiry: .seconds(180 * 86_400)),
      clock: clock.clock, random: RandomBytes { UInt8.random(in: 0...UInt8.max) },
      signal: CommitSignal { _ in },
      logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
  }
}

/// Tickets that a client can reconnect with.
struct RenewableTicketTests {
  private static let home = ClientNetwork("192.0.2.1")
  private static let path = StreamTarget(path: "/v1/changes/stream", query: nil)
  private static let used = StreamTarget(path: "/v1/changes/stream", query: "types=Film&ticket=x")

  private let clock = TestClock()
  private let folder: StoreFolder
  private let devices: DeviceRegistry
  private let tickets: StreamTickets
  private let callers: CallerIdentifier

  init() throws {
    folder = try StoreFolder()
    devices = .forTests(folder, clock)
    tickets = StreamTickets(
      clock: clock.clock, random: RandomBytes { UInt8.random(in: 0...UInt8.max) })
    callers = CallerIdentifier(
      adminToken: nil, forwardedNames: ["authorization"], keys: KeyRing(root: Array(0..<32)),
      devices: devices, tickets: tickets)
  }

  private func issue(
    to caller: Caller = .anonymous, for target: StreamTarget = path
  ) throws -> String {
    try tickets.issue(to: caller, from: Self.home, for: target, isRenewable: true)
  }

  @Test("A renewable ticket is good while its stream lives and a minute longer")
  func goodWhileTheStreamLives() async throws {
    let ticket = try issue()
    var lease = try await callers.caller(ticket: ticket, for: Self.used).lease
    #expect(lease != nil)
    clock.advance(by: .seconds(3_600))
    // The client reconnects before the end of its former stream is noticed.
    var second = try await callers.caller(ticket: ticket, for: Self.used).lease
    lease = nil
    clock.advance(by: .seconds(3_600))
    second = nil
    clock.advance(by: .seconds(59))
    second = try await callers.caller(ticket: ticket, for: Self.used).lease
    second = nil
    clock.advance(by: .seconds(60))
    await #expect(throws: Failure.self) {
      try await callers.caller(ticket: ticket, for: Self.used)
    }
    withExtendedLifetime((lease, second)) {}
  }

  @Test("A ticket that is not used for half a minute expires, renewable or not")
  func unusedTicketExpires() async throws {
    let ticket = try issue()
    clock.advance(by: .seconds(30))
    await #expect(throws: Failure.self) {
      try await callers.caller(ticket: ticket, for: Self.used)
    }
  }

  @Test(
    "A ticket is refused on another path, or with another query than it is bound to",
    arguments: [
      ("/v1/changes/stream", nil, "/v1/operations/Film/stream", nil, false),
      ("/v1/changes/stream", nil, "/v1/changes/stream/", nil, false),
      ("/v1/changes/stream", nil, "/v1/changes/stream", "since=now&ticket=t", true),
      ("/api/f/stream", "a=1&b=2", "/api/f/stream", "a=1&ticket=t&b=2", true),
      ("/api/f/stream", "a=1&b=2", "/api/f/stream", "a=1&ticket=t", false),
      ("/api/f/stream", "", "/api/f/stream", "a=1&ticket=t", false),
      ("/api/é/stream", nil, "/api/e\u{301}/stream", nil, false),
      ("/api/é/stream", nil, "/api/%c3%a9/stream", nil, true),
      ("/api/f/stream", "q=it's a&r=%27", "/api/f/stream", "q=it%27s%20a&r='", true),
      ("/api/f/stream", "q=%41-%7e%2F", "/api/f/stream", "q=A-~/", true),
      // Encoded separators are part of a value.
      ("/api/f/stream", "a=1%26b=2", "/api/f/stream", "a=1&b=2", false),
      ("/api/f/stream", "a=1%3D2", "/api/f/stream", "a=1=2", false),
      ("/api/f/stream", "a=1%2B2", "/api/f/stream", "a=1+2", false),
      ("/api/a%2Fb/stream", nil, "/api/a/b/stream", nil, false),
      ("/api/f/stream", "a=%2527", "/api/f/stream", "a=%27", false),
      ("/api/f/stream", "a=%2", "/api/f/stream", "a=%252", false),
      ("/api/f/stream", "a=%2", "/api/f/stream", "a=%32", false),
    ] as [(String, String?, String, String?, Bool)])
  func boundToItsTarget(
    path: String, query: String?, usedPath: String, usedQuery: String?, isGood: Bool
  ) async throws {
    let ticket = try issue(for: StreamTarget(path: path, query: query))
    let target = StreamTarget(path: usedPath, query: usedQuery)
    if isGood {
      _ = try await callers.caller(ticket: ticket, for: target)
    } else {
      let failure = await #expect(throws: Failure.self) {
        try await callers.caller(ticket: ticket, for: target)
      }
      #expect(failure?.code == .forbidden)
      // A mistake does not use it up.
      _ = try await callers.caller(
        ticket: ticket, for: StreamTarget(path: path, query: query))
    }
  }

  @Test("The removal of the device ends its ticket")
  func removedDeviceEndsItsTicket() async throws {
    let phone = try await devices.register(
      DeviceRegistration(platform: "ios"), by: .anonymous, from: Self.home)
    let caller = try await callers.caller { $0 == "device-token" ? phone.token : nil }
    let ticket = try issue(to: caller)
    let lease = try await callers.caller(ticket: ticket, for: Self.used).lease
    try await devices.remove(try #require(caller.device))
    await #expect(throws: Failure.self) {
      try await callers.caller(ticket: ticket, for: Self.used)
    }
    withExtendedLifetime(lease) {}
  }

  @Test("A sign-out ends the tickets of the user and of the device, and no others")
  func signOutEndsTickets() async throws {
    let ada = Caller(subject: "ada", user: "ada")
    let eve = Caller(subject: "eve", user: "eve")
    let (hers, other) = (try issue(to: ada), try issue(to: eve))
    let lease = try await callers.caller(ticket: hers, for: Self.used).lease
    tickets.end(user: "ada")
    await #expect(throws: Failure.self) { try await callers.caller(ticket: hers, for: Self.used) }
    _ = try await callers.caller(ticket: other, for: Self.used)
    withExtendedLifetime(lease) {}
  }

  @Test("One ticket has a limited number of open streams")
  func openStreamsAreLimited() async throws {
    let ticket = try issue()
    var leases: [StreamLease?] = []
    for _ in 0..<StreamTickets.streamsOfOneMax {
      leases.append(try await callers.caller(ticket: ticket, for: Self.used).lease)
    }
    let failure = await #expect(throws: Failure.self) {
      try await callers.caller(ticket: ticket, for: Self.used)
    }
    #expect(failure?.code == .rateLimited)
    leases.removeLast()
    _ = try await callers.caller(ticket: ticket, for: Self.used)
  }

  @Test("Tickets of open streams count for the owner's limit")
  func openStreamsCount() async throws {
    var leases: [StreamLease?] = []
    for _ in 0..<100 {
      leases.append(try await callers.caller(ticket: try issue(), for: Self.used).lease)
    }
    clock.advance(by: .seconds(3_600))
    #expect(throws: Failure.self) { try issue() }
    leases = []
    clock.advance(by: .seconds(61))
    _ = try issue()
    withExtendedLifetime(leases) {}
  }
}
