/// The data behind a schema: gives each field of each object its value.
///
/// Mutations change the resolver itself, so that the executor's order of fields is the order of
/// effects. Meta fields never reach it.
protocol Resolver {
  associatedtype Object

  /// The value a query or mutation begins at.
  func root(_ typeName: String) -> Object

  /// The name of the object's type in the schema, never an interface or union.
  func typeName(of object: Object) -> String

  mutating func resolve(
    _ field: String, of object: Object, arguments: Arguments
  ) throws(FieldFailure) -> Resolved<Object>
}
