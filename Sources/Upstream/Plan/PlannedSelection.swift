import LosslessJSON
import Model

/// The selection at one composite position, with conditions decided and variables open.
final class PlannedSelection: Sendable {
  let objects: [PlannedObject]
  let typenameResponseName: String?
  /// The selection for all calls, if no argument below depends on variables.
  let shared: FieldSelection?

  init(objects: [PlannedObject], typenameResponseName: String?) {
    self.objects = objects
    self.typenameResponseName = typenameResponseName
    shared =
      objects.contains(where: \.dependsOnVariables)
      ? nil
      : FieldSelection(
        types: objects.map { $0.selected(.none) }, typenameResponseName: typenameResponseName)
  }

  func selection(_ variables: Variables) -> FieldSelection {
    shared
      ?? FieldSelection(
        types: objects.map { $0.selected(variables) },
        typenameResponseName: typenameResponseName)
  }
}

/// The fields selected on one concrete type.
struct PlannedObject: Sendable {
  /// The name that the type is stored under.
  let type: String
  /// The type's name in the schema.
  let typename: String
  let fields: [PlannedField]
  let key: [KeyField]?
  private let shared: ObjectSelection?

  init(type: String, typename: String, fields: [PlannedField], key: [KeyField]?) {
    self.type = type
    self.typename = typename
    self.fields = fields
    self.key = key
    shared =
      fields.contains(where: \.dependsOnVariables)
      ? nil
      : ObjectSelection(
        type: type, typename: typename, fields: fields.map { $0.selected(.none) }, key: key)
  }

  var dependsOnVariables: Bool { shared == nil }

  func selected(_ variables: Variables) -> ObjectSelection {
    shared
      ?? ObjectSelection(
        type: type, typename: typename, fields: fields.map { $0.selected(variables) }, key: key)
  }
}

/// One field of a plan: a ``SelectedField`` whose variables may still be open.
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
  /// The key formed by the arguments, if the field is a look-up by key.
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
