import Gateway
import Logging
import Model
import Testing

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
    let caller = try await callers.caller(ticket: ticket)
    #expect(caller.credentials == ada.credentials)
    #expect(caller.viewer == ada.viewer)
    await #expect(throws: Failure.self) { try await callers.caller(ticket: ticket) }
  }

  @Test("An expired ticket is refused")
  func expiredTicket() async throws {
    let ticket = try callers.tickets.issue(to: .anonymous, from: Self.home)
    clock.advance(by: .seconds(30))
    await #expect(throws: Failure.self) { try await callers.caller(ticket: ticket) }
  }

  @Test("The ticket of a removed device is refused")
  func revokedDevice() async throws {
    let phone = try await devices.register(
      DeviceRegistration(platform: "ios"), by: .anonymous, from: ClientNetwork("192.0.2.1"))
    let caller = try await callers.caller { $0 == "device-token" ? phone.token : nil }
    #expect(caller.viewer.layers.first == .device(phone.device.id))
    let good = try callers.tickets.issue(to: caller, from: Self.home)
    let late = try callers.tickets.issue(to: caller, from: Self.home)
    #expect(try await callers.caller(ticket: good).device == caller.device)
    try await devices.remove(try #require(caller.device))
    await #expect(throws: Failure.self) { try await callers.caller(ticket: late) }
  }

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
