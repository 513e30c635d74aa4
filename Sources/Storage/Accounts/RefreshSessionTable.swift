import GRDB
import Model

/// The rows of sessions. A session stores the digests of its current refresh token and of the previous one.
///
/// If the previous token is presented again within the leeway, another successor is issued. Which of the
/// successors reached the client is unknown, so all are valid until one is used: those before the current one
/// are stored after the previous token, each with a mark.
struct RefreshSessionTable {
  private static let siblingMark = "="
  /// Limit of the successors of one token beside the current one.
  private static let siblingsMax = 15

  let database: Database

  /// Adds a session. Beyond `max` sessions of the account, the least recently used are removed.
  func insert(_ session: RefreshSession, max: Int) throws {
    let excess = try PreparedStatement(
      database,
      """
      DELETE FROM session WHERE id IN (SELECT id FROM session WHERE account = ?1 \
      ORDER BY rotated DESC, id LIMIT -1 OFFSET ?2)
      """)
    excess.bind(session.account, at: 1)
    excess.bind(Int64(max - 1), at: 2)
    try excess.run()
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO session (id, account, family_digest, token_digest, rotated, expires) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      """)
    statement.bind(session.id, at: 1)
    statement.bind(session.account, at: 2)
    statement.bind(session.familyDigest, at: 3)
    statement.bind(session.tokenDigest, at: 4)
    statement.bind(session.rotated.milliseconds, at: 5)
    statement.bind(session.expires.milliseconds, at: 6)
    try statement.run()
  }

  /// Exchanges a valid token for the next one, or ends the session of a token that was exchanged before.
  func rotate(_ rotation: RefreshRotation) throws -> RefreshOutcome {
    let find = try PreparedStatement(
      database,
      """
      SELECT id, account, token_digest, previous_digest, rotated, expires FROM session \
      WHERE family_digest = ?1
      """)
    find.bind(rotation.familyDigest, at: 1)
    defer { find.reset() }
    guard try find.step(), rotation.now.milliseconds < find.int64(5) else { return .unknown }
    let (session, account) = (find.string(0), find.string(1))
    let rotated = Timestamp(milliseconds: find.int64(4))
    let (current, earlier) = (find.string(2), find.string(3).split(separator: " ").map(String.init))
    let isSibling = earlier.contains { isSame($0, Self.siblingMark + rotation.presentedDigest) }
    let isValid = isSame(current, rotation.presentedDigest) || isSibling
    let isPrevious =
      earlier.contains { isSame($0, rotation.presentedDigest) } && earlier.count <= Self.siblingsMax
    guard isValid || isPrevious && rotated.elapsed(until: rotation.now) < rotation.leeway else {
      try end(rotation.familyDigest)
      return .reused(session: session, account: account)
    }
    if try DisabledAccountTable(database: database).contains(account) { return .disabled }
    let statement = try PreparedStatement(
      database,
      """
      UPDATE session SET previous_digest = ?2, token_digest = ?3, rotated = ?4, expires = ?5 \
      WHERE family_digest = ?1
      """)
    statement.bind(rotation.familyDigest, at: 1)
    let former = isValid ? [rotation.presentedDigest] : earlier + [Self.siblingMark + current]
    statement.bind(former.joined(separator: " "), at: 2)
    statement.bind(rotation.nextDigest, at: 3)
    // A repeated exchange within the leeway does not extend the leeway.
    statement.bind(isValid ? rotation.now.milliseconds : rotated.milliseconds, at: 4)
    statement.bind(rotation.expires.milliseconds, at: 5)
    try statement.run()
    return .rotated(session: session, account: account)
  }

  /// Removes a session.
  ///
  /// - Returns: the session's id and account; nil if it has already ended.
  @discardableResult
  func end(_ familyDigest: String) throws -> (session: String, account: String)? {
    let statement = try PreparedStatement(
      database, "DELETE FROM session WHERE family_digest = ?1 RETURNING id, account")
    statement.bind(familyDigest, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    let ended = (statement.string(0), statement.string(1))
    while try statement.step() {}
    return ended
  }

  /// Removes all sessions of an account except one.
  ///
  /// - Returns: the number of sessions removed.
  @discardableResult
  func endAll(of account: String, but kept: String?) throws -> Int {
    let statement = try PreparedStatement(
      database, "DELETE FROM session WHERE account = ?1 AND id IS NOT ?2")
    statement.bind(account, at: 1)
    statement.bind(kept.map { Array($0.utf8) }, at: 2)
    try statement.run()
    return database.changesCount
  }

  /// Removes expired sessions, at most `limit`.
  ///
  /// - Returns: the number of sessions removed.
  func removeExpired(at now: Timestamp, limit: Int) throws -> Int {
    let statement = try PreparedStatement(
      database,
      "DELETE FROM session WHERE id IN (SELECT id FROM session WHERE expires <= ?1 LIMIT ?2)")
    statement.bind(now.milliseconds, at: 1)
    statement.bind(Int64(limit), at: 2)
    try statement.run()
    return database.changesCount
  }

  private func isSame(_ stored: String, _ presented: String) -> Bool {
    constantTimeEqual(Array(stored.utf8), Array(presented.utf8))
  }
}
