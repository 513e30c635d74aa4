import Model
import SyncScheduler
import TestSupport

/// One seeded run: devices that enqueue mutations and lose responses, a server that is killed and
/// restarted, an upstream with outages, lost responses and refusals; then a calm phase, in which every
/// mutation must finish.
struct QueueSimulation {
  let seed: UInt64
  var dice: SimulationDice
  var store = SimulatedStore()
  var upstream: SimulatedUpstream
  var server: SimulatedServer
  var phones: [SimulatedPhone]
  var flights: [SimulatedFlight] = []
  /// Of a monotonic clock.
  var reading = Duration.zero
  /// The machine's wall clock, which jumps.
  var wall = Timestamp(milliseconds: 1_700_000_000_000)
  var isUpstreamAway = false
  var crashCount = 0
  /// Mutations that can rightly take effect twice if upstream has no idempotency keys.
  var doubled: Set<MutationID> = []
  /// Nil for a single node.
  var cluster: SimulatedCluster?
  private(set) var fault: String?
  /// The last steps, for the report; kept only if a report is wanted.
  private var trail: [String] = []
  private let isTelling: Bool

  static let stepsMax = 160
  static let concurrencyMax = 2
  static let calmStepsMax = 6_000

  init(seed: UInt64, isTelling: Bool = false, isCluster: Bool = false) {
    self.seed = seed
    self.isTelling = isTelling
    dice = SimulationDice(seed: seed)
    upstream = SimulatedUpstream(recognisesKeys: dice.percent(60))
    let policy = QueuePolicy(
      debounce: dice.percent(30) ? .seconds(2) : .zero, parallel: dice.number(1...4),
      itemsMax: dice.percent(10) ? 6 : 1_000)
    server = SimulatedServer(
      boot: "boot-0", clock: QueueClock(wall: wall, reading: .zero), policy: policy)
    phones = (0..<dice.number(1...3)).map { SimulatedPhone(device: "phone-\($0)") }
    if isCluster { cluster = SimulatedCluster() }
  }

  var now: Timestamp { server.clock.now(reading: reading) }

  mutating func run() {
    for _ in 0..<dice.number(20...Self.stepsMax) where fault == nil {
      step { simulation throws(SimulatedStore.Crash) in try simulation.stormStep() }
    }
    dice.isCalm = true
    isUpstreamAway = false
    for index in phones.indices { phones[index].hasValidToken = true }
    for _ in 0..<Self.calmStepsMax where fault == nil {
      if isOver { break }
      step { simulation throws(SimulatedStore.Crash) in try simulation.calmStep() }
    }
    if fault == nil, !isOver {
      let wait = server.rotation.wake.map { now.elapsed(until: $0) } ?? .zero
      fail("7: still unfinished at the end, woken after \(wait): \(unfinished)")
    }
    if fault == nil, let fault = SimulationInvariants.faultAtEnd(of: self) { fail(fault) }
  }

  mutating func fail(_ text: String) {
    guard fault == nil else { return }
    fault = "seed \(seed): \(text)\n  \(trail.suffix(40).joined(separator: "\n  "))"
  }

  mutating func note(_ text: @autoclosure () -> String) {
    guard isTelling else { return }
    let text = text()
    trail.append("\(reading): \(text)")
    if trail.count > 400 { trail.removeFirst(200) }
  }

  private var unfinished: [String] {
    store.rows.values.filter { !$0.state.isFinished }.map { "\($0.id) \($0.state)" }.sorted()
  }

  private var isOver: Bool {
    unfinished.isEmpty && phones.allSatisfy { $0.unanswered.isEmpty }
      && cluster?.inbox.isEmpty ?? true
  }

  /// A crash ends the step and the process; requests in the network continue.
  private mutating func step(
    _ body: (inout QueueSimulation) throws(SimulatedStore.Crash) -> Void
  ) {
    do throws(SimulatedStore.Crash) { try body(&self) } catch { restart() }
    while true {
      do throws(SimulatedStore.Crash) {
        try pump()
        break
      } catch {
        restart()
      }
    }
    if let fault = store.fault ?? SimulationInvariants.fault(in: self) { fail(fault) }
  }

  private mutating func stormStep() throws(SimulatedStore.Crash) {
    if cluster != nil, dice.percent(4) { try pauseLeader() }
    switch dice.number(0...99) {
    case 0..<45:
      let index = dice.number(0...phones.count - 1)
      var phone = phones[index]
      try phone.act(in: &self, index: index)
      phones[index] = phone
    case 45..<90: try passTime()
    case 90..<94: isUpstreamAway.toggle()
    case 94..<97:
      let index = dice.number(0...phones.count - 1)
      phones[index].hasValidToken = false
    case 97: throw SimulatedStore.Crash()
    default:
      let jump = Duration.seconds(dice.number(-90_000...90_000))
      note("the clock jumps by \(jump)")
      wall = wall.advanced(by: jump)
    }
  }

  /// Devices complete their open work, until there is none.
  private mutating func calmStep() throws(SimulatedStore.Crash) {
    for index in phones.indices {
      var phone = phones[index]
      try phone.tidyUp(in: &self, index: index)
      phones[index] = phone
    }
    try passTime()
  }

  /// Advances to the next event, or a little further.
  private mutating func passTime() throws(SimulatedStore.Crash) {
    var next = reading + .milliseconds(dice.number(1...3_000))
    if let wake = server.rotation.wake, dice.isCalm || dice.percent(70) {
      let late = reading + .milliseconds(max(0, wake.milliseconds - now.milliseconds))
      next = dice.isCalm ? late : min(next, late)
    }
    for flight in flights {
      next = min(next, flight.hasArrived ? flight.end : flight.arrival)
    }
    wall = wall.advanced(by: next - reading)
    reading = max(reading, next)
    try land()
    resumePausedLeaders()
  }

  /// Restarts the process, possibly after a while, and possibly kills it again at once.
  private mutating func restart() {
    crashCount += 1
    let down = Duration.milliseconds(dice.number(0...20_000))
    reading += down
    wall = wall.advanced(by: down)
    if dice.percent(20) { wall = wall.advanced(by: .seconds(dice.number(-90_000...0))) }
    var boot = "boot-\(crashCount)"
    if cluster != nil { boot = passLease() }
    note("started again as \(boot)")
    server = SimulatedServer(
      boot: boot, clock: QueueClock(wall: wall, reading: reading), policy: server.policy)
    do throws(SimulatedStore.Crash) {
      for phone in phones {
        let queue = server.queue(of: phone.device, in: store)
        let changes = queue.recovering(
          boot: server.boot, at: now, policy: server.policy, using: &dice.generator)
        try commit(changes, of: phone.device)
      }
      // A leader serves its first request after this.
      try drain()
    } catch {
      restart()
    }
  }

  mutating func commit(
    _ changes: QueueChanges, of device: String, payload: SimulatedPayload? = nil,
    result: (MutationID, SimulatedUpstream.Answer)? = nil
  ) throws(SimulatedStore.Crash) {
    try server.commit(
      changes, of: device, payload: payload, result: result, to: &store, dice: &dice,
      reading: reading)
  }
}
