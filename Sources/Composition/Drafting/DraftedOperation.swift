import GraphQL

/// An operation that `larder init` writes, as a file of its own.
struct DraftedOperation: Sendable {
  let name: String
  let kind: OperationType
  /// The name of the root field.
  let field: String
  /// The path of `@route`; nil without one.
  let route: String?
  /// Relative to the folder of operations.
  let fileName: String
  var text: String
  /// Whether its result is a list, or a page of one.
  let isList: Bool
  /// Whether it can be called without a variable.
  let needsNoVariable: Bool
  /// For a list: the size argument's variable, to keep a trial small.
  let sizeVariable: String?
  /// For an item by one key: the name of the key's variable and that of the item's type.
  let lookup: Lookup?
  /// The name of the type of the root field's value, or of the elements of its list.
  let typeName: String

  struct Lookup: Hashable, Sendable {
    let variable: String
    let type: String
    /// The field of the type that has the key's value.
    let keyField: String
  }
}

/// A root field without an operation, and the reason.
struct OmittedField: Hashable, Sendable {
  let kind: OperationType
  let field: String
  let reason: String
}
