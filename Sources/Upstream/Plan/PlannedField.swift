import LosslessJSON
import Model

/// One field of a plan: a ``SelectedField`` that may still wait for variables.
struct PlannedField: Sendable {
  enum Value: Sendable {
    case leaf
    case object(PlannedSelection)
  }

  let responseName: String
  let name: String
  /// The innermost named type.
  let typeName: String
  let leafKind: SelectedField.LeafKind
  let arguments: FieldArguments
  let isAdded: Bool
  let value: Value
  let nonNull: [Bool]
  let paging: PagingRule?
  let isComplete: Bool
  /// The key that the arguments make up, where the field is a look-up by key.
  let lookup: EntityKeyRule?
  let isAuthoritative: Bool

  var dependsOnVariables: Bool {
    if arguments.dependsOnVariables { return true }
    if case .object(let selection) = value { return selection.shared == nil }
    return false
  }

  func selected(_ variables: Variables) -> SelectedField {
    let arguments = arguments.resolve(variables)
    return SelectedField(
      responseName: responseName,
      name: name,
      storageName: StoredForm.storageName(
        of: name, arguments: FieldArguments.canonical(arguments)),
      typeName: typeName,
      leafKind: leafKind,
      isAdded: isAdded,
      value: selectedValue(variables),
      nonNull: nonNull,
      page: paging?.page(of: name, arguments: arguments),
      isComplete: isComplete,
      lookup: lookup?.key { part in arguments.first { $0.name == part }?.value },
      isAuthoritative: isAuthoritative)
  }

  private func selectedValue(_ variables: Variables) -> SelectedField.Value {
    switch value {
    case .leaf: .leaf
    case .object(let selection): .object(selection.selection(variables))
    }
  }
}
