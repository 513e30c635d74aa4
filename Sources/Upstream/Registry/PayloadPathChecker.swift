import GraphQL
import Model

/// Checks a path of `@effects` into the response, such as `itemDeleted.id`, against the operation's own
/// selections.
struct PayloadPathChecker {
  /// One selected field, with its type.
  private struct Selected {
    let field: Field
    let type: NamedType
  }

  /// Selection sets of one position, each with the type that it selects from.
  private typealias Position = [(set: SelectionSet, type: NamedType)]

  let schema: Schema
  let fragments: [String: FragmentDefinition]
  let operation: OperationDefinition

  /// Returns what is wrong with a path; nil for a good one.
  ///
  /// - Parameter rule: the key of the entities that the path leads to.
  func fault(in path: [String], naming rule: EntityKeyRule) -> String? {
    guard let root = schema.rootType(for: operation.operation) else { return nil }
    var position: Position = [(operation.selectionSet, root)]
    var last: [Selected] = []
    for (index, name) in path.enumerated() {
      let known = fields(at: position)
      last = known.filter { $0.field.responseKey == name }
      guard !last.isEmpty else {
        let place = index == 0 ? "the operation" : path.prefix(index).joined(separator: ".")
        let hint = NearestNames.didYouMean(name, among: Set(known.map(\.field.responseKey)))
        return "\(place) does not select \"\(name)\".\(hint)"
      }
      position = last.compactMap { selected in
        selected.field.selectionSet.map { ($0, selected.type) }
      }
    }
    guard last.allSatisfy({ $0.type.isComposite }) else {
      return rule.parts.count == 1
        ? nil : "it leads to one value; the key of \(rule.type) has several fields."
    }
    // Key fields that Larder adds have other response names.
    let names = Set(
      fields(at: position).filter { $0.field.responseKey == $0.field.name.value }
        .map(\.field.name.value))
    let missing = rule.parts.map(\.field).filter { !names.contains($0) }
    return missing.isEmpty
      ? nil
      : "the object there is selected without \(missing.joined(separator: ", ")), the key of "
        + "\(rule.type)."
  }

  private func fields(at position: Position) -> [Selected] {
    var visited: Set<String> = []
    return position.flatMap { fields(in: $0.set, on: $0.type, &visited) }
  }

  /// - Parameter visited: fragments that were read, which can refer to themselves before they are
  ///   validated.
  private func fields(
    in set: SelectionSet, on type: NamedType, _ visited: inout Set<String>
  ) -> [Selected] {
    set.selections.flatMap { selection -> [Selected] in
      switch selection {
      case .field(let field):
        guard let declared = schema.field(named: field.name.value, on: type),
          let type = schema.type(of: declared.type)
        else { return [] }
        return [Selected(field: field, type: type)]
      case .inlineFragment(let fragment):
        let condition = fragment.typeCondition.flatMap { schema.type(named: $0.value) }
        return fields(in: fragment.selectionSet, on: condition ?? type, &visited)
      case .fragmentSpread(let spread):
        guard visited.insert(spread.name.value).inserted,
          let fragment = fragments[spread.name.value],
          let condition = schema.type(named: fragment.typeCondition.value)
        else { return [] }
        return fields(in: fragment.selectionSet, on: condition, &visited)
      }
    }
  }
}
