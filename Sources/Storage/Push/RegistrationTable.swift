import GRDB
import Model

/// The rows of registrations and the statements on them.
///
/// A push token belongs to one registration: the last device to register it takes it from all others, as
/// push services do.
struct RegistrationTable {
  private static let forgotten = "the sender knows the user no more"

  let database: Database

  // MARK: Requesting

  /// Registers a device with its current token, platform and user.
  func register(_ device: String) throws -> RegistrationReceipt {
    let statement = try PreparedStatement(
      database, "SELECT owner, platform, push_token FROM device WHERE id = ?1")
    statement.bind(device, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return .deviceGone }
    guard !statement.isNull(0), !statement.isNull(2) else { return .lacksToken }
    let (owner, platform, token) = (
      statement.string(0), statement.string(1), statement.string(2)
    )
    try takeFromOthers(token, device)
    if !(try keep(device, owner, platform, token)) {
      try leave(device)
      if !(try comeBack(device, owner, platform, token)) {
        try insert(device, owner, platform, token)
      }
    }
    guard let registration = try find(device) else { return .deviceGone }
    return .kept(registration)
  }

  /// Updates a device's registration after its token or platform changed, or the device was removed.
  func follow(_ device: String) throws {
    guard try find(device) != nil else { return }
    switch try register(device) {
    case .kept: return
    case .lacksToken, .deviceGone: try leave(device)
    }
  }

  func find(_ device: String) throws -> PushRegistration? {
    let statement = try PreparedStatement(
      database,
      """
      SELECT owner, state, reason FROM push_registration WHERE device = ?1 AND state <> 'leaving'
      """)
    statement.bind(device, at: 1)
    defer { statement.reset() }
    guard try statement.step(),
      let state = PushRegistration.State(rawValue: statement.string(1))
    else { return nil }
    return PushRegistration(
      device: device, user: statement.string(0), state: state,
      reason: statement.isNull(2) ? nil : statement.string(2))
  }

  /// Requests the end of a device's registration, which takes effect after the push service is notified.
  func leave(_ device: String) throws {
    let statement = try PreparedStatement(
      database,
      """
      UPDATE push_registration SET state = 'leaving', version = version + 1, attempts = 0, due = 0 \
      WHERE device = ?1 AND state <> 'leaving'
      """)
    statement.bind(device, at: 1)
    try statement.run()
  }

  private func takeFromOthers(_ token: String, _ device: String) throws {
    let statement = try PreparedStatement(
      database, "DELETE FROM push_registration WHERE push_token = ?1 AND device <> ?2")
    statement.bind(token, at: 1)
    statement.bind(device, at: 2)
    try statement.run()
  }

  /// Keeps an equal registration that is registered or queued; queues a failed one again.
  private func keep(
    _ device: String, _ owner: String, _ platform: String, _ token: String
  ) throws -> Bool {
    try revive(device, owner, platform, token, "state <> 'leaving'", "state = 'failed'")
  }

  /// Queues an equal registration again that was to be removed.
  private func comeBack(
    _ device: String, _ owner: String, _ platform: String, _ token: String
  ) throws -> Bool {
    try revive(device, owner, platform, token, "state = 'leaving'", "1")
  }

  private func revive(
    _ device: String, _ owner: String, _ platform: String, _ token: String, _ which: String,
    _ isQueuedAgain: String
  ) throws -> Bool {
    let statement = try PreparedStatement(
      database,
      """
      UPDATE push_registration SET \
      due = CASE WHEN \(isQueuedAgain) THEN 0 ELSE due END, \
      version = version + (\(isQueuedAgain)), \
      attempts = CASE WHEN \(isQueuedAgain) THEN 0 ELSE attempts END, \
      reason = CASE WHEN \(isQueuedAgain) THEN NULL ELSE reason END, \
      state = CASE WHEN \(isQueuedAgain) THEN 'queued' ELSE state END \
      WHERE device = ?1 AND owner = ?2 AND platform = ?3 AND push_token = ?4 AND \(which)
      """)
    statement.bind(device, at: 1)
    statement.bind(owner, at: 2)
    statement.bind(platform, at: 3)
    statement.bind(token, at: 4)
    try statement.run()
    return database.changesCount > 0
  }

  private func insert(
    _ device: String, _ owner: String, _ platform: String, _ token: String
  ) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO push_registration (device, owner, platform, push_token, state, version, \
      attempts, due) VALUES (?1, ?2, ?3, ?4, 'queued', 0, 0, 0)
      """)
    statement.bind(device, at: 1)
    statement.bind(owner, at: 2)
    statement.bind(platform, at: 3)
    statement.bind(token, at: 4)
    try statement.run()
  }

  // MARK: Synchronising with the push service

  /// Queues registrations that were made with another push service, and limits all waiting times to
  /// `waitMax`, since the clock can have been set back.
  func recover(sender: String, at now: Timestamp, waitMax: Duration) throws {
    let others = try PreparedStatement(
      database,
      """
      UPDATE push_registration SET state = 'queued', version = version + 1, attempts = 0, due = 0 \
      WHERE state IN ('registered', 'failed') AND sender IS NOT ?1
      """)
    others.bind(sender, at: 1)
    try others.run()
    let cut = try PreparedStatement(
      database, "UPDATE push_registration SET due = ?1 WHERE due > ?1")
    cut.bind(now.advanced(by: waitMax).milliseconds, at: 1)
    try cut.run()
  }

  /// Returns due registrations, longest due first.
  func due(at now: Timestamp, limit: Int) throws -> [DueRegistration] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT id, version, owner, platform, push_token, state, sender, remote, attempts \
      FROM push_registration WHERE due IS NOT NULL AND due <= ?1 ORDER BY due, id LIMIT ?2
      """)
    statement.bind(now.milliseconds, at: 1)
    statement.bind(Int64(limit), at: 2)
    defer { statement.reset() }
    var due: [DueRegistration] = []
    while try statement.step() {
      due.append(
        DueRegistration(
          id: statement.int64(0), version: statement.int64(1), user: statement.string(2),
          platform: statement.string(3), token: statement.string(4),
          isLeaving: statement.string(5) == PushRegistration.State.leaving.rawValue,
          sender: statement.isNull(6) ? nil : statement.string(6),
          remoteID: statement.isNull(7) ? nil : statement.string(7),
          attempts: Int(statement.int64(8))))
    }
    return due
  }

  func nextDue() throws -> Timestamp? {
    let statement = try PreparedStatement(
      database, "SELECT min(due) FROM push_registration WHERE due IS NOT NULL")
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return statement.optionalInt64(0).map(Timestamp.init(milliseconds:))
  }

  /// Writes the result of a synchronisation. The remote id is kept even if the request has changed in the
  /// meantime, since undoing the registration needs it.
  func settle(_ registration: DueRegistration, as end: RegistrationEnd) throws {
    switch end {
    case .succeeded where registration.isLeaving, .failed where registration.isLeaving:
      try run("DELETE FROM push_registration WHERE id = ?1 AND version = ?2", registration)
    case .succeeded(let sender, let remoteID):
      try run(
        "UPDATE push_registration SET sender = ?3, remote = ?4 WHERE id = ?1", registration,
        sender, remoteID)
      try run(
        """
        UPDATE push_registration SET state = 'registered', due = NULL, reason = NULL \
        WHERE id = ?1 AND version = ?2
        """, registration)
    case .failed(let reason):
      try run(
        """
        UPDATE push_registration SET state = 'failed', due = NULL, reason = ?3 \
        WHERE id = ?1 AND version = ?2
        """, registration, reason)
    case .waits(let moment, let isAttempt, let reason):
      let statement = try PreparedStatement(
        database,
        """
        UPDATE push_registration SET due = ?3, attempts = attempts + ?4, reason = ?5 \
        WHERE id = ?1 AND version = ?2
        """)
      statement.bind(registration.id, at: 1)
      statement.bind(registration.version, at: 2)
      statement.bind(moment.milliseconds, at: 3)
      statement.bind(isAttempt ? 1 : 0, at: 4)
      statement.bind(reason, at: 5)
      try statement.run()
    }
  }

  /// Marks the registrations of users that the push service does not know as failed; their devices register
  /// again with their next request.
  func markUnknown(_ users: [String]) throws {
    for user in users {
      let statement = try PreparedStatement(
        database,
        """
        UPDATE push_registration SET state = 'failed', reason = ?2 \
        WHERE owner = ?1 AND state = 'registered'
        """)
      statement.bind(user, at: 1)
      statement.bind(Self.forgotten, at: 2)
      try statement.run()
    }
  }

  private func run(_ sql: String, _ registration: DueRegistration, _ texts: String?...) throws {
    let statement = try PreparedStatement(database, sql)
    statement.bind(registration.id, at: 1)
    statement.bind(registration.version, at: 2)
    for (index, text) in texts.enumerated() {
      statement.bind(text.map { Array($0.utf8) }, at: Int32(index) + 3)
    }
    try statement.run()
  }
}
