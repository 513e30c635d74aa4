import Model

/// The limits of a store: results stay while a window serves them, entities within a byte budget,
/// tombstones for a fixed time.
package struct EvictionPolicy: Sendable {
  /// By operation, the longest time after receipt in which a response can be served: `maxAge` plus the
  /// longer of its stale windows. Results of other operations are removed.
  package var windows: [String: Duration]
  /// The byte budget of the database's pages in use. Entities that a live result refers to stay, so the
  /// database can be larger.
  package var bytesMax: Int
  /// How long a deletion is reported to clients that were offline.
  package var tombstoneAge: Duration
  /// By type, how long a deleted entity stays visible to those who have local fields of it.
  package var keepLocal: [String: Duration]

  static let tombstoneAgeDefault = Duration.seconds(30 * 24 * 3600)
  /// The default of ``keepLocal``.
  package static let keepLocalDefault = Duration.seconds(90 * 24 * 3600)

  package init(
    windows: [String: Duration], bytesMax: Int, tombstoneAge: Duration = tombstoneAgeDefault,
    keepLocal: [String: Duration] = [:]
  ) {
    self.keepLocal = keepLocal
    self.windows = windows
    self.bytesMax = bytesMax
    self.tombstoneAge = tombstoneAge
  }

  /// The size that a pass evicts down to: below the budget, so that not every response triggers a pass.
  var bytesGoal: Int { bytesMax / 10 * 9 }

  /// Returns whether a window serves a result. A clock set back makes the result younger, not older.
  func serves(_ operation: String, received: Timestamp, at now: Timestamp) -> Bool {
    guard let window = windows[operation] else { return false }
    return received.elapsed(until: now) <= window
  }
}

/// The effect of one eviction step.
package struct EvictionReport: Sendable, Hashable {
  package var results = 0
  /// Evicted rows; an entity has one row in each scope that holds it.
  package var entities = 0
  /// Deletions that are no longer reported; see ``Store/floor``.
  package var tombstones = 0
  /// Rows of local fields that were removed, with the entities they were kept for.
  var changes: [CommitReport.Change] = []
  /// The revision of the last of them.
  var revision: Revision?
  /// Bytes of the database's pages in use after the step.
  var bytesUsed = 0
  /// True while the pass continues: call again soon. False: nothing is left to do for some minutes.
  package var hasMore = false
}

/// The remaining work budget of one step, in microseconds of the writer as measured, rounded up.
///
/// Work is counted, not timed: a step does the same on every run, and this module reads no clock.
struct EvictionWork {
  /// The longest delay of other writes by one step, except in rare cases: a row of megabytes is read whole.
  static let stepMicroseconds = 4_000

  /// The cost of reading a row without its contents.
  static let look = 1
  /// The cost of reading a row or finding one by its key.
  static let read = 4
  /// The cost of removing a row with its dependent rows, or changing one.
  static let remove = 25
  /// Bytes of JSON parsed in a microsecond.
  static let bytesParsed = 400

  private(set) var left: Int = stepMicroseconds

  var isSpent: Bool { left <= 0 }

  mutating func spend(_ microseconds: Int) { left -= microseconds }
}
