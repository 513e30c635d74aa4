import LosslessJSON
import Model
import SyncScheduler
import TestSupport

@testable import Storage

/// One seeded run over the real store: phones that enqueue changes and lose responses, a process
/// that ends at any moment, an upstream that refuses, loses and repeats; then a calm phase in which
/// everything must finish. After each step the store must match ``ExpectedDevice``.
struct StoreSimulation {
  let seed: UInt64
  var chance: SimulatedChance
  var store: FaultyStore
  var upstream: SimulatedUpstream
  var phones: [SimulatedPhone]
  /// By the phone's number.
  var expected: [ExpectedDevice]
  var flights: [SimulatedFlight] = []
  var fetches: [SimulatedFetch] = []
  var now = Timestamp(milliseconds: 1_700_000_000_000)
  /// The update of the latest call, by film.
  var latest: [EntityKey: ExpectedDevice.FilmUpdate] = [:]
  /// Mutations that can legitimately take effect twice if upstream does not recognise keys.
  var doubled: Set<MutationID> = []
  /// When an alarm would wake the queue.
  var wake: Timestamp?
  var lastSucceeded: Timestamp?
  /// The process ended in the middle of the step.
  private(set) var hasDied = false
  private(set) var fault: String?
  var totals = StoreTotals()
  private let policy: QueuePolicy
  private var openCalls: Set<Int64> = []
  private var lastCall: Int64 = 0
  private var idCount = 0
  /// The last steps, for the report.
  private var trail: [String] = []

  private static let calmStepsMax = 400

  init(seed: UInt64) async throws {
    self.seed = seed
    chance = SimulatedChance(seed: seed)
    upstream = SimulatedUpstream(recognisesKeys: chance.percent(60))
    policy = QueuePolicy(
      debounce: chance.percent(30) ? .seconds(2) : .zero, parallel: chance.number(1...4),
      itemsMax: chance.percent(10) ? 5 : 1_000)
    phones = (0..<chance.number(1...2)).map(SimulatedPhone.init(number:))
    expected = phones.map { _ in ExpectedDevice() }
    store = try await FaultyStore()
    for phone in phones {
      try await store.store.register(DeviceTests.phone(phone.device), tokenDigest: phone.device)
    }
  }

  mutating func run() async throws {
    for _ in 0..<chance.number(20...70) where fault == nil {
      try await step { simulation in try await simulation.stormStep() }
    }
    chance.isCalm = true
    for _ in 0..<Self.calmStepsMax where fault == nil {
      if try await isOver() { break }
      try await step { simulation in try await simulation.calmStep() }
    }
    guard fault == nil else { return }
    if try await !isOver() { fail("7: there is no end") }
    try await store.close()
    try await check()
    try await checkAtEnd()
    store.store.close()
  }

  mutating func fail(_ text: String) {
    guard fault == nil else { return }
    fault = "seed \(seed): \(text)\n  \(trail.suffix(30).joined(separator: "\n  "))"
  }

  mutating func note(_ text: String) {
    trail.append("\(now.milliseconds % 10_000_000): \(text)")
  }

  // MARK: Steps

  private mutating func step(
    _ body: (inout StoreSimulation) async throws -> Void
  ) async throws {
    try await body(&self)
    while hasDied, fault == nil { try await startAgain() }
    if fault == nil { try await check() }
    totals.steps += 1
  }

  private mutating func stormStep() async throws {
    now = now.advanced(by: .milliseconds(chance.number(1...3_000)))
    let phone = chance.number(0...phones.count - 1)
    switch chance.number(0...99) {
    case 0..<34: try await act(phone)
    case 34..<60: try await send(phone)
    case 60..<84: try await advance(chance.number(0...max(0, flights.count - 1)))
    case 84..<89: try await fetch()
    case 89..<92: try await dropLingering()
    case 92..<95: try await restart()
    default:
      now = now.advanced(by: .seconds(chance.number(5...120)))
      try await send(phone)
    }
  }

  /// Phones finish what they left open, and everything that is ready is sent.
  private mutating func calmStep() async throws {
    for phone in phones.indices { try await tidyUp(phone) }
    now = max(now.advanced(by: .seconds(1)), wake ?? now)
    wake = nil
    for phone in phones.indices { try await send(phone) }
    while !flights.isEmpty, fault == nil { try await advance(0) }
    try await dropLingering()
  }

  private func isOver() async throws -> Bool {
    for phone in phones {
      guard phone.unanswered.isEmpty else { return false }
      let status = try await store.store.queueStatus(of: phone.device)
      guard status.pending == 0, status.parked == 0 else { return false }
    }
    return true
  }

  // MARK: The process

  mutating func perform<Output>(
    _ command: (Store) async throws -> Output
  ) async throws -> FaultyStore.End<Output> {
    let circumstance = chance.circumstance()
    if let circumstance { note("\(circumstance):") }
    let end = try await store.perform(
      in: circumstance, using: &chance.generator, command)
    if let fault = store.fault { fail(fault) }
    if case .died = end { hasDied = true }
    totals.add(circumstance)
    return end
  }

  var timing: QueueTiming {
    mutating get {
      let word = chance.generator.next()
      return QueueTiming(
        now: now, policy: policy, boot: "boot \(store.starts)", random: { word })
    }
  }

  private mutating func restart() async throws {
    note("ended between two commands")
    if chance.percent(50) { try await store.close() } else { try await store.kill() }
    hasDied = true
  }

  /// Performs the work of a service start.
  private mutating func startAgain() async throws {
    hasDied = false
    now = now.advanced(by: .milliseconds(chance.number(0...20_000)))
    fetches = []
    openCalls = []
    totals.starts += 1
    note("boot \(store.starts)")
    for phone in phones {
      let timing = timing
      var isRead = false
      while !isRead, !hasDied, fault == nil {
        let end = try await perform { try await $0.recover(phone.device, timing: timing) }
        isRead = end.isDelivered
      }
    }
  }

  // MARK: Numbers

  mutating func makeID() -> MutationID {
    idCount += 1
    return MutationID("m_\(idCount)")
  }

  /// The number of a call to upstream, and the oldest that is under way.
  mutating func beginCall() -> (number: Int64, horizon: Int64) {
    lastCall += 1
    openCalls.insert(lastCall)
    return (lastCall, openCalls.min() ?? lastCall)
  }

  /// The oldest call that is under way.
  var horizon: Int64 { openCalls.min() ?? lastCall }

  mutating func endCall(_ number: Int64) {
    openCalls.remove(number)
  }
}
