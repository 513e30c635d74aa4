import GRDB
import LosslessJSON
import Model
import SyncScheduler

/// The rows of mutations and the statements on them: a ``Model/Mutation`` is one row, whole.
struct MutationRows {
  private static let fixedColumns = """
    sequence, id, device, idempotency_key, fingerprint, operation, upstream, mode, effect, \
    unknown_rule, overtakes_all, enqueued
    """
  /// The columns that decisions change, in the order of ``bind(_:at:of:)``.
  private static let changing = [
    "object_type", "object_key", "footprint", "place", "state", "step", "attempts", "strikes",
    "ever_sent", "claims", "boot", "due", "due_reason", "ended", "expires", "armed_until",
    "gathered_since", "superseded_by", "reason", "is_held",
  ]
  static let columns = fixedColumns + ", " + changing.joined(separator: ", ")
  private static let insertion = """
    INSERT INTO mutation (\(columns), variables, scope, owner, partitions, user_credential, \
    trace) VALUES (\((1...38).map { "?\($0)" }.joined(separator: ", ")))
    """
  private static let assignments = changing.enumerated()
    .map { "\($1) = ?\($0 + 2)" }.joined(separator: ", ")
  private static let findingKey =
    "SELECT \(columns) FROM mutation WHERE device = ?1 AND idempotency_key = ?2"
  private static let updating = "UPDATE mutation SET \(assignments) WHERE sequence = ?1"

  let database: Database

  // MARK: Writing

  func insert(_ mutation: Mutation, _ payload: MutationPayload, scope: Int64) throws {
    let statement = try PreparedStatement(database, Self.insertion, bindsAll: true)
    statement.bind(mutation.sequence, at: 1)
    statement.bind(mutation.id.value, at: 2)
    statement.bind(mutation.device, at: 3)
    statement.bind(mutation.key, at: 4)
    statement.bind(Hexadecimal.encode(mutation.fingerprint.bytes), at: 5)
    statement.bind(mutation.operation, at: 6)
    statement.bind(mutation.upstream, at: 7)
    statement.bind(mutation.mode.rawValue, at: 8)
    statement.bind(mutation.effect.rawValue, at: 9)
    statement.bind(mutation.unknownRule.text, at: 10)
    statement.bind(mutation.overtakesAll ? 1 : 0, at: 11)
    statement.bind(mutation.enqueued.milliseconds, at: 12)
    let next = bind(mutation, at: 13, of: statement)
    statement.bind(payload.variables, at: next)
    statement.bind(scope, at: next + 1)
    statement.bind(payload.user.bytes, at: next + 2)
    statement.bind(payload.partitions, at: next + 3)
    statement.bind(payload.sealedCredential.bytes, at: next + 4)
    statement.bind(payload.trace.bytes, at: next + 5)
    try statement.run()
  }

  func update(_ mutation: Mutation) throws {
    let statement = try PreparedStatement(database, Self.updating, bindsAll: true)
    statement.bind(mutation.sequence, at: 1)
    _ = bind(mutation, at: 2, of: statement)
    try statement.run()
  }

  /// Stores the result.
  ///
  /// - Parameter result: the response or problem that the client reads, as JSON; nil for none.
  func setResult(_ result: [UInt8]?, of id: MutationID) throws {
    let statement = try PreparedStatement(
      database, "UPDATE mutation SET result = ?2 WHERE id = ?1")
    statement.bind(id.value, at: 1)
    statement.bind(result, at: 2)
    try statement.run()
  }

  func setUpstream(_ upstream: String, of id: MutationID) throws {
    let statement = try PreparedStatement(
      database, "UPDATE mutation SET upstream = ?2 WHERE id = ?1")
    statement.bind(id.value, at: 1)
    statement.bind(upstream, at: 2)
    try statement.run()
  }

  func setCredential(_ sealed: String?, of id: MutationID) throws {
    let statement = try PreparedStatement(
      database, "UPDATE mutation SET user_credential = ?2 WHERE id = ?1")
    statement.bind(id.value, at: 1)
    statement.bind(sealed.bytes, at: 2)
    try statement.run()
  }

  func setSettled(_ moment: Timestamp?, of id: MutationID) throws {
    let statement = try PreparedStatement(
      database, "UPDATE mutation SET settled = ?2 WHERE id = ?1")
    statement.bind(id.value, at: 1)
    statement.bind(moment?.milliseconds, at: 2)
    try statement.run()
  }

  private func bind(
    _ mutation: Mutation, at first: Int32, of statement: PreparedStatement
  ) -> Int32 {
    statement.bind((mutation.object?.type).bytes, at: first)
    statement.bind((mutation.object?.key).bytes, at: first + 1)
    statement.bind(mutation.footprint.jsonBytes, at: first + 2)
    statement.bind(mutation.place, at: first + 3)
    statement.bind(mutation.state.rawValue, at: first + 4)
    statement.bind(mutation.step.rawValue, at: first + 5)
    statement.bind(Int64(mutation.attempts), at: first + 6)
    statement.bind(Int64(mutation.strikes), at: first + 7)
    statement.bind(mutation.everSent ? 1 : 0, at: first + 8)
    statement.bind(Int64(mutation.claims), at: first + 9)
    statement.bind(mutation.boot.bytes, at: first + 10)
    statement.bind(mutation.due.time.milliseconds, at: first + 11)
    statement.bind(mutation.due.reason.rawValue, at: first + 12)
    statement.bind(mutation.ended?.milliseconds, at: first + 13)
    statement.bind(mutation.expires.milliseconds, at: first + 14)
    statement.bind(mutation.armedUntil?.milliseconds, at: first + 15)
    statement.bind(mutation.gatheredSince.milliseconds, at: first + 16)
    statement.bind((mutation.supersededBy?.value).bytes, at: first + 17)
    statement.bind((mutation.reason?.rawValue).bytes, at: first + 18)
    statement.bind(DeviceQueue.isHeld(mutation) ? 1 : 0, at: first + 19)
    return first + 20
  }

  // MARK: Reading

  func find(_ id: MutationID) throws -> Mutation? {
    let statement = try PreparedStatement(
      database, "SELECT \(Self.columns) FROM mutation WHERE id = ?1")
    statement.bind(id.value, at: 1)
    return try all(statement).first
  }

  func find(key: String, of device: String) throws -> Mutation? {
    let statement = try PreparedStatement(database, Self.findingKey, bindsAll: true)
    statement.bind(device, at: 1)
    statement.bind(key, at: 2)
    return try all(statement).first
  }

  /// Returns the mutations that another one superseded.
  func superseded(by id: MutationID) throws -> [Mutation] {
    let statement = try PreparedStatement(
      database, "SELECT \(Self.columns) FROM mutation WHERE superseded_by = ?1 ORDER BY sequence")
    statement.bind(id.value, at: 1)
    return try all(statement)
  }

  func result(of id: MutationID) throws -> [UInt8]? {
    let statement = try PreparedStatement(
      database, "SELECT result FROM mutation WHERE id = ?1")
    statement.bind(id.value, at: 1)
    defer { statement.reset() }
    return try statement.step() ? statement.bytes(0) : nil
  }

  /// Returns the payload without its overlays, which have rows of their own.
  func payload(of id: MutationID) throws -> MutationPayload? {
    let statement = try PreparedStatement(
      database,
      """
      SELECT variables, scope, owner, partitions, user_credential, trace FROM mutation
      WHERE id = ?1
      """)
    statement.bind(id.value, at: 1)
    defer { statement.reset() }
    guard try statement.step(),
      let scope = try ScopeTable.scope(statement.int64(1), database)
    else { return nil }
    return MutationPayload(
      variables: statement.string(0), scope: scope,
      user: statement.isNull(2) ? nil : statement.string(2), partitions: statement.string(3),
      sealedCredential: statement.isNull(4) ? nil : statement.string(4), overlays: [],
      trace: statement.isNull(5) ? nil : statement.string(5))
  }

  func all(_ statement: PreparedStatement) throws -> [Mutation] {
    defer { statement.reset() }
    var mutations: [Mutation] = []
    while try statement.step() { mutations.append(try Self.mutation(statement)) }
    return mutations
  }

  static func mutation(_ row: PreparedStatement) throws(StorageError) -> Mutation {
    guard let fingerprint = Hexadecimal.decode(row.string(4)).flatMap({ PayloadFingerprint($0) }),
      let mode = MutationMode(rawValue: row.string(7)),
      let effect = MutationEffect(rawValue: row.string(8)),
      let unknownRule = UnknownOutcomeRule(text: row.string(9)),
      let footprint = (try? JSONValue(checked: row.bytes(14) ?? [])).flatMap(Footprint.init(json:)),
      let state = MutationState(rawValue: row.string(16)),
      let step = MutationStep(rawValue: row.string(17)),
      let dueReason = DueTime.Reason(rawValue: row.string(24))
    else { throw .corrupt("a row of the mutation table cannot be decoded") }
    let submission = Mutation.Submission(
      id: MutationID(row.string(1)), key: row.string(3), fingerprint: fingerprint,
      operation: row.string(5), upstream: row.string(6), mode: mode, effect: effect,
      unknownRule: unknownRule, overtakesAll: row.int64(10) != 0,
      object: row.isNull(12) ? nil : EntityKey(type: row.string(12), key: row.string(13)),
      footprint: footprint)
    var mutation = Mutation(
      submission, device: row.string(2), sequence: row.int64(0),
      now: Timestamp(milliseconds: row.int64(11)), expires: Timestamp(milliseconds: row.int64(26)))
    mutation.place = row.int64(15)
    mutation.state = state
    mutation.step = step
    mutation.attempts = Int(row.int64(18))
    mutation.strikes = Int(row.int64(19))
    mutation.everSent = row.int64(20) != 0
    mutation.claims = Int(row.int64(21))
    mutation.boot = row.isNull(22) ? nil : row.string(22)
    mutation.due = DueTime(Timestamp(milliseconds: row.int64(23)), dueReason)
    mutation.ended = row.optionalInt64(25).map(Timestamp.init(milliseconds:))
    mutation.armedUntil = row.optionalInt64(27).map(Timestamp.init(milliseconds:))
    mutation.gatheredSince = Timestamp(milliseconds: row.int64(28))
    mutation.supersededBy = row.isNull(29) ? nil : MutationID(row.string(29))
    mutation.reason = row.isNull(30) ? nil : SettleReason(rawValue: row.string(30))
    return mutation
  }
}

extension String? {
  fileprivate var bytes: [UInt8]? { map { Array($0.utf8) } }
}

extension UnknownOutcomeRule {
  private static let verifyPrefix = "verify "

  var text: String {
    switch self {
    case .sendAgain: "sendAgain"
    case .park: "park"
    case .verify(let operation): Self.verifyPrefix + operation
    }
  }

  init?(text: String) {
    switch text {
    case "sendAgain": self = .sendAgain
    case "park": self = .park
    default:
      guard text.hasPrefix(Self.verifyPrefix) else { return nil }
      self = .verify(operation: String(text.dropFirst(Self.verifyPrefix.count)))
    }
  }

  /// The query that verifies whether an attempt took effect; nil for rules that ask none.
  var verifier: String? { if case .verify(let operation) = self { operation } else { nil } }
}
