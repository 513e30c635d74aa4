import GRDB
import LosslessJSON
import Model

/// The temporary ids of devices that stand for real entities by now.
struct TemporaryIDRows {
  let database: Database
  let device: String

  /// - Returns: those that are known.
  func find(_ ids: some Sequence<TemporaryID>) throws -> [TemporaryID: EntityKey] {
    var known: [TemporaryID: EntityKey] = [:]
    for id in ids {
      let statement = try PreparedStatement(
        database, "SELECT type, key FROM temporary_id WHERE device = ?1 AND temporary = ?2")
      statement.bind(device, at: 1)
      statement.bind(id.value, at: 2)
      if try statement.step() {
        known[id] = EntityKey(type: statement.string(0), key: statement.string(1))
      }
      statement.reset()
    }
    return known
  }

  func insert(_ resolved: [TemporaryID: EntityKey], at now: Timestamp) throws {
    for (id, entity) in resolved {
      let statement = try PreparedStatement(
        database,
        """
        INSERT INTO temporary_id (device, temporary, type, key, made) \
        VALUES (?1, ?2, ?3, ?4, ?5) \
        ON CONFLICT (device, temporary) \
        DO UPDATE SET type = excluded.type, key = excluded.key, made = excluded.made
        """)
      statement.bind(device, at: 1)
      statement.bind(id.value, at: 2)
      statement.bind(entity.type, at: 3)
      statement.bind(entity.key, at: 4)
      statement.bind(now.milliseconds, at: 5)
      try statement.run()
    }
  }
}
