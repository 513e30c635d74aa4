internal import Cryptography
internal import Logging
internal import Model
internal import PostgreSQL
internal import Transport

/// Each snapshot has a table of chunks of its own, which is dropped with it: deleted rows of its size would have
/// to be vacuumed. Chunks are written one a transaction, and the row that names the snapshot last.
extension PostgresBackend {
  static let chunkBytes = 1 << 20
  /// How many snapshots are kept, so that a node can read one to its end while the next is made.
  private static let keptMax = 2
  /// How often a chunk is attempted, in calls that each have the backend's deadline.
  private static let attemptsMax = 3
  private static let columns =
    "id, position, bytes, sha256, (extract(epoch FROM made) * 1000)::int8, version"

  package func latestSnapshot() async throws(ClusterError) -> SnapshotInfo? {
    let sql = """
      SELECT \(Self.columns) FROM \(schema.snapshots) ORDER BY position DESC, id DESC LIMIT 1
      """
    return try await run { session, deadline throws(PostgresError) in
      let rows = try session.query(sql, deadline: deadline)
      return rows.rowCount == 1 ? SnapshotInfo(rows) : nil
    }
  }

  // MARK: Writing

  package func putSnapshot(
    position: Int64, file: String, version: String
  ) async throws(ClusterError) -> SnapshotInfo {
    let reader = try await files.run { () throws(ClusterError) in try SnapshotReader(file) }
    let id = try await makeChunkTable()
    do throws(ClusterError) {
      try await putChunks(of: reader, snapshot: id)
      let info = try await publish(id, position, reader, version)
      await removeOldSnapshots(upTo: id)
      return info
    } catch {
      await drop(id)
      throw error
    }
  }

  private func makeChunkTable() async throws(ClusterError) -> Int64 {
    let schema = schema
    return try await run { session, deadline throws(PostgresError) in
      let id = try session.query("SELECT nextval('\(schema.snapshotID)')", deadline: deadline)
        .integer(0, 0)
      let table = schema.chunks(id)
      _ = try session.query(
        "CREATE TABLE \(table) (number int8 PRIMARY KEY, bytes bytea NOT NULL)", deadline: deadline)
      _ = try session.query(
        "ALTER TABLE \(table) ALTER COLUMN bytes SET STORAGE EXTERNAL", deadline: deadline)
      return id
    }
  }

  private func putChunks(of reader: SnapshotReader, snapshot id: Int64) async throws(ClusterError) {
    let sql = """
      INSERT INTO \(schema.chunks(id)) (number, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING
      """
    var number: Int64 = 0
    while true {
      let chunk = try await files.run { () throws(ClusterError) in
        try reader.next(Self.chunkBytes)
      }
      if chunk.isEmpty { return }
      let parameters: [PostgresValue] = [.integer(number), .bytes(chunk)]
      try await patiently { session, deadline throws(PostgresError) in
        _ = try session.query(sql, parameters, deadline: deadline)
      }
      number += 1
    }
  }

  private func publish(
    _ id: Int64, _ position: Int64, _ reader: SnapshotReader, _ version: String
  ) async throws(ClusterError) -> SnapshotInfo {
    let sql = """
      INSERT INTO \(schema.snapshots) AS snapshot (id, position, bytes, sha256, version)
      VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE SET id = snapshot.id
      RETURNING \(Self.columns)
      """
    let parameters: [PostgresValue] = [
      .integer(id), .integer(position), .integer(reader.byteCount), .bytes(reader.digest),
      .text(version),
    ]
    return try await patiently { session, deadline throws(PostgresError) in
      SnapshotInfo(try session.query(sql, parameters, deadline: deadline))
    }
  }

  /// Runs a call that is safe to repeat again if the database was unavailable: a snapshot takes long.
  private func patiently<Value: Sendable>(
    _ body: @escaping @Sendable (PostgresSession, LoopInstant) throws(PostgresError) -> Value
  ) async throws(ClusterError) -> Value {
    for _ in 1..<Self.attemptsMax {
      do throws(ClusterError) { return try await run(body) } catch {
        guard case .unavailable = error, !Task.isCancelled else { throw error }
      }
    }
    return try await run(body)
  }

  // MARK: Removing

  /// Removes what is older than the newest few, and the chunks that an interrupted call has left. What cannot be
  /// removed now, since it is read, is removed next time.
  private func removeOldSnapshots(upTo id: Int64) async {
    let schema = schema
    let delete = """
      DELETE FROM \(schema.snapshots) WHERE id NOT IN (
        SELECT id FROM \(schema.snapshots) ORDER BY position DESC, id DESC LIMIT \(Self.keptMax))
      """
    let list = """
      SELECT substring(relname FROM 10)::int8 AS id FROM pg_class
      WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
        AND relkind = 'r' AND relname ~ '^snapshot_[0-9]+$'
        AND substring(relname FROM 10)::int8 < $2
        AND substring(relname FROM 10)::int8 NOT IN (SELECT id FROM \(schema.snapshots))
      """
    do throws(ClusterError) {
      let unused = try await run { session, deadline throws(PostgresError) in
        _ = try session.query(delete, deadline: deadline)
        let rows = try session.query(list, [.text(schema.name), .integer(id)], deadline: deadline)
        return (0..<rows.rowCount).map { rows.integer($0, 0) }
      }
      for id in unused { await drop(id) }
    } catch {
      logger.debug("Cannot remove old snapshots", metadata: ["error": "\(error)"])
    }
  }

  private func drop(_ id: Int64) async {
    let table = schema.chunks(id)
    do throws(ClusterError) {
      try await run { session, deadline throws(PostgresError) in
        try session.transaction(deadline) { () throws(PostgresError) in
          _ = try session.query("SET LOCAL lock_timeout = '1s'", deadline: deadline)
          _ = try session.query("DROP TABLE IF EXISTS \(table)", deadline: deadline)
        }
      }
    } catch {
      logger.debug(
        "Cannot remove a snapshot", metadata: ["error": "\(error)", "table": "\(table)"])
    }
  }

  // MARK: Reading

  package func getSnapshot(
    _ info: SnapshotInfo, into file: String
  ) async throws(ClusterError) {
    let writer = try await files.run { () throws(ClusterError) in try SnapshotWriter(file) }
    do throws(ClusterError) {
      try await getChunks(of: info, into: writer)
      try await files.run { () throws(ClusterError) in try writer.finish(info) }
    } catch {
      await files.run { writer.discard() }
      throw error
    }
  }

  private func getChunks(
    of info: SnapshotInfo, into writer: SnapshotWriter
  ) async throws(ClusterError) {
    let sql = "SELECT bytes FROM \(schema.chunks(info.id)) WHERE number = $1"
    let size = Int64(Self.chunkBytes)
    for number in 0..<(info.byteCount + size - 1) / size {
      let chunk: [UInt8]? = try await patiently { session, deadline throws(PostgresError) in
        do throws(PostgresError) {
          let rows = try session.query(sql, [.integer(number)], deadline: deadline)
          return rows.rowCount == 1 ? rows.bytes(0, 0) : nil
        } catch {
          // The table is gone.
          if case .server(let fault) = error, fault.sqlState == "42P01" { return nil }
          throw error
        }
      }
      guard let chunk else {
        throw .unavailable("snapshot \(info.id) was removed while it was read; read the latest one")
      }
      try await files.run { () throws(ClusterError) in try writer.append(chunk) }
    }
  }
}

extension SnapshotInfo {
  /// - Parameter rows: one row, of the columns as listed above.
  fileprivate init(_ rows: borrowing PostgresResult) {
    self.init(
      id: rows.integer(0, 0), position: rows.integer(0, 1), byteCount: rows.integer(0, 2),
      sha256: rows.bytes(0, 3), made: Timestamp(milliseconds: rows.integer(0, 4)),
      version: rows.text(0, 5))
  }
}
