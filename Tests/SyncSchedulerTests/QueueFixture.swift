import Model
import SyncScheduler
import TestSupport
import Testing

/// One device's queue with its store of rows, driven step by step. Mutations are named by their ids.
struct QueueFixture {
  var queue = DeviceQueue(device: "phone")
  var policy = QueuePolicy()
  var now = Timestamp(milliseconds: 1_000_000_000)
  /// All rows, including finished ones.
  private(set) var rows: [MutationID: Mutation] = [:]
  private(set) var known: [TemporaryID: EntityKey] = [:]
  var othersSucceeded: Timestamp?
  private var random = SeededGenerator(seed: 7)
  private var sequence: Int64 = 0

  static let boot = "boot-1"

  /// The properties of a mutation that tests set; all others are the same.
  struct Asked {
    var operation = "RateFilm"
    var object: EntityKey? = .film("9")
    var mode = MutationMode.lazy
    var effect = MutationEffect.update
    var refs: [EntityKey] = []
    var mentions: [TemporaryID] = []
    var creates: [TemporaryEntity] = []
    var rule = UnknownOutcomeRule.park
    var overtakesAll = false
    var upstream = "films"
    var expiry: Duration?
  }

  mutating func commit(_ changes: QueueChanges) {
    for mutation in changes.inserted + changes.updated { rows[mutation.id] = mutation }
    known.merge(changes.resolved) { $1 }
    queue.apply(changes)
  }

  @discardableResult
  mutating func add(_ name: String, _ asked: Asked = Asked()) throws -> EnqueueDecision {
    sequence += 1
    let submission = Mutation.Submission(
      id: MutationID(name), key: "key-\(name)", fingerprint: .test(1),
      operation: asked.operation, upstream: asked.upstream, mode: asked.mode,
      effect: asked.effect, unknownRule: asked.rule, overtakesAll: asked.overtakesAll,
      object: asked.object,
      footprint: Footprint(
        object: asked.object, references: asked.refs, mentions: asked.mentions,
        creates: asked.creates))
    let mutation = Mutation(
      submission, device: "phone", sequence: sequence, now: now,
      expires: now.advanced(by: asked.expiry ?? policy.expiry))
    let decision = try queue.enqueuing(mutation, known: known, at: now, policy: policy)
    commit(decision.changes)
    return decision
  }

  /// The names of mutations that can be sent now.
  var ready: [String] {
    queue.schedule(at: now, policy: policy).ready.map(\.id.value)
  }

  var wake: Timestamp? { queue.schedule(at: now, policy: policy).wake }

  mutating func claim(_ name: String, boot: String = Self.boot) throws {
    let changes = try #require(
      queue.claiming(MutationID(name), boot: boot, at: now, policy: policy), "\(name) may not go")
    commit(changes)
  }

  mutating func settle(_ name: String, _ outcome: SendOutcome) throws {
    let claim = try #require(row(name).claim)
    let changes = queue.settling(
      claim, as: outcome, othersSucceeded: othersSucceeded, at: now,
      using: &random)
    commit(try #require(changes))
  }

  mutating func send(_ name: String, _ outcome: SendOutcome = .applied(created: [:])) throws {
    try claim(name)
    try settle(name, outcome)
  }

  /// Sends it regardless of back-off.
  mutating func flushAndSend(_ name: String, _ outcome: SendOutcome = .applied(created: [:])) throws
  {
    commit(queue.flushing(at: now))
    try send(name, outcome)
  }

  mutating func lapse() {
    commit(queue.lapses(at: now, using: &random))
  }

  mutating func restart(boot: String) {
    queue = DeviceQueue(device: "phone", control: queue.control, held: rows.values)
    commit(queue.recovering(boot: boot, at: now, policy: policy, using: &random))
  }

  mutating func pass(_ duration: Duration) {
    now = now.advanced(by: duration)
    lapse()
  }

  func row(_ name: String) throws -> Mutation { try #require(rows[MutationID(name)]) }
  func state(_ name: String) -> MutationState? { rows[MutationID(name)]?.state }
}

extension EntityKey {
  static func film(_ key: String) -> EntityKey { EntityKey(type: "Film", key: key) }
  static func person(_ key: String) -> EntityKey { EntityKey(type: "Person", key: key) }
}

extension TemporaryID {
  /// Like `~01ARZ3NDEKTSV4RRFFQ69G5FA3`.
  static func test(_ number: Int) -> TemporaryID {
    let digits = String(number)
    let text = "~01ARZ3NDEKTSV4RRFFQ69G5FAV".dropLast(digits.count) + digits
    guard let id = TemporaryID(String(text)) else { preconditionFailure("\(text)") }
    return id
  }
}

extension PayloadFingerprint {
  static func test(_ byte: UInt8) -> PayloadFingerprint {
    guard let fingerprint = PayloadFingerprint(Array(repeating: byte, count: 32)) else {
      preconditionFailure("32 bytes")
    }
    return fingerprint
  }
}

extension QueueFixture.Asked {
  /// Creates a film under a temporary id.
  static func create(_ id: TemporaryID, mode: MutationMode = .lazy) -> Self {
    Self(
      operation: "AddFilm", object: .film(id.value), mode: mode, effect: .create,
      creates: [TemporaryEntity(id: id, type: "Film")])
  }

  static func delete(_ object: EntityKey, mode: MutationMode = .lazy) -> Self {
    Self(operation: "DeleteFilm", object: object, mode: mode, effect: .delete)
  }

  static func steady(_ object: EntityKey) -> Self {
    Self(operation: "LogView", object: object, mode: .steady)
  }

  static func force(_ object: EntityKey = .film("9"), _ operation: String = "RateFilm") -> Self {
    Self(operation: operation, object: object, mode: .force)
  }

  static func rename(_ object: EntityKey = .film("9")) -> Self {
    Self(operation: "RenameFilm", object: object)
  }
}
