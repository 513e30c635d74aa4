/// A document prepared for the rules: the surveys of its definitions, and the fragments that each
/// operation uses. The rules are methods in extensions of this type, in the folder `Rules`.
struct DocumentSurvey {
  struct Operation {
    let definition: OperationDefinition
    let survey: DefinitionSurvey
    /// The fragments the operation spreads, directly or through others, each once.
    let fragments: [Fragment]

    /// The variables used in the operation and in all its fragments.
    var variableUsages: [DefinitionSurvey.VariableUsage] {
      survey.variableUsages + fragments.flatMap(\.survey.variableUsages)
    }
  }

  struct Fragment {
    let definition: FragmentDefinition
    let survey: DefinitionSurvey
  }

  let document: Document
  let schema: Schema
  let operations: [Operation]
  let fragments: [Fragment]
  /// Of two fragments with one name the last counts, as in the reference implementation.
  let fragmentsByName: [String: Fragment]

  init(_ document: Document, schema: Schema) {
    self.document = document
    self.schema = schema
    fragments = document.fragments.map {
      Fragment(definition: $0, survey: DefinitionSurvey($0, schema: schema))
    }
    let byName = Dictionary(
      fragments.map { ($0.definition.name.value, $0) }, uniquingKeysWith: { $1 })
    fragmentsByName = byName
    operations = document.operations.map { operation in
      let survey = DefinitionSurvey(operation, schema: schema)
      return Operation(
        definition: operation, survey: survey,
        fragments: Self.reachable(from: survey, in: byName))
    }
  }

  /// Every survey of the document, operations first.
  var definitions: [DefinitionSurvey] { operations.map(\.survey) + fragments.map(\.survey) }

  private static func reachable(
    from survey: DefinitionSurvey, in fragments: [String: Fragment]
  ) -> [Fragment] {
    var found: [Fragment] = []
    var seen = Set<String>()
    var pending = [survey]
    while let next = pending.popLast() {
      for site in next.spreads where seen.insert(site.spread.name.value).inserted {
        guard let fragment = fragments[site.spread.name.value] else { continue }
        found.append(fragment)
        pending.append(fragment.survey)
      }
    }
    return found
  }
}

extension Sequence {
  /// Returns the elements that share a name, grouped, in the order of first appearance.
  func repeated(by name: (Element) -> String) -> [(name: String, elements: [Element])] {
    var order: [String] = []
    var groups: [String: [Element]] = [:]
    for element in self {
      let key = name(element)
      if groups[key] == nil { order.append(key) }
      groups[key, default: []].append(element)
    }
    return order.compactMap { key in
      guard let group = groups[key], group.count > 1 else { return nil }
      return (key, group)
    }
  }
}
