import GRDB

/// An index of the replica in the order of a query's result, for entities of one type.
///
/// SQLite uses it where the texts of its expressions and of its condition are in the statement too, as
/// in ``EntityQuery/page(profile:)``. It is only for type and fields whose names are those of GraphQL.
struct ListIndex: Hashable, Sendable {
  /// More of them hardly make a selection smaller.
  private static let equalFieldsMax = 2
  private static let orderMax = 4

  let type: String
  /// The type and the terms: `^film =genre -year +title`. SQLite's names of indexes do not differ in case,
  /// and those of GraphQL do.
  let definition: String
  private let columns: String

  /// Nil if the query has no use for one, or too many terms.
  init?(_ query: EntityQuery) {
    let equal = Set(query.equalFields).sorted().prefix(Self.equalFieldsMax)
    let order = query.effectiveOrder
    let fields = equal + order.map(\.field)
    // A complete list is read as quickly without one.
    guard query.limit != nil || !query.conditions.isEmpty else { return nil }
    guard !fields.isEmpty, order.count <= Self.orderMax else { return nil }
    guard isName(query.type), fields.allSatisfy(isName) else { return nil }
    type = query.type
    let terms = equal.map { "=\($0)" } + order.map { "\($0.isDescending ? "-" : "+")\($0.field)" }
    definition = "\(type) \(terms.joined(separator: " "))".map { character in
      character.isUppercase ? "^" + character.lowercased() : String(character)
    }.joined()
    columns =
      (equal.map { fieldValue($0).text }
      + order.map { fieldValue($0.field).text + ($0.isDescending ? " DESC" : "") })
      .joined(separator: ", ")
  }

  func create(_ db: Database, name: String) throws {
    try db.execute(
      sql: "CREATE INDEX \"\(name)\" ON replica (profile, \(columns), id) WHERE type = '\(type)'")
  }
}
