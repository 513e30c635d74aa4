extension DocumentSurvey {
  /// A subscription selects one root field, and no introspection field (5.2.3.1). Selections that a
  /// literal `@skip` or `@include` takes away do not count.
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
  /// False if a literal `@skip(if: true)` or `@include(if: false)` stands here.
  fileprivate var mayBeIncluded: Bool {
    directive(named: "skip")?.argument(named: "if")?.kind != .boolean(true)
      && directive(named: "include")?.argument(named: "if")?.kind != .boolean(false)
  }
}
