import GraphQL
import Model

/// Reads the fragments of `local.graphql`: views of the types that live here alone.
///
/// A view names fields. Below a relationship it may name what it likes of the other entity, and the
/// id is shown, as in views of upstream's types.
struct LocalViewReader {
  private let schema: LocalSchema
  private let fragments: [String: FragmentDefinition]
  /// Names of fragments among the operations.
  private let takenNames: Set<String>
  private(set) var findings: [Finding] = []

  init(schema: LocalSchema, fragments: [FragmentDefinition], takenNames: Set<String>) {
    self.schema = schema
    self.fragments = Dictionary(
      fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    self.takenNames = takenNames
  }

  mutating func read() -> [EntityView] {
    fragments.values.sorted { $0.location.start < $1.location.start }.compactMap { view(of: $0) }
  }

  private mutating func fault(_ message: String, at location: Location) {
    findings.append(Finding(.fault, message, at: location))
  }

  private mutating func view(of fragment: FragmentDefinition) -> EntityView? {
    let name = fragment.name.value
    if takenNames.contains(name) {
      fault("There is a fragment \(name) among the operations.", at: fragment.name.location)
    }
    guard let type = schema.types[fragment.typeCondition.value] else {
      let known = schema.types.keys.sorted()
      fault(
        "Views are of local types."
          + NearestNames.didYouMean(fragment.typeCondition.value, among: known),
        at: fragment.typeCondition.location)
      return nil
    }
    var fields: [SelectedField] = []
    collect(fragment.selectionSet, of: type.name, type.fields, into: &fields, open: [name])
    return EntityView(
      name: name, typeCondition: type.name,
      selection: Model.Selection(
        types: [ObjectSelection(type: type.name, fields: fields, key: nil)],
        typenameResponseName: nil))
  }

  // MARK: Selections

  /// - Parameter open: the fragments that this one is inside of.
  private mutating func collect(
    _ set: SelectionSet, of type: String, _ known: [LocalField],
    into fields: inout [SelectedField], open: Set<String>
  ) {
    for selection in set.selections {
      for directive in selection.directives {
        fault("Views take no directives.", at: directive.location)
      }
      switch selection {
      case .field(let field):
        collect(field, of: type, known, into: &fields, open: open)
      case .inlineFragment(let inner):
        if let condition = inner.typeCondition, condition.value != type {
          fault("This is a \(type), never a \(condition.value).", at: condition.location)
        }
        collect(inner.selectionSet, of: type, known, into: &fields, open: open)
      case .fragmentSpread(let spread):
        let name = spread.name.value
        guard let fragment = fragments[name], fragment.typeCondition.value == type else {
          fault("There is no fragment \(name) on \(type) in this file.", at: spread.location)
          continue
        }
        guard !open.contains(name) else {
          fault("The fragment \(name) is inside of itself.", at: spread.location)
          continue
        }
        collect(
          fragment.selectionSet, of: type, known, into: &fields, open: open.union([name]))
      }
    }
  }

  private mutating func collect(
    _ field: Field, of type: String, _ known: [LocalField], into fields: inout [SelectedField],
    open: Set<String>
  ) {
    let name = field.name.value
    let shown = field.alias?.value ?? name
    if name == StoredForm.typenameMember { return }
    guard let local = known.first(where: { $0.name == name }) else {
      fault(
        "\(type) has no field \(name)."
          + NearestNames.didYouMean(name, among: known.map(\.name)), at: field.name.location)
      return
    }
    for argument in field.arguments {
      fault("Fields of local types take no arguments.", at: argument.location)
    }
    check(field, local, open: open)
    guard let other = fields.first(where: { $0.responseName == shown }) else {
      fields.append(SelectedField(responseName: shown, name: name, storageName: name))
      return
    }
    if other.name != name {
      fault("\(shown) stands for \(other.name) already.", at: field.location)
    }
  }

  private mutating func check(_ field: Field, _ local: LocalField, open: Set<String>) {
    switch (local.kind, field.selectionSet) {
    case (.scalar, let set?), (.enumeration, let set?):
      fault("\(local.name) has no fields of its own.", at: set.location)
    case (.object(let name), let set?):
      var inner: [SelectedField] = []
      collect(set, of: name, schema.objects[name] ?? [], into: &inner, open: open)
    case (.object, nil), (.entity, nil):
      fault("\(local.name) needs a selection of fields.", at: field.location)
    case (.scalar, nil), (.enumeration, nil), (.entity, _?): break
    }
  }
}
