package import LosslessJSON

/// Turns input values into what an operation is executed with (specification 3, "Input Coercion",
/// and 6.1.2): every value fits its type, defaults are filled in, a single value where a list is
/// expected becomes a list of one, the fields of input objects stand in the order of their
/// declaration, and an ID is a string. All faults are told at once.
///
/// Types named here are those of a validated document; an unknown one is a fault, not a trap.
package struct InputCoercer: Sendable {
  package let schema: Schema

  package init(schema: Schema) {
    self.schema = schema
  }

  /// CoerceVariableValues(): the members in the order of the definitions. A variable that was not
  /// given and has no default stays absent. A name that is no variable is a fault, too.
  package func variables(
    _ given: JSONValue, for definitions: [VariableDefinition]
  ) throws(InputFaults) -> [JSONMember] {
    var coercion = Coercion(schema: schema)
    guard let members = given.members ?? (given.isNull ? [] : nil) else {
      throw InputFaults([InputFault(InputPath("variables"), "Variables must be an object.")])
    }
    let known = Set(definitions.map(\.name.value))
    for member in members where !known.contains(member.name) {
      let hint = NearestNames.didYouMean(
        NearestNames.suggestions(for: member.name, among: known).map { "$" + $0 })
      coercion.report(.variable(member.name), "The operation has no such variable.\(hint)")
    }
    let coerced = definitions.compactMap { definition in
      coercion.variable(definition, given: given[definition.name.value])
    }
    try coercion.finish()
    return coerced
  }

  /// One JSON value as a type.
  package func value(
    _ json: JSONValue, as type: TypeReference, at path: InputPath
  ) throws(InputFaults) -> JSONValue {
    var coercion = Coercion(schema: schema)
    let value = coercion.json(json, as: type, at: path)
    try coercion.finish()
    return value ?? .null
  }

  /// One literal as a type, with the coerced variables in their places. Absent if it is a variable
  /// that was not given.
  package func literal(
    _ literal: Value, as type: TypeReference, variables: [JSONMember] = [], at path: InputPath
  ) throws(InputFaults) -> JSONValue? {
    var coercion = Coercion(schema: schema, variables: variables)
    let value = coercion.literal(literal, as: type, at: path)
    try coercion.finish()
    return value
  }

  /// CoerceArgumentValues(): of a field or a directive, in the order of their declaration. An
  /// argument that was not given and has no default stays absent.
  package func arguments(
    _ given: [Argument], for declared: NamedList<InputValue>, variables: [JSONMember] = []
  ) throws(InputFaults) -> [JSONMember] {
    var coercion = Coercion(schema: schema, variables: variables)
    let coerced = declared.compactMap { definition in
      let literal = given.first { $0.name.value == definition.name }?.value
      return coercion.member(definition, literal: literal, at: InputPath(definition.name))
    }
    try coercion.finish()
    return coerced
  }
}
