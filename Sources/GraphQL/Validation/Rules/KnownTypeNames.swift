extension DocumentSurvey {
  /// Types of variables and type conditions exist (5.5.1.2, 5.8.2).
  func knownTypeNames() -> [Fault] {
    let variables = operations.flatMap(\.definition.variableDefinitions).map(\.type.name)
    let conditions = fragments.map(\.definition.typeCondition)
    let inline = definitions.flatMap(\.inlineFragments).compactMap(\.fragment.typeCondition)
    let defined = Set(
      document.definitions.compactMap {
        if case .type(let type) = $0, !type.isExtension { type.name.value } else { nil }
      })
    return (variables + conditions + inline).compactMap { name in
      if schema.type(named: name.value) != nil || defined.contains(name.value) { return nil }
      let hint = NearestNames.didYouMean(name.value, among: schema.types.names)
      return Fault(.knownTypeNames, "Unknown type \"\(name)\".\(hint)", at: name.location)
    }
  }
}
