package import Model

/// What the schema does not say about one of its types.
package struct TypeSettings: Sendable {
  /// Empty = `@key` in the schema, else `id`.
  package var key: [String] = []
  package var index: [String] = []
  /// Fields of the full-text search.
  package var search: [String] = []
  /// How dates of a local type are written; nil = ISO 8601.
  package var dates: DateFormat?
}
