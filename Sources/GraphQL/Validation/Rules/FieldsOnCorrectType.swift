extension DocumentSurvey {
  /// A field belongs to the type it is selected on (5.3.1).
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

  /// The types among the possible ones, and their interfaces, that do have the field: those that
  /// stand for most of them first.
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
