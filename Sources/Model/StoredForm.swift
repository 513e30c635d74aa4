/// How a field's value is written inside an entity or a result: JSON text in which every leaf
/// keeps the bytes upstream sent.
///
/// | value | text |
/// |---|---|
/// | leaf (scalar, enum, a custom scalar's whole value) | as upstream sent it |
/// | null | `null` |
/// | list | `[…]`, holes kept as `null` |
/// | entity | `{"$ref":["Film","9"]}`: concrete type and ``EntityKey/key`` |
/// | embedded object | `{"__typename":"Poster","url":…}`: concrete type, then fields by storage name |
///
/// A **storage name** is the schema name of a field, followed by its arguments in canonical form
/// where it has any: `title`, `poster({"size":"L"})`; never an alias. `$` cannot begin a GraphQL
/// name, so a reference is never mistaken for an embedded object. A custom scalar may hold
/// anything: what a value is, is told by the ``Selection`` that reads it, not by its text.
package enum StoredForm {
  package static let referenceMember = "$ref"
  package static let typenameMember = "__typename"
  /// In what a device's queue lays over an entity: the ids of the mutations that do.
  package static let pendingMember = "$pending"

  /// The storage name of a field.
  ///
  /// - Parameter arguments: the canonical JSON object of the arguments (defaults applied, keys
  ///   sorted), or nil where the field takes none.
  package static func storageName(of field: String, arguments: String?) -> String {
    guard let arguments else { return field }
    return "\(field)(\(arguments))"
  }
}
