extension DocumentSurvey {
  /// Reports definitions other than operations and fragments (5.1.1).
  func executableDefinitions() -> [Fault] {
    document.definitions.compactMap { definition in
      let name: String
      switch definition {
      case .operation, .fragment: return nil
      case .schema: name = "schema"
      case .type(let type): name = "\"\(type.name)\""
      case .directive(let directive): name = "\"@\(directive.name)\""
      }
      return Fault(
        .executableDefinitions, "The \(name) definition is not executable.",
        at: definition.location)
    }
  }
}

extension DocumentSurvey {
  /// Reports operations of a kind without a root type in the schema.
  func knownOperationTypes() -> [Fault] {
    operations.compactMap { operation in
      let type = operation.definition.operation
      guard schema.rootType(for: type) == nil else { return nil }
      return Fault(
        .knownOperationTypes, "The schema has no \(type.rawValue) operations.",
        at: operation.definition.location)
    }
  }
}

extension DocumentSurvey {
  /// Reports an anonymous operation that is not the only operation (5.2.2.1).
  func loneAnonymousOperation() -> [Fault] {
    guard operations.count > 1 else { return [] }
    return operations.filter { $0.definition.name == nil }.map { operation in
      Fault(
        .loneAnonymousOperation, "This anonymous operation must be the only defined operation.",
        at: operation.definition.location)
    }
  }
}

extension DocumentSurvey {
  /// Reports duplicate operation names (5.2.1.1).
  func uniqueOperationNames() -> [Fault] {
    operations.compactMap(\.definition.name).repeated(by: \.value).map { name, nodes in
      Fault(
        .uniqueOperationNames, "There can be only one operation named \"\(name)\".",
        at: nodes.map(\.location))
    }
  }
}

extension DocumentSurvey {
  /// Reports subscriptions with more than one root field, or an introspection field (5.2.3.1).
  /// Selections that a literal `@skip` or `@include` removes do not count.
  func singleFieldSubscriptions() -> [Fault] {
    guard let root = schema.rootType(for: .subscription) else { return [] }
    return operations.map(\.definition).filter { $0.operation == .subscription }
      .flatMap { subscription in
        let label = subscription.name.map { "Subscription \"\($0)\"" } ?? "Anonymous Subscription"
        let groups = responseFields(of: subscription.selectionSet, on: root)
        var faults: [Fault] = []
        if groups.count > 1 {
          faults.append(
            Fault(
              .singleFieldSubscriptions, "\(label) must select only one top level field.",
              at: groups.dropFirst().flatMap { $0 }.map(\.location)))
        }
        for group in groups where group[0].name.value.utf8.starts(with: "__".utf8) {
          faults.append(
            Fault(
              .singleFieldSubscriptions,
              "\(label) must not select an introspection top level field.",
              at: group.map(\.location)))
        }
        return faults
      }
  }

  /// CollectFields() of the specification (6.3.2), grouped by response key in order.
  private func responseFields(of set: SelectionSet, on root: NamedType) -> [[Field]] {
    var groups: [[Field]] = []
    var indexByKey: [String: Int] = [:]
    var seenFragments = Set<String>()
    var pending = Array(set.selections.reversed())
    while let selection = pending.popLast() {
      guard selection.directives.mayBeIncluded else { continue }
      switch selection {
      case .field(let field):
        if let index = indexByKey[field.responseKey] {
          groups[index].append(field)
        } else {
          indexByKey[field.responseKey] = groups.count
          groups.append([field])
        }
      case .fragmentSpread(let spread):
        guard seenFragments.insert(spread.name.value).inserted,
          let fragment = fragmentsByName[spread.name.value]?.definition,
          applies(fragment.typeCondition, to: root)
        else { continue }
        pending += fragment.selectionSet.selections.reversed()
      case .inlineFragment(let fragment):
        guard applies(fragment.typeCondition, to: root) else { continue }
        pending += fragment.selectionSet.selections.reversed()
      }
    }
    return groups
  }

  private func applies(_ condition: Name?, to type: NamedType) -> Bool {
    guard let condition else { return true }
    return condition.value == type.name || schema.isSubType(type.name, of: condition.value)
  }
}

extension [Directive] {
  /// False for a literal `@skip(if: true)` or `@include(if: false)`.
  fileprivate var mayBeIncluded: Bool {
    directive(named: "skip")?.argument(named: "if")?.kind != .boolean(true)
      && directive(named: "include")?.argument(named: "if")?.kind != .boolean(false)
  }
}
