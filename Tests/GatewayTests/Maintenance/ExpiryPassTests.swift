import Model
import Storage
import SyncScheduler
import TestSupport
import Testing

@testable import Gateway

/// Expiry of all kinds of data with a temporarily wrong wall clock.
struct ExpiryPassTests {
  private static let day = Duration.seconds(86_400)
  private static let trust = Duration.seconds(3_600)

  /// One item of each kind, in a store whose service can be restarted.
  private final class World {
    let worker: WorkerWorld
    let log = RecordedLog()
    let device: DeviceRegistry.Registered
    private let caller: Caller
    private let mutation: MutationID
    private let session: RefreshSession
    private var devices: DeviceRegistry
    private var clock: TrustedClock
    private let key = ResultKey(operation: "GetFilm", variables: "{}", scope: .public)

    init() async throws {
      worker = try await WorkerWorld { FilmUpstream.rated($0.film) }
      let now = worker.time.wall
      clock = Self.clock(worker, newest: nil, log)
      devices = Self.registry(worker, clock, log)
      device = try await devices.register(
        DeviceRegistration(platform: "ios"), by: .anonymous, from: ClientNetwork("192.0.2.1"))
      caller = Caller(device: Caller.Device(id: device.device.id, tokenDigest: "digest"))
      mutation = try await worker.enqueue(WorkerWorld.rating("a"), by: caller)[0]
      let (worker, mutation, caller) = (worker, mutation, caller)
      try await worker.until {
        try await worker.record(mutation, of: caller).state == .applied
      }
      let account = Account(
        id: "u_1", email: "a@example.com", passwordHash: "hash", created: now)
      #expect(try await worker.store.create(account))
      session = RefreshSession(
        id: "s_1", account: "u_1", familyDigest: "family", tokenDigest: "token", rotated: now,
        expires: now.advanced(by: ExpiryPassTests.day * 30))
      #expect(
        try await worker.store.open(session, passwordHash: "hash", sessionsMax: 9))
      try await addNotification(at: now)
      _ = try await worker.store.apply(
        NormalisedResponse(
          call: CallNumber(1), horizon: CallNumber(1), received: now, scope: .public,
          result: ResultWrite(key: key, root: [], types: [])))
    }

    private func addNotification(at now: Timestamp) async throws {
      let fingerprint = try #require(PayloadFingerprint([UInt8](repeating: 1, count: 32)))
      let arrival = NewNotification(
        id: "n_1", origin: "operator", key: "k", fingerprint: fingerprint,
        message: Array("{}".utf8),
        batches: [.init(key: "b", userIDs: Array(#"["u"]"#.utf8), count: 1)], created: now,
        expires: now.advanced(by: ExpiryPassTests.day))
      #expect(try await worker.store.enqueue(arrival) == .taken)
      let batch = try #require(try await worker.store.claimBatch(at: now, boot: "boot"))
      _ = try await worker.store.settle(
        batch, boot: "boot", as: .sent(remoteID: nil, invalidIDs: []), at: now)
    }

    private static func clock(
      _ worker: WorkerWorld, newest: Timestamp?, _ log: RecordedLog
    ) -> TrustedClock {
      TrustedClock(
        newest: newest, wall: WallClock { [time = worker.time] in time.wall },
        reading: { [time = worker.time] in time.reading }, trust: ExpiryPassTests.trust,
        logger: log.logger)
    }

    private static func registry(
      _ worker: WorkerWorld, _ clock: TrustedClock, _ log: RecordedLog
    ) -> DeviceRegistry {
      DeviceRegistry(
        store: worker.store,
        settings: DeviceSettings(
          registration: .open, registrationsPerMinute: 30, expiry: ExpiryPassTests.day * 180),
        clock: WallClock { [time = worker.time] in time.wall }, expiryClock: clock.clock,
        random: RandomBytes { UInt8.random(in: 0...UInt8.max) },
        signal: CommitSignal { _ in }, logger: log.logger)
    }

    private var pass: ExpiryPass {
      get throws {
        ExpiryPass(
          store: worker.store, devices: devices, queue: try worker.sync,
          policy: EvictionPolicy(windows: ["GetFilm": ExpiryPassTests.day * 10], bytesMax: 1 << 30),
          clock: clock)
      }
    }

    /// Runs the service for a time, with a pass every hour.
    func live(_ duration: Duration) async throws {
      var left = duration
      repeat {
        let step = min(left, .seconds(3_600))
        worker.time.advance(by: step)
        left -= step
        try await expire()
      } while left > .zero
    }

    func expire() async throws {
      let pass = try pass
      var next = Expiry.allCases.first
      while let expiry = next { next = try await pass.step(of: expiry) }
      try await pass.noteLived()
    }

    /// Restarts the service with a wall clock that was set.
    func restart(wallForwardBy jump: Duration) async throws {
      worker.time.setWall(forwardBy: jump)
      clock = Self.clock(worker, newest: try await worker.store.livedUntil(), log)
      devices = Self.registry(worker, clock, log)
      try await worker.restart(expiringBy: clock)
    }

    /// Whether the item of a kind still exists.
    func remains(_ expiry: Expiry) async throws -> Bool {
      let store = worker.store
      switch expiry {
      case .cache: return try await store.explain(key) != nil
      case .devices:
        let token = try #require(DeviceToken(parsing: device.token))
        return try await store.device(tokenDigest: token.digest) != nil
      case .sessions:
        // Exchanged for itself, so that it can be checked again.
        let outcome = try await store.rotate(
          RefreshRotation(
            familyDigest: "family", presentedDigest: "token", nextDigest: "token",
            now: session.rotated, expires: session.expires, leeway: .zero))
        return outcome == .rotated(session: "s_1", account: "u_1")
      case .mutations:
        return try await store.mutation(mutation, of: device.device.id) != nil
      case .notifications: return try await store.notification("n_1", origin: "operator") != nil
      }
    }
  }

  @Test(
    "A start with a temporarily wrong clock removes nothing", arguments: Expiry.allCases)
  func survivesOneStart(expiry: Expiry) async throws {
    let world = try await World()
    try await world.expire()
    try await world.restart(wallForwardBy: Self.day * 366)
    try await world.expire()
    try await world.live(.seconds(3_000))
    #expect(try await world.remains(expiry))
    #expect(world.log.lines.contains { $0.message.contains("the wall clock jumped") })
    // The clock is corrected.
    try await world.restart(wallForwardBy: Self.day * -366)
    try await world.live(.seconds(30))
    #expect(try await world.remains(expiry))
  }

  @Test("A clock jump while the service runs removes nothing", arguments: Expiry.allCases)
  func survivesClockJump(expiry: Expiry) async throws {
    let world = try await World()
    try await world.expire()
    world.worker.time.setWall(forwardBy: Self.day * 366)
    try await world.live(.seconds(3_000))
    #expect(try await world.remains(expiry))
  }

  @Test("Expired data is removed once the clock is trusted", arguments: Expiry.allCases)
  func expiresOnceClockIsTrusted(expiry: Expiry) async throws {
    let world = try await World()
    try await world.expire()
    try await world.restart(wallForwardBy: Self.day * 366)
    try await world.expire()
    try await world.live(Self.trust * 2)
    try await world.live(DeviceRegistry.asideFor + .seconds(7_200))
    #expect(try await !world.remains(expiry))
  }

  @Test("A device with unfinished mutations is kept, which is logged")
  func keepsDevicesWithMutations() async throws {
    let world = try await World()
    let caller = Caller(
      device: Caller.Device(id: world.device.device.id, tokenDigest: "digest"))
    _ = try await world.worker.sync.perform(.pause, by: caller)
    let waiting = try await world.worker.enqueue(WorkerWorld.rating("b"), by: caller)[0]
    try await world.expire()
    try await world.restart(wallForwardBy: Self.day * 366)
    try await world.live(Self.trust * 2)
    try await world.live(DeviceRegistry.asideFor * 2)
    #expect(try await world.remains(.devices))
    #expect(try await !world.worker.record(waiting, of: caller).state.isFinished)
    let told = world.log.lines.filter { $0.message.contains("unused devices are kept") }
    #expect(told.count <= 2 && !told.isEmpty)
  }
}
