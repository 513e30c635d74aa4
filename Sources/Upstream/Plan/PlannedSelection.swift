import Model

/// What is selected at one composite position, conditions decided and variables still open.
final class PlannedSelection: Sendable {
  let objects: [PlannedObject]
  let typenameResponseName: String?
  /// The selection for all calls, where no argument below depends on variables.
  let shared: Model.Selection?

  init(objects: [PlannedObject], typenameResponseName: String?) {
    self.objects = objects
    self.typenameResponseName = typenameResponseName
    shared =
      objects.contains(where: \.dependsOnVariables)
      ? nil
      : Model.Selection(
        types: objects.map { $0.selected(.none) }, typenameResponseName: typenameResponseName)
  }

  func selection(_ variables: Variables) -> Model.Selection {
    shared
      ?? Model.Selection(
        types: objects.map { $0.selected(variables) },
        typenameResponseName: typenameResponseName)
  }
}

/// The fields selected on one concrete type.
struct PlannedObject: Sendable {
  let type: String
  let fields: [PlannedField]
  let key: [KeyField]?
  private let shared: ObjectSelection?

  init(type: String, fields: [PlannedField], key: [KeyField]?) {
    self.type = type
    self.fields = fields
    self.key = key
    shared =
      fields.contains(where: \.dependsOnVariables)
      ? nil
      : ObjectSelection(type: type, fields: fields.map { $0.selected(.none) }, key: key)
  }

  var dependsOnVariables: Bool { shared == nil }

  func selected(_ variables: Variables) -> ObjectSelection {
    shared
      ?? ObjectSelection(type: type, fields: fields.map { $0.selected(variables) }, key: key)
  }
}
