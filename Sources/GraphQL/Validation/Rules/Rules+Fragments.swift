extension DocumentSurvey {
  /// Reports type conditions on types that are not composite (5.5.1.3).
  func fragmentsOnCompositeTypes() -> [Fault] {
    let inline = definitions.flatMap(\.inlineFragments).compactMap(\.fragment.typeCondition)
      .map { (subject: "Fragment", condition: $0) }
    let named = fragments.map(\.definition)
      .map { (subject: "Fragment \"\($0.name)\"", condition: $0.typeCondition) }
    return (inline + named).compactMap { subject, condition in
      guard let type = schema.type(named: condition.value), !type.isComposite else { return nil }
      return Fault(
        .fragmentsOnCompositeTypes,
        "\(subject) cannot condition on non composite type \"\(condition)\".",
        at: condition.location)
    }
  }
}

extension DocumentSurvey {
  /// Reports spreads of unknown fragments (5.5.2.1).
  func knownFragmentNames() -> [Fault] {
    definitions.flatMap(\.spreads).compactMap { site in
      let name = site.spread.name
      guard fragmentsByName[name.value] == nil else { return nil }
      let hint = NearestNames.didYouMean(name.value, among: fragmentsByName.keys)
      return Fault(.knownFragmentNames, "Unknown fragment \"\(name)\".\(hint)", at: name.location)
    }
  }
}

extension DocumentSurvey {
  /// Reports unknown types of variables and type conditions (5.5.1.2, 5.8.2).
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

extension DocumentSurvey {
  /// Reports fragments that spread themselves, directly or through others (5.5.2.2). The search uses an
  /// explicit stack, so that a long chain of fragments cannot overflow the thread's.
  func noFragmentCycles() -> [Fault] {
    var finished = Set<String>()
    return fragments.map(\.definition.name.value)
      .flatMap { cycles(from: $0, finished: &finished) }
  }

  private func cycles(from root: String, finished: inout Set<String>) -> [Fault] {
    var faults: [Fault] = []
    var path: [(name: String, remaining: ArraySlice<FragmentSpread>)] = []
    /// The spread that continues the path from each of its fragments.
    var spreads: [FragmentSpread] = []
    var depthByName: [String: Int] = [:]
    func enter(_ name: String) {
      guard finished.insert(name).inserted, let fragment = fragmentsByName[name] else { return }
      depthByName[name] = path.count
      path.append((name, fragment.survey.spreads.map(\.spread)[...]))
    }
    enter(root)
    while let last = path.last {
      guard let spread = last.remaining.first else {
        depthByName[last.name] = nil
        path.removeLast()
        _ = spreads.popLast()
        continue
      }
      path[path.count - 1].remaining.removeFirst()
      if let start = depthByName[spread.name.value] {
        faults.append(cycleFault(Array(spreads[start...]) + [spread]))
      } else {
        let depth = path.count
        enter(spread.name.value)
        if path.count > depth { spreads.append(spread) }
      }
    }
    return faults
  }

  private func cycleFault(_ cycle: [FragmentSpread]) -> Fault {
    let name = cycle.last?.name.value ?? ""
    let via = cycle.dropLast().map { "\"\($0.name)\"" }.joined(separator: ", ")
    return Fault(
      .noFragmentCycles,
      "Cannot spread fragment \"\(name)\" within itself" + (via.isEmpty ? "." : " via \(via)."),
      at: cycle.map(\.location))
  }
}

extension DocumentSurvey {
  /// Reports fragments that no operation spreads, directly or through others (5.5.1.4).
  func noUnusedFragments() -> [Fault] {
    let used = Set(operations.flatMap(\.fragments).map(\.definition.name.value))
    return fragments.map(\.definition).filter { !used.contains($0.name.value) }.map { fragment in
      Fault(
        .noUnusedFragments, "Fragment \"\(fragment.name)\" is never used.", at: fragment.location)
    }
  }
}

extension DocumentSurvey {
  /// Reports spreads whose fragment and parent type have no possible object type in common (5.5.2.3).
  func possibleFragmentSpreads() -> [Fault] {
    definitions.flatMap { definition in
      definition.inlineFragments.compactMap { site in
        fault("Fragment", type: site.type, parent: site.parent, at: site.fragment.location)
      }
        + definition.spreads.compactMap { site in
          let fragment = fragmentsByName[site.spread.name.value]?.definition
          return fault(
            "Fragment \"\(site.spread.name)\"",
            type: fragment.flatMap { schema.type(named: $0.typeCondition.value) },
            parent: site.parent, at: site.spread.location)
        }
    }
  }

  private func fault(
    _ subject: String, type: NamedType?, parent: NamedType?, at location: Location
  ) -> Fault? {
    guard let type, let parent, type.isComposite, !schema.typesOverlap(type, parent) else {
      return nil
    }
    return Fault(
      .possibleFragmentSpreads,
      "\(subject) cannot be spread here as objects of type \"\(parent.name)\" can never be of "
        + "type \"\(type.name)\".", at: location)
  }
}

extension DocumentSurvey {
  /// Reports duplicate fragment names (5.5.1.1).
  func uniqueFragmentNames() -> [Fault] {
    fragments.map(\.definition.name).repeated(by: \.value).map { name, nodes in
      Fault(
        .uniqueFragmentNames, "There can be only one fragment named \"\(name)\".",
        at: nodes.map(\.location))
    }
  }
}
