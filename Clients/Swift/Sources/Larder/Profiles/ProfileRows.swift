import GRDB

/// The rows of all profiles within a transaction.
struct ProfileRows {
  let db: Database

  init(_ db: Database) {
    self.db = db
  }

  /// The users of all profiles, by the profile's id.
  func users() throws -> [String: String?] {
    let rows = try Row.fetchAll(db, sql: "SELECT id, user FROM profile")
    return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] as String, $0[1] as String?) })
  }

  /// Adds a profile, with the push token of the phone.
  func add(_ id: String) throws {
    try db.execute(
      sql: """
        INSERT OR IGNORE INTO profile (id, pushToken)
        VALUES (?, (SELECT pushToken FROM profile WHERE pushToken IS NOT NULL LIMIT 1))
        """, arguments: [id])
  }

  /// Records the user of a profile.
  func set(user: String, of id: String) throws {
    try db.execute(sql: "UPDATE profile SET user = ? WHERE id = ?", arguments: [user, id])
  }

  /// Gives a profile what was submitted in others of its user that the credentials do not have any more.
  ///
  /// - Parameter known: the profiles that the credentials have.
  func joinLost(of user: String, to id: String, known: Set<String>) throws {
    let rows = try String.fetchAll(
      db, sql: "SELECT id FROM profile WHERE user = ? ORDER BY rowid", arguments: [user])
    for lost in rows where lost != id && !known.contains(lost) { try join(lost, to: id) }
  }

  /// Has the push token sent again for a profile: a registration at Larder ends with the session.
  func forgetPushToken(of id: String) throws {
    try db.execute(sql: "UPDATE profile SET pushSentFor = NULL WHERE id = ?", arguments: [id])
  }

  /// Gives another profile of the same user all that was submitted in one, and removes that one. Items that
  /// were never sent go on; others end as `unknown`, since keys belong to a device.
  func join(_ former: String, to id: String) throws {
    let numbers = try Row.fetchAll(
      db, sql: "SELECT submitted FROM profile WHERE id IN (?, ?) ORDER BY id = ?",
      arguments: [former, id, former]
    ).map { $0[0] as Int }
    guard numbers.count == 2 else { return try remove(former) }
    // In the order of submission, after all of the other profile.
    for table in ["outcome", "item", "overlay"] {
      try db.execute(
        sql: "UPDATE \(table) SET profile = ?, number = number + ? WHERE profile = ?",
        arguments: [id, numbers[0], former])
    }
    try db.execute(
      sql: "UPDATE profile SET submitted = ? WHERE id = ?",
      arguments: [numbers[0] + numbers[1], id])
    for table in ["temporary", "upload"] {
      try db.execute(
        sql: "UPDATE OR IGNORE \(table) SET profile = ? WHERE profile = ?", arguments: [id, former])
    }
    let outbox = OutboxRows(db, id)
    for item in try outbox.items() where item.number > numbers[0] {
      if item.wasTried || item.state != .waiting { try outbox.end(item, state: "unknown") }
    }
    try OverlayRows(db, id).refoldAll()
    try remove(former)
  }

  private func remove(_ id: String) throws {
    try db.execute(
      sql: """
        DELETE FROM holding WHERE following IN (SELECT number FROM following WHERE profile = ?)
        """, arguments: [id])
    let tables = [
      "following", "replica", "shadow", "item", "overlay", "outcome", "report", "temporary",
      "response", "upload",
    ]
    for table in tables {
      try db.execute(sql: "DELETE FROM \(table) WHERE profile = ?", arguments: [id])
    }
    try db.execute(sql: "DELETE FROM profile WHERE id = ?", arguments: [id])
  }
}
