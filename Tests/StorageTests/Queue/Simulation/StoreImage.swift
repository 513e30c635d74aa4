import GRDB
import Model

/// All rows of queues and of the entities they show, from one snapshot, read without the store.
struct StoreImage: Equatable {
  private static let queries = [
    "SELECT revision FROM counter",
    "SELECT * FROM mutation ORDER BY sequence",
    "SELECT * FROM overlay ORDER BY id",
    "SELECT * FROM temporary_id ORDER BY device, temporary",
    "SELECT * FROM queue ORDER BY device",
    "SELECT * FROM change ORDER BY scope, type, key",
  ]

  private let rows: [String]

  init(of folder: TemporaryFolder) async throws {
    var settings = Configuration()
    settings.readonly = true
    let queue = try DatabaseQueue(path: folder.databasePath, configuration: settings)
    rows = try await queue.read { db in
      let entities = try String.fetchAll(db, sql: "SELECT table_name FROM entity_type ORDER BY id")
        .map { "SELECT scope, key, fields, stamps FROM \"\($0)\" ORDER BY scope, key" }
      return try (Self.queries + entities).flatMap { query in
        try Row.fetchAll(db, sql: query).map(\.description)
      }
    }
  }

  /// Describes the rows that only one of the images has.
  func difference(from other: StoreImage) -> String {
    rows.difference(from: other.rows).map { change in
      switch change {
      case .insert(_, let row, _): "+ \(row)"
      case .remove(_, let row, _): "- \(row)"
      }
    }.joined(separator: "\n  ")
  }
}
