import GRDB
package import Model
package import SyncScheduler

/// The mutations of one request, as the inbox of a cluster keeps them until the leader has moved them to their
/// device's queue.
package struct InboxSubmission: Sendable {
  /// The place in the order of all submissions, from 1.
  package let number: Int64
  package let device: String
  package let mutations: [NewMutation]
  /// How long it has been in the inbox.
  package let age: Duration

  package init(number: Int64, device: String, mutations: [NewMutation], age: Duration) {
    self.number = number
    self.device = device
    self.mutations = mutations
    self.age = age
  }

  /// The entities that it is expected to change.
  package var changedKeys: Set<EntityKey> {
    Set(mutations.flatMap(\.payload.overlays).map(\.key))
  }
}

/// The result of moving submissions to the queues.
package struct InboxDrain: Sendable {
  /// What each queue can send now, by device.
  package let schedules: [String: QueueSchedule]
  /// What stops the queues that wait for a credential, by device.
  package let refused: [String: QueueControl]
  let report: CommitReport
}

/// The number of the last submission that was moved to a queue, which every node learns with that commit.
///
/// It tells readers which submissions the store has. It does not decide what is moved: a submission that is
/// moved again is recognised by the idempotency keys of its mutations.
enum InboxMark {
  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE inbox_mark (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          number INTEGER NOT NULL
        );
        """)
  }

  /// Returns 0 before the first.
  static func number(_ db: Database) throws -> Int64 {
    let statement = try PreparedStatement(db, "SELECT number FROM inbox_mark WHERE id = 1")
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }

  static func set(_ number: Int64, _ db: Database) throws {
    let statement = try PreparedStatement(
      db,
      """
      INSERT INTO inbox_mark (id, number) VALUES (1, ?1) \
      ON CONFLICT (id) DO UPDATE SET number = max(number, excluded.number)
      """)
    statement.bind(number, at: 1)
    try statement.run()
  }
}
