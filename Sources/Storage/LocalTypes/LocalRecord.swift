import GRDB
import LosslessJSON
import Model

/// The numbered record of what local types allowed, the last of which describes the rows.
enum LocalRecord {
  /// Every type that ever was local, by number: also those that settings name no more.
  static func types(_ db: Database) throws -> Set<Int64> {
    try Set(Int64.fetchAll(db, sql: "SELECT type FROM local_type"))
  }

  /// Descriptions by type, see ``LocalSchema/description(of:)``.
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

  /// Gives the table of a renamed type its new name in the catalogue. Once; afterwards the old name
  /// is free.
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
