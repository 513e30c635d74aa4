/// The entity that has the response of a query, and what the query selects of it, as generated code has it.
/// With it the query is answered from the replica where Larder cannot be reached.
public struct EntityLookup: Hashable, Sendable {
  let type: String
  /// The path of the key in the variables.
  let key: [String]
  let keyFields: [String]
  let selection: [Field]

  /// - Parameters:
  ///   - type: the type of the entity.
  ///   - key: the path of its key in the variables; an object at its end has the fields of the key.
  ///   - keyFields: the fields of the type's key.
  ///   - selection: what is selected of the query's root; its object is the entity.
  public init(_ type: String, key: [String], keyFields: [String], _ selection: [Field]) {
    self.type = type
    self.key = key
    self.keyFields = keyFields
    self.selection = selection
  }

  /// A selected field, by its name in the response.
  public struct Field: Hashable, Sendable {
    enum Value: Hashable, Sendable {
      case leaf(stored: String)
      case typename(String?)
      case object(stored: String, [Object])
      case unknown
    }

    let name: String
    let conditions: [Condition]
    let value: Value

    /// A value that is shown as it is stored.
    public static func leaf(
      _ name: String, stored: String? = nil, if conditions: [Condition] = []
    ) -> Field {
      Field(name: name, conditions: conditions, value: .leaf(stored: stored ?? name))
    }

    /// The type's name in responses, if it is another there.
    public static func typename(
      _ name: String, _ typename: String? = nil, if conditions: [Condition] = []
    ) -> Field {
      Field(name: name, conditions: conditions, value: .typename(typename))
    }

    /// An object or another entity, or a list of them, with what is selected of their types.
    public static func object(
      _ name: String, stored: String? = nil, if conditions: [Condition] = [], _ objects: [Object]
    ) -> Field {
      Field(name: name, conditions: conditions, value: .object(stored: stored ?? name, objects))
    }

    /// A field that entities do not have.
    public static func unknown(_ name: String, if conditions: [Condition] = []) -> Field {
      Field(name: name, conditions: conditions, value: .unknown)
    }
  }

  /// What is selected of some types.
  public struct Object: Hashable, Sendable {
    let types: [String]
    let fields: [Field]

    public static func on(_ types: [String], _ fields: [Field]) -> Object {
      Object(types: types, fields: fields)
    }
  }

  /// A condition of `@skip` or `@include`: the value that a variable must have.
  public struct Condition: Hashable, Sendable {
    let variable: String
    let isTrue: Bool
    /// The value of a variable that is not given.
    let fallback: Bool

    public static func include(_ variable: String, byDefault fallback: Bool = false) -> Condition {
      Condition(variable: variable, isTrue: true, fallback: fallback)
    }

    public static func skip(_ variable: String, byDefault fallback: Bool = false) -> Condition {
      Condition(variable: variable, isTrue: false, fallback: fallback)
    }
  }
}
