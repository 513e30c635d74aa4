import GRDB
import Model

/// What log rows changed.
package struct AppliedRows: Sendable {
  /// The last row applied.
  package let position: Int64
  /// The names of the tables that were changed.
  package let tables: Set<String>
  /// Whether tables were made, dropped or altered, or the leader has begun another segment: what is open must be
  /// opened again.
  package let needsReopening: Bool
}

extension GroupedWriter {
  /// The table whose new rows begin segments, see ``Segment``.
  private static let segmentTable = "segment"

  /// See ``Store/apply(_:)``.
  func apply(_ rows: [ReplicatedRow]) async throws(StorageError) -> AppliedRows {
    let result: Result<AppliedRows, StorageError> = await withCheckedContinuation { continuation in
      queue.asyncWriteWithoutTransaction { [self] database in
        do {
          continuation.resume(returning: .success(try applyNow(rows, database)))
        } catch {
          if database.isInsideTransaction { try? database.rollback() }
          announce(0)
          continuation.resume(returning: .failure(StorageError(error)))
        }
      }
    }
    return try result.get()
  }

  private func applyNow(_ rows: [ReplicatedRow], _ database: Database) throws -> AppliedRows {
    var reports: [CommitReport] = []
    var tables: Set<String> = []
    var needsReopening = false
    var last = position
    try database.execute(sql: "BEGIN IMMEDIATE")
    var applier = LogApplier()
    for row in rows {
      guard row.position == last + 1 else {
        throw StorageError.diverged("row \(row.position) came after row \(last)")
      }
      let payload: LogPayload
      do throws(LogFault) {
        payload = try LogPayload(row.payload)
      } catch {
        throw StorageError.diverged("row \(row.position) of the log cannot be read: \(error)")
      }
      guard !payload.isReset else {
        throw StorageError.diverged("row \(row.position) of the log stands for a snapshot")
      }
      try applier.apply(payload, database)
      reports += payload.reports
      tables.formUnion(payload.tableNames)
      needsReopening = needsReopening || !payload.schema.isEmpty
      last = row.position
    }
    if let epoch = rows.last?.epoch {
      let place = try ClusterPosition.read(database)
      guard place?.position == last, place?.epoch == epoch else {
        throw StorageError.diverged("the rows up to \(last) did not set the position and its epoch")
      }
    }
    let counters = try WriterMemory.Counters(database)
    announce(counters.revision)
    try database.execute(sql: "COMMIT")
    memory.counters = counters
    publish(position: last)
    notify(reports)
    checkpointIfDue(database)
    return AppliedRows(
      position: last, tables: tables,
      needsReopening: needsReopening || tables.contains(Self.segmentTable))
  }
}
