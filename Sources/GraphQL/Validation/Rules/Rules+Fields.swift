extension DocumentSurvey {
  /// Reports fields that their parent type does not have (5.3.1).
  func fieldsOnCorrectType() -> [Fault] {
    definitions.flatMap(\.fields).compactMap { site in
      guard let parent = site.parent, site.definition == nil else { return nil }
      let name = site.field.name.value
      let types = typesToConditionOn(for: name, on: parent)
      let hint =
        types.isEmpty
        ? NearestNames.didYouMean(name, among: parent.fields.names)
        : NearestNames.didYouMean(types).replacingPrefix(
          " Did you mean", with: " Did you mean to use an inline fragment on")
      return Fault(
        .fieldsOnCorrectType, "Cannot query field \"\(name)\" on type \"\(parent.name)\".\(hint)",
        at: site.field.location)
    }
  }

  /// Returns the possible types, and their interfaces, that have the field: those that cover most of them
  /// first.
  private func typesToConditionOn(for field: String, on type: NamedType) -> [String] {
    guard type.isAbstract else { return [] }
    var uses: [String: Int] = [:]
    for possible in schema.possibleTypes(of: type) where possible.fields[field] != nil {
      uses[possible.name, default: 0] += 1
      for interface in possible.interfaces
      where schema.type(named: interface)?.fields[field] != nil {
        uses[interface, default: 0] += 1
      }
    }
    return uses.keys.sorted { left, right in
      (uses[right] ?? 0, schema.isSubType(left, of: right) ? 1 : 0, left)
        < (uses[left] ?? 0, schema.isSubType(right, of: left) ? 1 : 0, right)
    }
  }
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
    hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
  }
}

extension DocumentSurvey {
  /// Reports composite fields without a selection, and leaf fields with one (5.3.3).
  func scalarLeafs() -> [Fault] {
    definitions.flatMap(\.fields).compactMap { site in
      guard let definition = site.definition, let type = schema.type(of: definition.type),
        type.isOutput
      else { return nil }
      let name = site.field.name
      if type.isLeaf {
        return site.field.selectionSet.map { set in
          Fault(
            .scalarLeafs,
            "Field \"\(name)\" must not have a selection since type \"\(definition.type)\" has no "
              + "subfields.", at: set.location)
        }
      }
      if site.field.selectionSet != nil { return nil }
      return Fault(
        .scalarLeafs,
        "Field \"\(name)\" of type \"\(definition.type)\" must have a selection of subfields. "
          + "Did you mean \"\(name) { ... }\"?", at: site.field.location)
    }
  }
}

extension DocumentSurvey {
  /// Reports fields with the same response key that cannot be merged (5.3.2).
  func overlappingFieldsCanBeMerged() -> [Fault] {
    var comparison = OverlapComparison(self)
    return comparison.faults()
  }
}

extension DocumentSurvey {
  /// Reports unknown directives, and known ones in locations they are not declared for (5.7.1, 5.7.2).
  func knownDirectives() -> [Fault] {
    definitions.flatMap(\.directives).flatMap { site in
      site.directives.compactMap { schema.faultOfUse($0, at: site.place) }
    }
  }
}

extension Schema {
  /// Returns the fault of a directive's name or location, if any.
  func faultOfUse(_ directive: Directive, at place: DirectiveLocation) -> Fault? {
    let name = directive.name.value
    guard let definition = self.directive(named: name) else {
      let hint = NearestNames.didYouMean(
        NearestNames.suggestions(for: name, among: directives.names).map { "@" + $0 })
      return Fault(
        .knownDirectives, "Unknown directive \"@\(name)\".\(hint)", at: directive.location)
    }
    if definition.locations.contains(place) { return nil }
    return Fault(
      .knownDirectives, "Directive \"@\(name)\" may not be used on \(place.rawValue).",
      at: directive.location)
  }
}

extension DocumentSurvey {
  /// Reports repeated directives that are not repeatable (5.7.3).
  func uniqueDirectivesPerLocation() -> [Fault] {
    definitions.flatMap(\.directives).flatMap { schema.faultsOfRepetition($0.directives) }
  }
}

extension Schema {
  /// Returns a fault for each repeated, non-repeatable directive of one location.
  func faultsOfRepetition(_ directives: [Directive]) -> [Fault] {
    let once = directives.filter { directive(named: $0.name.value)?.isRepeatable == false }
    return once.repeated(by: \.name.value).flatMap { name, nodes in
      nodes.dropFirst().map { node in
        Fault(
          .uniqueDirectivesPerLocation,
          "The directive \"@\(name)\" can only be used once at this location.",
          at: [nodes[0].location, node.location])
      }
    }
  }
}
