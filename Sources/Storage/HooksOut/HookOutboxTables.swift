import GRDB
import Model

/// The outbox of hooks that are called after writes: `hook_lane` has a row for each hook and entity with
/// undelivered events, with the time of the next attempt; `hook_out` has the events; `hook_usage` has
/// their number and bytes by hook, and `hook_owner_usage` by hook and the owner who caused them.
///
/// A lane whose first event was never tried is due at that event's sequence, read as milliseconds since
/// 1970: long past, and in the order of the events. So an entity that changes all the time has its turn
/// after the others that waited before its next event.
struct HookOutboxTables {
  let database: Database

  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE hook_lane (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          hook TEXT NOT NULL,
          entity TEXT NOT NULL,
          due INTEGER NOT NULL,
          attempts INTEGER NOT NULL,
          UNIQUE (hook, entity)
        );
        CREATE INDEX hook_lane_by_due ON hook_lane (hook, due, id);
        CREATE TABLE hook_out (
          sequence INTEGER PRIMARY KEY AUTOINCREMENT,
          hook TEXT NOT NULL,
          lane INTEGER NOT NULL REFERENCES hook_lane,
          owner TEXT NOT NULL,
          event TEXT NOT NULL,
          body TEXT NOT NULL,
          created INTEGER NOT NULL
        );
        CREATE INDEX hook_out_by_lane ON hook_out (lane, sequence);
        CREATE INDEX hook_out_by_owner ON hook_out (hook, owner, sequence);
        CREATE INDEX hook_out_by_age ON hook_out (created);
        CREATE TABLE hook_usage (
          hook TEXT PRIMARY KEY,
          events INTEGER NOT NULL,
          bytes INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE hook_owner_usage (
          hook TEXT NOT NULL,
          owner TEXT NOT NULL,
          events INTEGER NOT NULL,
          bytes INTEGER NOT NULL,
          PRIMARY KEY (hook, owner)
        ) WITHOUT ROWID;
        CREATE INDEX hook_owner_usage_by_events ON hook_owner_usage (hook, events);
        CREATE INDEX hook_owner_usage_by_bytes ON hook_owner_usage (hook, bytes);
        """)
  }

  // MARK: Adding

  /// Adds an event as the last one of its entity.
  ///
  /// - Parameters:
  ///   - entity: the events with the same one are delivered in order.
  ///   - owner: who caused the event, see ``makeRoom(in:hook:)``.
  func insert(
    hook: String, entity: String, owner: String, id: String, body: [UInt8], at now: Timestamp
  ) throws {
    let lane = try lane(of: entity, hook: hook)
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO hook_out (hook, lane, event, body, created, owner) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      """)
    statement.bind(hook, at: 1)
    statement.bind(lane, at: 2)
    statement.bind(id, at: 3)
    statement.bind(body, at: 4)
    statement.bind(now.milliseconds, at: 5)
    statement.bind(owner, at: 6)
    try statement.run()
    try count(1, bytes: Int64(body.count), hook: hook, owner: owner)
  }

  /// Returns the lane of an entity. A new one is due at once, after those that already wait.
  private func lane(of entity: String, hook: String) throws -> Int64 {
    let insertion = try PreparedStatement(
      database,
      """
      INSERT OR IGNORE INTO hook_lane (hook, entity, due, attempts) \
      VALUES (?1, ?2, (SELECT coalesce(max(sequence), 0) + 1 FROM hook_out), 0)
      """)
    insertion.bind(hook, at: 1)
    insertion.bind(entity, at: 2)
    try insertion.run()
    let statement = try PreparedStatement(
      database, "SELECT id FROM hook_lane WHERE hook = ?1 AND entity = ?2")
    statement.bind(hook, at: 1)
    statement.bind(entity, at: 2)
    defer { statement.reset() }
    guard try statement.step() else { throw StorageError.corrupt("hook_lane lost a row") }
    return statement.int64(0)
  }

  private func count(_ events: Int64, bytes: Int64, hook: String, owner: String) throws {
    let total = try PreparedStatement(
      database,
      """
      INSERT INTO hook_usage (hook, events, bytes) VALUES (?1, ?2, ?3) ON CONFLICT (hook) \
      DO UPDATE SET events = events + excluded.events, bytes = bytes + excluded.bytes
      """)
    total.bind(hook, at: 1)
    total.bind(events, at: 2)
    total.bind(bytes, at: 3)
    try total.run()
    let share = try PreparedStatement(
      database,
      """
      INSERT INTO hook_owner_usage (hook, owner, events, bytes) VALUES (?1, ?2, ?3, ?4) \
      ON CONFLICT (hook, owner) \
      DO UPDATE SET events = events + excluded.events, bytes = bytes + excluded.bytes
      """)
    share.bind(hook, at: 1)
    share.bind(owner, at: 2)
    share.bind(events, at: 3)
    share.bind(bytes, at: 4)
    try share.run()
    guard events < 0 else { return }
    let ended = try PreparedStatement(
      database, "DELETE FROM hook_owner_usage WHERE hook = ?1 AND owner = ?2 AND events <= 0")
    ended.bind(hook, at: 1)
    ended.bind(owner, at: 2)
    try ended.run()
  }

  /// Removes events of a hook until the others keep within the limits: each time the oldest one of the
  /// owner that has most of what is exceeded, events or bytes. So no owner pushes out the events of those
  /// who have less.
  ///
  /// - Returns: the number of removed events.
  func makeRoom(in limits: HookOutboxLimits, hook: String) throws -> Int {
    var removed = 0
    while let usage = try usage(of: hook) {
      let exceeded: String
      if usage.bytes > limits.bytesMax {
        exceeded = "bytes"
      } else if usage.events > limits.eventsMax {
        exceeded = "events"
      } else {
        break
      }
      guard let next = try oldestOfLargestOwner(of: hook, by: exceeded) else { break }
      try remove(next)
      removed += 1
    }
    return removed
  }

  /// - Parameter column: `events` or `bytes`.
  private func oldestOfLargestOwner(of hook: String, by column: String) throws -> Int64? {
    let statement = try PreparedStatement(
      database,
      """
      SELECT sequence FROM hook_out WHERE hook = ?1 AND owner = (SELECT owner FROM hook_owner_usage \
      WHERE hook = ?1 ORDER BY \(column) DESC LIMIT 1) ORDER BY sequence LIMIT 1
      """)
    statement.bind(hook, at: 1)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : nil
  }

  // MARK: Removing

  /// Removes an event; the next one of its entity is due at once, after those of others that came before.
  ///
  /// - Returns: false if it is not in the outbox any more.
  @discardableResult
  func remove(_ sequence: Int64) throws -> Bool {
    let statement = try PreparedStatement(
      database,
      "SELECT hook, lane, length(CAST(body AS BLOB)), owner FROM hook_out WHERE sequence = ?1")
    statement.bind(sequence, at: 1)
    guard try statement.step() else {
      statement.reset()
      return false
    }
    let (hook, lane, bytes) = (statement.string(0), statement.int64(1), statement.int64(2))
    let owner = statement.string(3)
    statement.reset()
    let wasFirst = try first(of: lane) == sequence
    let deletion = try PreparedStatement(database, "DELETE FROM hook_out WHERE sequence = ?1")
    deletion.bind(sequence, at: 1)
    try deletion.run()
    try count(-1, bytes: -bytes, hook: hook, owner: owner)
    guard wasFirst else { return true }
    if let next = try first(of: lane) {
      let update = try PreparedStatement(
        database, "UPDATE hook_lane SET due = ?2, attempts = 0 WHERE id = ?1")
      update.bind(lane, at: 1)
      update.bind(next, at: 2)
      try update.run()
    } else {
      let deletion = try PreparedStatement(database, "DELETE FROM hook_lane WHERE id = ?1")
      deletion.bind(lane, at: 1)
      try deletion.run()
    }
    return true
  }

  private func first(of lane: Int64) throws -> Int64? {
    let statement = try PreparedStatement(
      database, "SELECT sequence FROM hook_out WHERE lane = ?1 ORDER BY sequence LIMIT 1")
    statement.bind(lane, at: 1)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : nil
  }

  /// Removes events created before a time, at most `limit`.
  ///
  /// - Returns: the number of removed events by hook.
  func remove(createdBefore moment: Timestamp, limit: Int) throws -> [String: Int] {
    let statement = try PreparedStatement(
      database,
      "SELECT sequence, hook FROM hook_out WHERE created < ?1 ORDER BY created LIMIT ?2")
    statement.bind(moment.milliseconds, at: 1)
    statement.bind(Int64(limit), at: 2)
    var old: [(sequence: Int64, hook: String)] = []
    while try statement.step() { old.append((statement.int64(0), statement.string(1))) }
    statement.reset()
    var removed: [String: Int] = [:]
    for event in old where try remove(event.sequence) { removed[event.hook, default: 0] += 1 }
    return removed
  }
}

/// Reading and postponing events.
extension HookOutboxTables {
  /// Returns the number and the bytes of a hook's events; nil if it never had one.
  func usage(of hook: String) throws -> (events: Int64, bytes: Int64)? {
    let statement = try PreparedStatement(
      database, "SELECT events, bytes FROM hook_usage WHERE hook = ?1")
    statement.bind(hook, at: 1)
    defer { statement.reset() }
    return try statement.step() ? (statement.int64(0), statement.int64(1)) : nil
  }

  /// Returns the hooks that have events, with their number and bytes, by name.
  func usages() throws -> [(hook: String, events: Int64, bytes: Int64)] {
    let statement = try PreparedStatement(
      database, "SELECT hook, events, bytes FROM hook_usage WHERE events > 0 ORDER BY hook")
    defer { statement.reset() }
    var usages: [(hook: String, events: Int64, bytes: Int64)] = []
    while try statement.step() {
      usages.append((statement.string(0), statement.int64(1), statement.int64(2)))
    }
    return usages
  }

  /// Returns the first events of the entities that are due, the longest due first: those that were never
  /// tried, in the order of the writes, then those to try again.
  func due(of hook: String, at now: Timestamp, limit: Int) throws -> [HookEvent] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT sequence, lane, event, body, created, attempts FROM hook_lane CROSS JOIN hook_out \
      ON sequence = (SELECT sequence FROM hook_out WHERE lane = hook_lane.id ORDER BY sequence LIMIT 1) \
      WHERE hook_lane.hook = ?1 AND due <= ?2 ORDER BY due, id LIMIT ?3
      """)
    statement.bind(hook, at: 1)
    statement.bind(now.milliseconds, at: 2)
    statement.bind(Int64(limit), at: 3)
    defer { statement.reset() }
    var events: [HookEvent] = []
    while try statement.step() {
      events.append(
        HookEvent(
          sequence: statement.int64(0), lane: statement.int64(1), id: statement.string(2),
          body: statement.bytes(3) ?? [], created: Timestamp(milliseconds: statement.int64(4)),
          attempts: Int(statement.int64(5))))
    }
    return events
  }

  /// Returns when the next entity is due whose time has not come; nil if there is none.
  func nextDue(of hook: String, after now: Timestamp) throws -> Timestamp? {
    let statement = try PreparedStatement(
      database, "SELECT min(due) FROM hook_lane WHERE hook = ?1 AND due > ?2")
    statement.bind(hook, at: 1)
    statement.bind(now.milliseconds, at: 2)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return statement.optionalInt64(0).map(Timestamp.init(milliseconds:))
  }

  func limitWaits(to due: Timestamp) throws {
    let statement = try PreparedStatement(
      database, "UPDATE hook_lane SET due = ?1 WHERE due > ?1")
    statement.bind(due.milliseconds, at: 1)
    try statement.run()
  }

  /// Counts a failed attempt; the event and the later ones of its entity wait.
  ///
  /// - Returns: false if the event is not in the outbox any more.
  func postpone(_ event: HookEvent, until due: Timestamp) throws -> Bool {
    guard try first(of: event.lane) == event.sequence else { return false }
    let statement = try PreparedStatement(
      database, "UPDATE hook_lane SET due = ?2, attempts = attempts + 1 WHERE id = ?1")
    statement.bind(event.lane, at: 1)
    statement.bind(due.milliseconds, at: 2)
    try statement.run()
    return true
  }
}

/// How many events of one hook wait for delivery. Beyond it the oldest ones of the owner with the most are
/// dropped, so that a hook that is down neither blocks writes nor fills the disk, and no owner pushes out
/// the events of others.
package struct HookOutboxLimits: Sendable {
  package var eventsMax: Int64 = 100_000
  /// Of bodies.
  package var bytesMax: Int64 = 64 << 20

  package init() {}
}
