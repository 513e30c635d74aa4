import Filtering
import LosslessJSON
import Model
import Storage

/// The newest value of a field, by which a query continues where the last one ended.
enum NewestValue {
  /// Returns the newest stored value of a field; nil if there is none.
  static func stored(
    of field: String, in types: [EntityType], viewer: Viewer, store: ReadSession
  ) async throws(StorageError) -> JSONValue? {
    var newest: JSONValue?
    let order = EntityOrder([EntityOrder.Term(column: EntityPath(field: field), isDescending: true)]
    )
    for type in types {
      let page = try await store.page(
        EntityQuery(type: type, order: order, limit: 1), viewer: viewer, deadline: nil)
      guard let layers = page.items.first?.record.layers else { continue }
      let value = layers.lazy.compactMap { (try? JSONDocument(checked: $0))?.root[field] }.first
      newest = later(newest, value.map { JSONValue($0) })
    }
    return newest
  }

  /// Returns the newest value of a field among the entities of a response; nil if there is none.
  static func brought(
    of field: String, in types: [EntityType], by response: NormalisedResponse
  ) -> JSONValue? {
    let names = Set(types.map(\.name))
    var newest: JSONValue?
    for entity in response.entities where names.contains(entity.key.type) {
      guard let found = entity.fields.last(where: { $0.name == field }),
        let value = try? JSONValue(parsing: Array(response.bytes[found.range]))
      else { continue }
      newest = later(newest, value)
    }
    return newest
  }

  /// Returns the later one of two values; null counts as no value.
  static func later(_ left: JSONValue?, _ right: JSONValue?) -> JSONValue? {
    guard let left, !left.isNull else { return right.flatMap { $0.isNull ? nil : $0 } }
    guard let right, !right.isNull else { return left }
    return isLater(right, than: left) ? right : left
  }

  /// Whether a value is later. Times are compared as times, whatever their zone and precision; other
  /// texts by their bytes.
  static func isLater(_ value: JSONValue, than other: JSONValue) -> Bool {
    switch (value, other) {
    case (.number(let left), .number(let right)):
      if let left = left.int64, let right = right.int64 { return left > right }
      return left.double ?? 0 > right.double ?? 0
    case (.string(let left), .string(let right)):
      if let left = DateFormat.iso8601.stored(text: left),
        let right = DateFormat.iso8601.stored(text: right)
      {
        return right.utf8.lexicographicallyPrecedes(left.utf8)
      }
      return right.utf8.lexicographicallyPrecedes(left.utf8)
    default: return false
    }
  }
}
