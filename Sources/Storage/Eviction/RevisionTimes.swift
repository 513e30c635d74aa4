import GRDB
import Model

/// When revisions were made, to within the hour: a row says that its revision and all before it
/// were committed by then.
///
/// Written by eviction's steps, not by commits, so it costs writes nothing. Where steps are rare
/// the times are late, and what goes by age goes late, never early.
struct RevisionTimes {
  private static let interval = Duration.seconds(3600)

  private let database: Database

  init(_ database: Database) {
    self.database = database
  }

  /// - Parameter head: the last revision.
  func note(head: Int64, at now: Timestamp) throws {
    if let last = try last() {
      let isNews = head > last.revision && last.at.elapsed(until: now) >= Self.interval
      let isAhead = now < last.at
      guard isNews || isAhead else { return }
    }
    // A clock that was ahead would make everything since look younger than it is, for ever.
    let ahead = try PreparedStatement(database, "DELETE FROM revision_time WHERE at > ?1")
    ahead.bind(now.milliseconds, at: 1)
    try ahead.run()
    let insert = try PreparedStatement(
      database, "INSERT OR IGNORE INTO revision_time (revision, at) VALUES (?1, ?2)")
    insert.bind(head, at: 1)
    insert.bind(now.milliseconds, at: 2)
    try insert.run()
  }

  /// The last revision that is known to be no younger than a time; 0 for none.
  func lastRevision(by time: Timestamp) throws -> Int64 {
    let statement = try PreparedStatement(
      database, "SELECT coalesce(max(revision), 0) FROM revision_time WHERE at <= ?1")
    statement.bind(time.milliseconds, at: 1)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }

  func forget(before revision: Int64) throws {
    let statement = try PreparedStatement(
      database, "DELETE FROM revision_time WHERE revision < ?1")
    statement.bind(revision, at: 1)
    try statement.run()
  }

  private func last() throws -> (revision: Int64, at: Timestamp)? {
    let statement = try PreparedStatement(
      database, "SELECT revision, at FROM revision_time ORDER BY revision DESC LIMIT 1")
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return (statement.int64(0), Timestamp(milliseconds: statement.int64(1)))
  }
}
