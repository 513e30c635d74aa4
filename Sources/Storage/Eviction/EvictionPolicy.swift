import Model

/// What a store keeps: results for as long as a window serves them, entities under a byte budget,
/// tombstones for a time.
package struct EvictionPolicy: Sendable {
  /// By operation, the longest time after an answer was received for which anything serves it
  /// (`maxAge` with the longer of its stale windows). Results of other operations go.
  package var windows: [String: Duration]
  /// Of the database's pages in use. Entities that a live result refers to stay, so the database
  /// may be larger than this.
  package var bytesMax: Int
  /// How long a deletion is told to those who were away.
  package var tombstoneAge: Duration

  package static let tombstoneAgeDefault = Duration.seconds(30 * 24 * 3600)

  package init(
    windows: [String: Duration], bytesMax: Int, tombstoneAge: Duration = tombstoneAgeDefault
  ) {
    self.windows = windows
    self.bytesMax = bytesMax
    self.tombstoneAge = tombstoneAge
  }

  /// What is evicted down to once the budget is passed, so that not every answer is followed by
  /// another eviction.
  var bytesGoal: Int { bytesMax / 10 * 9 }

  /// Whether any window serves a result. A clock that went back makes it younger, not older.
  func serves(_ operation: String, received: Timestamp, at now: Timestamp) -> Bool {
    guard let window = windows[operation] else { return false }
    return received.elapsed(until: now) <= window
  }
}
