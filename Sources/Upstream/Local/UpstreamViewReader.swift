import GraphQL
import Model

/// Reads selections of upstream types in views of local types, as far as operations select the same
/// fields: others are stored nowhere.
struct UpstreamViewReader {
  private let shapes: [String: ObjectShape]
  private let views: [String: EntityView]

  /// - Parameters:
  ///   - catalogue: the operations' catalogue.
  ///   - views: the operations' views, by name.
  init(catalogue: EntityCatalogue, views: [String: EntityView]) {
    shapes = catalogue.shapes
    self.views = views
  }

  /// Returns the fields of a selection.
  ///
  /// - Parameter note: called for each finding.
  func fields(
    _ set: SelectionSet, of type: String, note: (Finding) -> Void
  ) -> [SelectedField] {
    var fields: [SelectedField] = []
    for selection in set.selections {
      for directive in selection.directives {
        note(Finding(.fault, "Views cannot have directives.", at: directive.location))
      }
      switch selection {
      case .field(let field):
        if let found = self.field(field, of: type, note: note) {
          add(found, to: &fields, at: field.location, note: note)
        }
      case .inlineFragment(let inner):
        guard inner.typeCondition.map({ $0.value == type }) ?? true else { continue }
        for field in self.fields(inner.selectionSet, of: type, note: note) {
          add(field, to: &fields, at: inner.location, note: note)
        }
      case .fragmentSpread(let spread):
        guard let view = views[spread.name.value]?.selection.types[type] else {
          note(
            Finding(
              .fault, "The operations have no fragment \(spread.name.value) on \(type).",
              at: spread.location))
          continue
        }
        for field in view.fields where !field.isAdded {
          add(field, to: &fields, at: spread.location, note: note)
        }
      }
    }
    return fields
  }

  private func add(
    _ field: SelectedField, to fields: inout [SelectedField], at location: Location,
    note: (Finding) -> Void
  ) {
    for conflict in fields.merge(field) { note(Finding(.fault, conflict, at: location)) }
  }

  private func field(
    _ field: Field, of type: String, note: (Finding) -> Void
  ) -> SelectedField? {
    let name = field.name.value
    if name == StoredForm.typenameMember { return nil }
    guard let known = shapes[type]?.fields[name] else {
      note(
        Finding(
          .warning,
          "No operation selects \(name) of \(type), so views cannot show it."
            + NearestNames.didYouMean(
              name, among: (shapes[type]?.fields.keys).map(Array.init) ?? []),
          at: field.name.location))
      return nil
    }
    var value = SelectedField.Value.leaf
    if let set = field.selectionSet, known.isToMany != nil,
      case .object(let target, isAbstract: false, _) = known.value
    {
      value = .object(
        FieldSelection(
          types: [
            ObjectSelection(type: target, fields: fields(set, of: target, note: note), key: nil)
          ],
          typenameResponseName: nil))
    }
    return SelectedField(
      responseName: field.alias?.value ?? name, name: name, storageName: name, value: value)
  }
}
