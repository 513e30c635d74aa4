/// The entity that has the response of a query, and what the query selects of it: with that, a client that
/// holds entities as `GET /v1/changes` reports them answers the query by itself.
///
/// Types have the names that they are stored under.
package struct ClientLookup: Hashable, Sendable {
  /// The type of the entity.
  package let type: String
  /// The path of its key, which begins with the variable's name. An object at its end has the fields of the
  /// key as members.
  package let key: [String]
  package let keyFields: [String]
  /// What is selected of the query's root. Its only object is the entity, stored under the field's name in
  /// the response.
  package let selection: [Field]

  /// A selected field.
  package struct Field: Hashable, Sendable {
    /// The alias or name in the response.
    package let name: String
    /// All of them must hold, or the response does not have the field.
    package let conditions: [Condition]
    package let value: Value
  }

  package enum Value: Hashable, Sendable {
    /// A field whose value is shown as it is stored.
    case leaf(stored: String)
    /// The type's name, if it is another in responses.
    case typename(String?)
    /// One object, a list or a reference, with what is selected of each type. An object of another type is
    /// not known.
    case objects(stored: String, [Object])
    /// Entities do not have the field: it has arguments, or is a list of entities.
    case unknown
  }

  /// What is selected of some types.
  package struct Object: Hashable, Sendable {
    package var types: [String]
    package let fields: [Field]
  }

  /// A condition of `@skip` or `@include`.
  package struct Condition: Hashable, Sendable {
    package let variable: String
    /// The value that the variable must have.
    package let isTrue: Bool
    /// The value of a variable that is not given.
    package let fallback: Bool
  }
}
