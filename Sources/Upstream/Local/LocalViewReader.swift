import GraphQL
import Model

/// Reads the fragments of `local.graphql`: views of local types, and of their interfaces, which are read for
/// each type that implements them.
///
/// A view selects fields. Selections below a relationship are views of the entities that are nested
/// there, of local and of upstream types. Those of upstream types can spread the operations' fragments.
struct LocalViewReader {
  private let schema: LocalSchema
  private let upstream: UpstreamViewReader
  private let fragments: [String: FragmentDefinition]
  /// Names of the operations' fragments.
  private let takenNames: Set<String>
  private(set) var findings: [Finding] = []

  init(
    schema: LocalSchema, fragments: [FragmentDefinition], takenNames: Set<String>,
    upstream: UpstreamViewReader
  ) {
    self.schema = schema
    self.upstream = upstream
    self.fragments = Dictionary(
      fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    self.takenNames = takenNames
    var known: [String: Location] = [:]
    for fragment in fragments {
      let name = fragment.name
      if let first = known[name.value] {
        let place = first.position.map { " in line \($0.line)" } ?? ""
        fault(
          "The fragment \(name.value) is already defined\(place): give one of them another name.",
          at: name.location)
      } else {
        known[name.value] = name.location
      }
    }
  }

  mutating func read() -> [EntityView] {
    fragments.values.sorted { $0.location.start < $1.location.start }.compactMap { view(of: $0) }
  }

  private mutating func fault(_ message: String, at location: Location) {
    note(Finding(.fault, message, at: location))
  }

  /// Adds a finding once: a selection on an interface is read for each of its types.
  private mutating func note(_ finding: Finding) {
    if !findings.contains(finding) { findings.append(finding) }
  }

  private mutating func view(of fragment: FragmentDefinition) -> EntityView? {
    let name = fragment.name.value
    if takenNames.contains(name) {
      fault("A fragment \(name) already exists among the operations.", at: fragment.name.location)
    }
    let condition = fragment.typeCondition.value
    if schema.extensions[condition] != nil { return extendedView(of: fragment) }
    guard schema.types[condition] != nil || schema.interfaces[condition] != nil else {
      let known =
        Array(schema.types.keys) + Array(schema.interfaces.keys) + Array(schema.extensions.keys)
      fault(
        "A view must be on a local type."
          + NearestNames.didYouMean(condition, among: known.sorted()),
        at: fragment.typeCondition.location)
      return nil
    }
    return EntityView(
      name: name, typeCondition: condition,
      selection: selection(fragment.selectionSet, of: condition, open: [name]))
  }

  /// Returns a selection on a local type, or on each type of an interface.
  private mutating func selection(
    _ set: SelectionSet, of declared: String, open: Set<String>
  ) -> FieldSelection {
    var types: [ObjectSelection] = []
    for type in schema.interfaces[declared]?.types ?? [declared] {
      var fields: [SelectedField] = []
      collect(set, of: type, as: declared, into: &fields, open: open)
      types.append(ObjectSelection(type: type, fields: fields, key: nil))
    }
    return FieldSelection(types: types, typenameResponseName: nil)
  }

  /// A view of an upstream type with local fields, which operations cannot select.
  private mutating func extendedView(of fragment: FragmentDefinition) -> EntityView {
    let type = fragment.typeCondition.value
    return EntityView(
      name: fragment.name.value, typeCondition: type,
      selection: upstreamSelection(fragment.selectionSet, of: type))
  }

  private mutating func upstreamSelection(_ set: SelectionSet, of type: String) -> FieldSelection {
    var found: [Finding] = []
    let fields = upstream.fields(set, of: type) { found.append($0) }
    for finding in found { note(finding) }
    return FieldSelection(
      types: [ObjectSelection(type: type, fields: fields, key: nil)], typenameResponseName: nil)
  }

  // MARK: Selections

  /// Returns whether a fragment's condition applies to a type; nil if it applies to none that the position
  /// can have.
  ///
  /// - Parameter declared: the type itself, or the interface that the position has.
  private func applies(_ condition: String, to type: String, as declared: String) -> Bool? {
    if condition == declared || condition == type { return true }
    if schema.interfaces[condition]?.types.contains(type) == true { return true }
    let possible = Set(schema.interfaces[declared]?.types ?? [])
    let wanted = schema.interfaces[condition]?.types ?? [condition]
    return possible.isDisjoint(with: wanted) ? nil : false
  }

  /// - Parameters:
  ///   - declared: the type itself, or the interface whose fields can be selected.
  ///   - open: the enclosing fragments.
  private mutating func collect(
    _ set: SelectionSet, of type: String, as declared: String,
    into fields: inout [SelectedField], open: Set<String>
  ) {
    for selection in set.selections {
      for directive in selection.directives {
        fault("Views cannot have directives.", at: directive.location)
      }
      switch selection {
      case .field(let field):
        collect(field, of: type, as: declared, into: &fields, open: open)
      case .inlineFragment(let inner):
        let condition = inner.typeCondition?.value ?? declared
        switch applies(condition, to: type, as: declared) {
        case true?: collect(inner.selectionSet, of: type, as: condition, into: &fields, open: open)
        case false?: continue
        case nil:
          fault(
            "The type here is \(declared), so the condition on \(condition) never applies.",
            at: inner.typeCondition?.location ?? inner.location)
        }
      case .fragmentSpread(let spread):
        let name = spread.name.value
        guard let fragment = fragments[name],
          let isOfType = applies(fragment.typeCondition.value, to: type, as: declared)
        else {
          fault("This file has no fragment \(name) on \(declared).", at: spread.location)
          continue
        }
        guard isOfType else { continue }
        guard !open.contains(name) else {
          fault("The fragment \(name) spreads itself.", at: spread.location)
          continue
        }
        collect(
          fragment.selectionSet, of: type, as: fragment.typeCondition.value, into: &fields,
          open: open.union([name]))
      }
    }
  }

  private mutating func collect(
    _ field: Field, of type: String, as declared: String, into fields: inout [SelectedField],
    open: Set<String>
  ) {
    let known =
      schema.interfaces[declared]?.fields ?? schema.types[type]?.fields ?? schema.objects[type]
      ?? []
    let name = field.name.value
    if name == StoredForm.typenameMember { return }
    guard let local = known.first(where: { $0.name == name }) else {
      fault(
        "\(declared) has no field \(name)."
          + NearestNames.didYouMean(name, among: known.map(\.name)), at: field.name.location)
      return
    }
    for argument in field.arguments {
      fault("Fields of local types cannot have arguments.", at: argument.location)
    }
    let value = value(of: field, local, open: open)
    let conflicts = fields.merge(
      SelectedField(
        responseName: field.alias?.value ?? name, name: name, storageName: name, value: value))
    for conflict in conflicts { fault(conflict, at: field.location) }
  }

  private mutating func value(
    of field: Field, _ local: LocalField, open: Set<String>
  ) -> SelectedField.Value {
    switch (local.kind, field.selectionSet) {
    case (.scalar, let set?), (.enumeration, let set?):
      fault("\(local.name) is a leaf and cannot have a selection.", at: set.location)
    case (.object(let name), let set?):
      var inner: [SelectedField] = []
      collect(set, of: name, as: name, into: &inner, open: open)
    case (.object, nil), (.entity, nil):
      fault("\(local.name) must have a selection of fields.", at: field.location)
    case (.entity(let name, _), let set?):
      if schema.types[name] != nil || schema.interfaces[name] != nil {
        return .object(selection(set, of: name, open: open))
      }
      return .object(upstreamSelection(set, of: name))
    case (.scalar, nil), (.enumeration, nil): break
    }
    return .leaf
  }
}
