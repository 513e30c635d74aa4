import GRDB
import Model

/// The rows of registered devices and the statements on them.
///
/// Only digests of tokens are stored, so neither the file nor a backup of it grants access.
struct DeviceTable {
  private static let columns =
    "id, platform, name, push_token, owner, registered, last_used, access"

  let database: Database

  func insert(_ device: Device, tokenDigest: String) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO device (\(Self.columns), token_digest) \
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      """)
    statement.bind(device.id, at: 1)
    statement.bind(device.platform, at: 2)
    statement.bind(device.name.map { Array($0.utf8) }, at: 3)
    statement.bind(device.pushToken.map { Array($0.utf8) }, at: 4)
    statement.bind(device.user.map { Array($0.utf8) }, at: 5)
    statement.bind(device.registered.milliseconds, at: 6)
    statement.bind(device.lastUsed.milliseconds, at: 7)
    statement.bind(device.access.rawValue, at: 8)
    statement.bind(tokenDigest, at: 9)
    try statement.run()
  }

  func exists(_ id: String) throws -> Bool {
    let statement = try PreparedStatement(database, "SELECT 1 FROM device WHERE id = ?1")
    statement.bind(id, at: 1)
    defer { statement.reset() }
    return try statement.step()
  }

  /// Finds the device of its own token, or of one that only reads and may have expired.
  func find(tokenDigest: String) throws -> Device? {
    if let device = try findByOwnToken(tokenDigest) { return device }
    guard let token = try DeviceTokenTable(database: database).find(tokenDigest: tokenDigest),
      var device = try find(id: token.device)
    else { return nil }
    device.access = .read
    device.tokenExpires = token.expires
    return device
  }

  func find(id: String) throws -> Device? {
    let statement = try PreparedStatement(
      database, "SELECT \(Self.columns) FROM device WHERE id = ?1")
    statement.bind(id, at: 1)
    return try firstDevice(statement)
  }

  /// Returns devices in the order of their ids.
  ///
  /// - Parameters:
  ///   - after: the id before the page; empty for the first page.
  ///   - user: whose devices alone; nil for all.
  func page(after: String, user: String?, limit: Int) throws -> [Device] {
    let statement = try PreparedStatement(
      database,
      """
      SELECT \(Self.columns) FROM device WHERE id > ?1 AND (?2 IS NULL OR owner = ?2) \
      ORDER BY id LIMIT ?3
      """)
    statement.bind(after, at: 1)
    statement.bind(user.map { Array($0.utf8) }, at: 2)
    statement.bind(Int64(limit), at: 3)
    defer { statement.reset() }
    var devices: [Device] = []
    while try statement.step() { devices.append(device(statement)) }
    return devices
  }

  func findByOwnToken(_ tokenDigest: String) throws -> Device? {
    let statement = try PreparedStatement(
      database, "SELECT \(Self.columns) FROM device WHERE token_digest = ?1")
    statement.bind(tokenDigest, at: 1)
    return try firstDevice(statement)
  }

  func change(_ id: String, _ change: DeviceChange) throws -> Device? {
    let statement = try PreparedStatement(
      database,
      """
      UPDATE device SET platform = coalesce(?2, platform), \
      name = CASE WHEN ?3 THEN ?4 ELSE name END, \
      push_token = CASE WHEN ?5 THEN ?6 ELSE push_token END \
      WHERE id = ?1 RETURNING \(Self.columns)
      """)
    statement.bind(id, at: 1)
    statement.bind(change.platform.map { Array($0.utf8) }, at: 2)
    bind(change.name, at: 3, of: statement)
    bind(change.pushToken, at: 5, of: statement)
    return try firstDevice(statement)
  }

  /// Binds the device to the user unless it is already bound to another one.
  func bind(_ id: String, to user: String) throws -> Device? {
    let statement = try PreparedStatement(
      database,
      "UPDATE device SET owner = coalesce(owner, ?2) WHERE id = ?1 RETURNING \(Self.columns)")
    statement.bind(id, at: 1)
    statement.bind(user, at: 2)
    return try firstDevice(statement)
  }

  /// Replaces the device's own token, and ends those that only read: the old one can have made them.
  ///
  /// - Returns: false if the old token is no longer valid.
  func replaceToken(from old: String, to new: String) throws -> Bool {
    let statement = try PreparedStatement(
      database, "UPDATE device SET token_digest = ?2 WHERE token_digest = ?1")
    statement.bind(old, at: 1)
    statement.bind(new, at: 2)
    try statement.run()
    guard database.changesCount > 0 else { return false }
    if let device = try findByOwnToken(new) {
      try DeviceTokenTable(database: database).removeAll(of: device.id)
    }
    return true
  }

  func touch(_ id: String, at moment: Timestamp) throws {
    let statement = try PreparedStatement(
      database,
      "UPDATE device SET last_used = max(last_used, ?2), set_aside = NULL WHERE id = ?1")
    statement.bind(id, at: 1)
    statement.bind(moment.milliseconds, at: 2)
    try statement.run()
  }

  /// Sets aside devices that were last used before a moment and hold no unique data, and takes back those
  /// that were used since or hold such data now.
  ///
  /// - Parameters:
  ///   - holding: an SQL condition on `device`; see ``DeviceData/holding(_:)``.
  ///   - now: the time at which they are set aside.
  func setAside(
    unusedSince moment: Timestamp, holding: String, at now: Timestamp, limit: Int
  ) throws -> Int {
    let back = try PreparedStatement(
      database,
      """
      UPDATE device SET set_aside = NULL \
      WHERE set_aside IS NOT NULL AND (last_used >= ?1 OR \(holding))
      """)
    back.bind(moment.milliseconds, at: 1)
    try back.run()
    let aside = try PreparedStatement(
      database,
      """
      UPDATE device SET set_aside = ?2 WHERE id IN (SELECT id FROM device \
      WHERE last_used < ?1 AND set_aside IS NULL AND NOT \(holding) ORDER BY last_used LIMIT ?3)
      """)
    aside.bind(moment.milliseconds, at: 1)
    aside.bind(now.milliseconds, at: 2)
    aside.bind(Int64(limit), at: 3)
    try aside.run()
    return database.changesCount
  }

  /// Counts devices that were last used before a moment and stay because they hold unique data.
  func countKept(unusedSince moment: Timestamp, holding: String) throws -> Int {
    let statement = try PreparedStatement(
      database, "SELECT count(*) FROM device WHERE last_used < ?1 AND \(holding)")
    statement.bind(moment.milliseconds, at: 1)
    defer { statement.reset() }
    return try statement.step() ? Int(statement.int64(0)) : 0
  }

  /// Returns the devices that were set aside before a moment, earliest first.
  func idsSetAside(before moment: Timestamp, limit: Int) throws -> [String] {
    let statement = try PreparedStatement(
      database, "SELECT id FROM device WHERE set_aside < ?1 ORDER BY set_aside LIMIT ?2")
    statement.bind(moment.milliseconds, at: 1)
    statement.bind(Int64(limit), at: 2)
    defer { statement.reset() }
    var ids: [String] = []
    while try statement.step() { ids.append(statement.string(0)) }
    return ids
  }

  /// - Parameters:
  ///   - moment: a device that was not set aside before then stays; nil removes it in any case.
  ///   - holding: an SQL condition; with a moment, a device that meets it stays.
  /// - Returns: whether the device existed and was removed.
  func remove(_ id: String, setAsideBefore moment: Timestamp?, holding: String) throws -> Bool {
    let statement = try PreparedStatement(
      database,
      """
      DELETE FROM device WHERE id = ?1 AND (?2 IS NULL OR set_aside < ?2 AND NOT \(holding))
      """)
    statement.bind(id, at: 1)
    statement.bind(moment?.milliseconds, at: 2)
    try statement.run()
    return database.changesCount > 0
  }

  /// Binds two parameters: whether to set the column, and the value.
  private func bind(
    _ edit: DeviceChange.Edit, at index: Int32, of statement: PreparedStatement
  ) {
    switch edit {
    case .keep: statement.bind(0, at: index)
    case .set(let text):
      statement.bind(1, at: index)
      statement.bind(text.map { Array($0.utf8) }, at: index + 1)
    }
  }

  private func firstDevice(_ statement: PreparedStatement) throws -> Device? {
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    let device = device(statement)
    // A statement that changes rows has finished only after the last step.
    while try statement.step() {}
    return device
  }

  /// Reads the current row.
  private func device(_ statement: PreparedStatement) -> Device {
    Device(
      id: statement.string(0), platform: statement.string(1), name: optional(2, statement),
      pushToken: optional(3, statement), user: optional(4, statement),
      registered: Timestamp(milliseconds: statement.int64(5)),
      lastUsed: Timestamp(milliseconds: statement.int64(6)),
      access: DeviceAccess(rawValue: statement.string(7)) ?? .read)
  }

  private func optional(_ column: Int32, _ statement: PreparedStatement) -> String? {
    statement.isNull(column) ? nil : statement.string(column)
  }
}
