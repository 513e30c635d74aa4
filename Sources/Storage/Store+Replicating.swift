import GRDB
import Model

extension Store {
  /// The last row of the cluster's log that is committed here; 0 for a single node.
  package var position: Int64 { writer.position }

  /// Returns which row of the log was the last to write the database; nil for a single machine's.
  package func clusterPosition() async throws(StorageError) -> ClusterPosition? {
    try await reader.read { try ClusterPosition.read($0) }
  }

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
      DatabaseFiles.remove(path)
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
