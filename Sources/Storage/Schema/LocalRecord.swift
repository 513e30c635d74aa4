import GRDB
import LosslessJSON
import Model

/// The numbered descriptions of local types; the last one describes the stored rows.
enum LocalRecord {
  /// Returns the numbers of all types that were ever local, including types removed from the settings.
  static func types(_ db: Database) throws -> Set<Int64> {
    try Set(Int64.fetchAll(db, sql: "SELECT type FROM local_type"))
  }

  /// Returns the last descriptions by type; see ``LocalSchema/description(of:)``.
  static func last(_ db: Database) throws -> [String: String] {
    let text = try String.fetchOne(
      db, sql: "SELECT types FROM local_schema ORDER BY number DESC LIMIT 1")
    guard let members = try text.map({ try JSONValue(checked: $0) })?.members else { return [:] }
    return Dictionary(
      members.map { ($0.name, $0.value.string ?? "") }, uniquingKeysWith: { first, _ in first })
  }

  static func add(_ types: [String: String], _ db: Database) throws {
    let members = types.sorted { $0.key < $1.key }.map { JSONMember($0, .string($1)) }
    try db.execute(
      sql: "INSERT INTO local_schema (types) VALUES (?)",
      arguments: [JSONValue.object(members).text])
  }

  /// Renames the type of a table in the catalogue. Does so once; then the old name is free again.
  static func rename(_ schema: LocalSchema, _ db: Database) throws {
    for type in schema.types.values.sorted(by: { $0.name < $1.name }) {
      guard let former = type.formerName, try last(db)[former] != nil else { continue }
      let isTaken = try Bool.fetchOne(
        db, sql: "SELECT EXISTS (SELECT 1 FROM entity_type WHERE name = ?)", arguments: [type.name])
      guard isTaken != true else { continue }
      try db.execute(
        sql: "UPDATE entity_type SET name = ? WHERE name = ?", arguments: [type.name, former])
    }
  }
}
