import GRDB
import Glibc
import Model

/// A row of the log as a replica applies it.
package struct ReplicatedRow: Sendable {
  package let position: Int64
  package let payload: [UInt8]

  package init(position: Int64, payload: [UInt8]) {
    self.position = position
    self.payload = payload
  }
}

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

extension Store {
  /// The last row of the cluster's log that is committed here; 0 for a single node.
  package var position: Int64 { writer.position }

  /// Registers a function that is called once when the node can no longer lead: another one does, or it is unknown
  /// whether the last row was appended. No write is taken from then on.
  package func whenLeadingEnds(_ observer: @escaping @Sendable (StorageError) -> Void) {
    writer.whenLost(observer)
  }

  /// Applies log rows to a replica, in one transaction. Readers see all of them or none, and observers get the
  /// leader's reports.
  ///
  /// - Parameter rows: in their order, the first at ``position`` + 1.
  /// - Throws: ``StorageError/diverged(_:)`` if they do not fit, and for a row that only a snapshot replaces.
  ///   Nothing is applied then.
  package func apply(_ rows: [ReplicatedRow]) async throws(StorageError) -> AppliedRows {
    try await writer.apply(rows)
  }

  /// Copies the database as it is now, page by page, while reads and writes go on: row numbers stay, which log rows
  /// name.
  ///
  /// - Parameter path: of a file that is made; its folder must exist. Nothing is left there after an error.
  /// - Returns: the position of the copy.
  package func writeSnapshot(to path: String) async throws(StorageError) -> Int64 {
    do {
      let source = try DatabaseQueue(path: databasePath)
      defer { try? source.close() }
      let copy = try DatabaseQueue(path: path)
      defer { try? copy.close() }
      try await withCheckedThrowingContinuation { continuation in
        source.asyncRead { result in
          continuation.resume(
            with: Result {
              let database = try result.get()
              try copy.writeWithoutTransaction { try database.backup(to: $0) }
            })
        }
      }
      return try await copy.read { try ClusterPosition.read($0)?.position ?? 0 }
    } catch {
      for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
      throw StorageError(error)
    }
  }

  /// Returns the cluster and the position of a folder's database; nil if there is no database, or one that is in no
  /// cluster. Nothing is written.
  package static func clusterPosition(folder: String) throws(StorageError) -> ClusterPosition? {
    do {
      return try StoreInspector(folder: folder).clusterPosition()
    } catch {
      throw StorageError(opening: error, folder: folder)
    }
  }

  /// Whether a folder's database has all tables of this version, so that it can be opened without a migration.
  package static func isCurrent(folder: String) throws(StorageError) -> Bool {
    do {
      return try StoreInspector(folder: folder).isCurrent()
    } catch {
      throw StorageError(opening: error, folder: folder)
    }
  }

  /// Whether the SQLite that the program runs with can lead a cluster.
  package static var canLead: Bool { ChangeCapture.isSupported }
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
    guard try ClusterPosition.read(database)?.position == last else {
      throw StorageError.diverged("the rows up to \(last) did not set the position")
    }
    let counters = try Opening.counters(database)
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
