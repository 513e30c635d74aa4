import GRDB
import Model

/// The rows of tokens that only read, and the statements on them. Only digests of tokens are stored.
struct DeviceTokenTable {
  let database: Database

  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: """
        ALTER TABLE device ADD COLUMN access TEXT NOT NULL DEFAULT 'full';
        CREATE TABLE device_token (
          id TEXT PRIMARY KEY,
          token_digest TEXT NOT NULL UNIQUE,
          device TEXT NOT NULL,
          made INTEGER NOT NULL,
          expires INTEGER NOT NULL
        );
        CREATE INDEX device_token_by_device ON device_token (device);
        CREATE INDEX device_token_by_expiry ON device_token (expires);
        """)
  }

  func insert(_ token: DeviceReadToken, tokenDigest: String, of device: String) throws {
    let statement = try PreparedStatement(
      database,
      """
      INSERT INTO device_token (id, token_digest, device, made, expires) \
      VALUES (?1, ?2, ?3, ?4, ?5)
      """)
    statement.bind(token.id, at: 1)
    statement.bind(tokenDigest, at: 2)
    statement.bind(device, at: 3)
    statement.bind(token.made.milliseconds, at: 4)
    statement.bind(token.expires.milliseconds, at: 5)
    try statement.run()
  }

  func find(tokenDigest: String) throws -> (device: String, expires: Timestamp)? {
    let statement = try PreparedStatement(
      database, "SELECT device, expires FROM device_token WHERE token_digest = ?1")
    statement.bind(tokenDigest, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return (statement.string(0), Timestamp(milliseconds: statement.int64(1)))
  }

  /// Returns the tokens of a device, the first to expire first.
  func all(of device: String) throws -> [DeviceReadToken] {
    let statement = try PreparedStatement(
      database,
      "SELECT id, made, expires FROM device_token WHERE device = ?1 ORDER BY expires, id")
    statement.bind(device, at: 1)
    defer { statement.reset() }
    var tokens: [DeviceReadToken] = []
    while try statement.step() {
      tokens.append(
        DeviceReadToken(
          id: statement.string(0), made: Timestamp(milliseconds: statement.int64(1)),
          expires: Timestamp(milliseconds: statement.int64(2))))
    }
    return tokens
  }

  /// - Returns: false if the device has no token of this id.
  func remove(_ id: String, of device: String) throws -> Bool {
    let statement = try PreparedStatement(
      database, "DELETE FROM device_token WHERE id = ?1 AND device = ?2")
    statement.bind(id, at: 1)
    statement.bind(device, at: 2)
    try statement.run()
    return database.changesCount > 0
  }

  func removeAll(of device: String) throws {
    let statement = try PreparedStatement(
      database, "DELETE FROM device_token WHERE device = ?1")
    statement.bind(device, at: 1)
    try statement.run()
  }

  /// Removes tokens that had expired at a moment, the first to expire first.
  ///
  /// - Parameter device: nil for the tokens of all devices.
  /// - Returns: the number of tokens removed.
  func removeExpired(at moment: Timestamp, of device: String? = nil, limit: Int) throws -> Int {
    let statement = try PreparedStatement(
      database,
      """
      DELETE FROM device_token WHERE id IN (SELECT id FROM device_token \
      WHERE expires <= ?1 AND (?2 IS NULL OR device = ?2) ORDER BY expires LIMIT ?3)
      """)
    statement.bind(moment.milliseconds, at: 1)
    statement.bind(device.map { Array($0.utf8) }, at: 2)
    statement.bind(Int64(limit), at: 3)
    try statement.run()
    return database.changesCount
  }
}
