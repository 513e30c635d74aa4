import Logging
import Model
import Storage
import TestSupport
import Testing

@testable import Gateway

struct DeviceRegistryTests {
  let folder: StoreFolder
  let clock = TestClock()
  let signal = CommitSignal { _ in try await ContinuousClock().sleep(until: .now + .seconds(3600)) }

  init() throws {
    folder = try StoreFolder()
  }

  func registry(
    _ registration: DeviceSettings.Registration = .open, perMinute: Int = 30
  ) -> DeviceRegistry {
    DeviceRegistry(
      store: folder.store,
      settings: DeviceSettings(
        registration: registration, registrationsPerMinute: perMinute,
        expiry: .seconds(180 * 86_400)),
      clock: clock.clock, random: RandomBytes { UInt8.random(in: 0...UInt8.max) },
      signal: signal, logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
  }

  func phone(
    _ registry: DeviceRegistry, by caller: Caller = .anonymous, from address: String = "192.0.2.1"
  ) async throws -> DeviceRegistry.Registered {
    try await registry.register(
      DeviceRegistration(platform: "ios"), by: caller, from: ClientNetwork(address))
  }

  func code(_ body: () async throws -> Void) async -> Failure.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? Failure)?.code
    }
  }

  @Test("A token identifies its device after a restart")
  func tokenSurvivesRestart() async throws {
    let phone = try await phone(registry())
    for registry in [registry(), registry()] {
      let (device, _) = try await registry.identify(token: phone.token, user: nil)
      #expect(device == phone.device)
    }
  }

  @Test(
    "Malformed tokens are refused",
    arguments: [
      "", "x", String(repeating: "A", count: 43), String(repeating: "-", count: 44), "ü",
    ])
  func refusesMalformedToken(text: String) async {
    #expect(
      await code { _ = try await registry().identify(token: text, user: nil) } == .unauthenticated)
  }

  @Test("A rotated token is invalid at once")
  func rotatedTokenIsInvalidAtOnce() async throws {
    let registry = registry()
    let phone = try await phone(registry)
    let (_, digest) = try await registry.identify(token: phone.token, user: nil)
    let caller = Caller.Device(id: phone.device.id, tokenDigest: digest)
    let fresh = try await registry.rotate(caller)
    #expect(try await registry.identify(token: fresh, user: nil).device.id == phone.device.id)
    #expect(
      await code { _ = try await registry.identify(token: phone.token, user: nil) }
        == .unauthenticated)
    // A second rotation with the old token must not take the device over.
    #expect(await code { _ = try await registry.rotate(caller) } == .unauthenticated)
  }

  /// A registered phone with a token that only reads, for a minute.
  private func reader(
    _ registry: DeviceRegistry
  ) async throws -> (phone: Caller.Device, token: String) {
    let phone = try await phone(registry)
    let (_, digest) = try await registry.identify(token: phone.token, user: nil)
    let caller = Caller.Device(id: phone.device.id, tokenDigest: digest)
    return (caller, try await registry.issueReadToken(to: caller, lifetime: .seconds(60)).text)
  }

  @Test("A read-only token identifies its device until it expires")
  func readTokenExpires() async throws {
    let registry = registry()
    let (phone, token) = try await reader(registry)
    let (device, digest) = try await registry.identify(token: token, user: nil)
    #expect(device.id == phone.id && device.access == .read)
    #expect(await code { try await registry.admitWriting(token: token) } == .readOnly)
    let caller = Caller(
      device: Caller.Device(
        id: device.id, tokenDigest: digest, access: device.access, expires: device.tokenExpires))
    #expect(registry.lifetime(of: caller) == .seconds(60))
    #expect(await code { try caller.admitWriting() } == .readOnly)
    clock.advance(by: .seconds(59))
    try await registry.confirm(caller)
    clock.advance(by: .seconds(1))
    #expect(await code { try await registry.confirm(caller) } == .unauthenticated)
    #expect(
      await code { _ = try await registry.identify(token: token, user: nil) } == .unauthenticated)
    try await registry.expire()
    #expect(try await registry.readTokens(of: phone) == [])
  }

  /// Otherwise its holder could take the device over.
  @Test("A read-only token binds its device to no user")
  func readTokenBindsNoUser() async throws {
    let registry = registry()
    let (phone, token) = try await reader(registry)
    #expect(try await registry.identify(token: token, user: "eve").device.user == nil)
    #expect(try await registry.find(phone.tokenDigest).user == nil)
    let own = try await registry.find(phone.tokenDigest)
    #expect(own.access == .full)
    _ = try await folder.store.bind(device: phone.id, to: "ada")
    let fresh = self.registry()
    #expect(
      await code { _ = try await fresh.identify(token: token, user: "eve") }
        == .deviceOfAnotherUser)
    #expect(try await fresh.identify(token: token, user: "ada").device.user == "ada")
  }

  @Test("A read-only token ends at once with a rotation, its removal and its device")
  func readTokenEndsWithItsDevice() async throws {
    let registry = registry()
    for end in 0..<3 {
      let (phone, token) = try await reader(registry)
      #expect(try await registry.identify(token: token, user: nil).device.id == phone.id)
      let stream = signal.listen(as: .anonymous, device: phone.id)
      switch end {
      case 0: _ = try await registry.rotate(phone)
      case 1:
        let id = try #require(try await registry.readTokens(of: phone).first?.id)
        try await registry.removeReadToken(id, of: phone)
      default: try await registry.remove(phone)
      }
      #expect(
        await code { _ = try await registry.identify(token: token, user: nil) }
          == .unauthenticated)
      #expect(await stream.next() == .end)
      signal.remove(stream)
    }
  }

  @Test("A removed device is invalid at once")
  func removedDeviceIsInvalidAtOnce() async throws {
    let registry = registry()
    let phone = try await phone(registry)
    let (_, digest) = try await registry.identify(token: phone.token, user: nil)
    try await registry.remove(Caller.Device(id: phone.device.id, tokenDigest: digest))
    #expect(
      await code { _ = try await registry.identify(token: phone.token, user: nil) }
        == .unauthenticated)
  }

  @Test("A device belongs to its first user only")
  func deviceBelongsToFirstUser() async throws {
    let registry = registry()
    let phone = try await phone(registry)
    #expect(try await registry.identify(token: phone.token, user: "ada").device.user == "ada")
    #expect(try await registry.identify(token: phone.token, user: nil).device.user == "ada")
    #expect(
      await code { _ = try await registry.identify(token: phone.token, user: "bob") }
        == .deviceOfAnotherUser)
  }

  @Test("Of two concurrent users one gets the device")
  func concurrentUsers() async throws {
    let registry = registry()
    let phone = try await phone(registry)
    await withTaskGroup(of: Bool.self) { group in
      for user in ["ada", "bob", "cyd", "dan"] {
        group.addTask {
          (try? await registry.identify(token: phone.token, user: user)) != nil
        }
      }
      var winners = 0
      for await isWinner in group where isWinner { winners += 1 }
      #expect(winners == 1)
    }
  }

  @Test("Settings decide who can register devices")
  func registrationSettings() async throws {
    let opaque = Caller(subject: "digest", hasToken: true)
    let ada = Caller(subject: "ada", user: "ada", hasToken: true)
    let admin = Caller(isAdmin: true)
    #expect(await code { _ = try await phone(registry(.user)) } == .signInRequired)
    #expect(await code { _ = try await phone(registry(.user), by: opaque) } == .signInRequired)
    #expect(try await phone(registry(.user), by: ada).device.user == "ada")
    #expect(await code { _ = try await phone(registry(.admin), by: ada) } == .unauthenticated)
    #expect(await code { _ = try await phone(registry(.admin), by: admin) } == nil)
  }

  @Test("Registrations are limited by address and by user")
  func registrationLimits() async throws {
    let registry = registry(perMinute: 2)
    for _ in 0..<2 { _ = try await phone(registry) }
    await #expect {
      _ = try await phone(registry)
    } throws: { error in
      guard let failure = error as? Failure else { return false }
      return failure.code == .rateLimited && failure.retryAfter == .seconds(30)
    }
    _ = try await phone(registry, from: "192.0.2.2")
    let ada = Caller(subject: "ada", user: "ada", hasToken: true)
    _ = try await phone(registry, by: ada, from: "192.0.2.3")
    _ = try await phone(registry, by: ada, from: "192.0.2.4")
    #expect(
      await code { _ = try await phone(registry, by: ada, from: "192.0.2.5") } == .rateLimited)
    clock.advance(by: .seconds(30))
    _ = try await phone(registry)
    #expect(await code { _ = try await phone(registry) } == .rateLimited)
  }

  @Test("Unused devices expire, and used ones stay")
  func unusedDevicesExpire() async throws {
    let registry = registry()
    let idle = try await phone(registry)
    let used = try await phone(registry)
    clock.advance(by: .seconds(100 * 86_400))
    _ = try await registry.identify(token: used.token, user: nil)
    // Recorded after the response, so the test waits for it.
    #expect(
      try await eventuallyHolds {
        try await folder.store.device(tokenDigest: tokenDigest(used))?.lastUsed == clock.clock.now()
      })
    clock.advance(by: .seconds(81 * 86_400))
    try await registry.expire()
    clock.advance(by: DeviceRegistry.asideFor + .seconds(1))
    try await registry.expire()
    #expect(
      await code { _ = try await registry.identify(token: idle.token, user: nil) }
        == .unauthenticated)
    #expect(try await registry.identify(token: used.token, user: nil).device.id == used.device.id)
  }

  private func tokenDigest(_ registered: DeviceRegistry.Registered) throws -> String {
    try #require(DeviceToken(parsing: registered.token)).digest
  }

  private func isSetAside(_ registered: DeviceRegistry.Registered) async throws -> Bool {
    try await folder.store.devicesSetAside(
      before: Timestamp(milliseconds: .max), limit: 9
    ).contains(registered.device.id)
  }

  @Test("A device that was set aside is restored when it is used")
  func setAsideDeviceIsRestored() async throws {
    let registry = registry()
    let idle = try await phone(registry)
    clock.advance(by: .seconds(181 * 86_400))
    try await registry.expire()
    #expect(try await isSetAside(idle))
    #expect(try await registry.identify(token: idle.token, user: nil).device.id == idle.device.id)
    #expect(try await eventuallyHolds { try await !isSetAside(idle) })
    clock.advance(by: DeviceRegistry.asideFor + .seconds(1))
    try await registry.expire()
    #expect(try await registry.identify(token: idle.token, user: nil).device.id == idle.device.id)
  }

  @Test("Devices set aside by a clock that was ahead are not removed after it is corrected")
  func clockAheadRemovesNothing() async throws {
    let registry = registry()
    let idle = try await phone(registry)
    clock.advance(by: .seconds(366 * 86_400))
    try await registry.expire()
    #expect(try await isSetAside(idle))
    clock.advance(by: .seconds(-366 * 86_400))
    for _ in 0..<3 {
      clock.advance(by: DeviceRegistry.asideFor)
      try await registry.expire()
    }
    #expect(try await !isSetAside(idle))
    #expect(try await registry.identify(token: idle.token, user: nil).device.id == idle.device.id)
  }

  @Test("The open streams of an expired device are ended")
  func expiryEndsStreams() async throws {
    let registry = registry()
    let idle = try await phone(registry)
    clock.advance(by: .seconds(181 * 86_400))
    let used = try await phone(registry)
    let ended = signal.listen(as: .anonymous, device: idle.device.id)
    let kept = signal.listen(as: .anonymous, device: used.device.id)
    try await registry.expire()
    clock.advance(by: DeviceRegistry.asideFor + .seconds(1))
    try await registry.expire()
    #expect(await ended.next() == .end)
    #expect(ended.hasEnded)
    #expect(!kept.hasEnded)
    signal.remove(ended)
    signal.remove(kept)
    #expect(signal.count == 0)
  }

  @Test(
    "A replica refuses a token that the log has replaced, and ends only the streams of its device")
  func appliedRowsRevokeTokens() async throws {
    // Both have the same store: what one writes is applied for the other.
    let (leader, replica) = (registry(), registry())
    let (lost, kept) = (try await phone(leader), try await phone(leader))
    let (device, digest) = try await replica.identify(token: lost.token, user: nil)
    _ = try await replica.identify(token: kept.token, user: nil)
    let ended = signal.listen(as: .anonymous, device: device.id)
    let other = signal.listen(as: .anonymous, device: kept.device.id)
    let ofSession = signal.listen(as: .anonymous, device: "console")
    defer { for listener in [ended, other, ofSession] { signal.remove(listener) } }
    let caller = Caller.Device(id: device.id, tokenDigest: digest)
    // A signal of its own, as on another machine.
    let elsewhere = DeviceRegistry(
      store: folder.store,
      settings: DeviceSettings(
        registration: .open, registrationsPerMinute: 30, expiry: .seconds(86_400)),
      clock: clock.clock, random: RandomBytes { UInt8.random(in: 0...UInt8.max) },
      signal: CommitSignal { try await Task.sleep(for: $0) },
      logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
    _ = try await elsewhere.rotate(caller)
    #expect(try await replica.find(digest).id == device.id)
    await replica.noteApplied()
    #expect(
      await code { _ = try await replica.identify(token: lost.token, user: nil) }
        == .unauthenticated)
    #expect(try await replica.identify(token: kept.token, user: nil).device.id == kept.device.id)
    #expect(await ended.next().contains(.end))
    other.wake(.alarm)
    ofSession.wake(.alarm)
    #expect(await other.next() == .alarm)
    #expect(await ofSession.next() == .alarm)
  }
}
