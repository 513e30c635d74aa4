import GraphQL
package import LosslessJSON
package import Model

/// The entities, types, operations and tags that upstream names in a message of its own, checked
/// against the schema and the operations.
extension SchemaOutline {
  /// A named entity.
  package enum NamedEntity: Sendable {
    /// - Parameter isPublic: whether all callers may know that it exists.
    case stored(EntityKey, isPublic: Bool)
    /// Of a type that no operation selects.
    case notStored
  }

  package struct UnknownName: Error {
    /// Completes "the member …".
    package let detail: String
  }

  /// Reads an entity as `Type:key`, or as an object with `__typename` and the key's fields.
  package func entity(named value: JSONValue) throws(UnknownName) -> NamedEntity {
    if let text = value.string {
      let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else {
        throw UnknownName(detail: "must have the form Type:key, such as Film:9")
      }
      return try entity(of: String(parts[0])) { rule in
        rule.parts.count == 1
          ? rule.key(of: .string(String(parts[1])))
          : EntityKey(type: rule.type, key: String(parts[1]))
      }
    }
    guard value.members != nil, let type = value[StoredForm.typenameMember]?.string else {
      throw UnknownName(
        detail: "must be a string such as Film:9, or an object with __typename and the key")
    }
    return try entity(of: type) { rule in rule.key { value[$0] } }
  }

  private func entity(
    of type: String, _ key: (EntityKeyRule) -> EntityKey?
  ) throws(UnknownName) -> NamedEntity {
    guard let object = objects[type], let rule = object.key else {
      let hint = NearestNames.didYouMean(type, among: entityTypes)
      throw UnknownName(detail: "names no entity type of the schema.\(hint)")
    }
    guard let key = key(rule), !key.key.isEmpty, !key.key.utf8.contains(0),
      key.key.utf8.count <= LocalValueReader.idBytesMax * rule.parts.count
    else { throw UnknownName(detail: "has no valid key of \(type)") }
    guard object.isStored else { return .notStored }
    return .stored(key, isPublic: object.fields.contains { $0.value.isPublic })
  }

  /// Reads what shall be fetched again: an operation, a type, `tag:name` or `Type:key`. An abstract
  /// type stands for all its entity types, so there can be several; a type that no operation
  /// selects gives none.
  package func targets(named text: String) throws(UnknownName) -> [InvalidationTarget] {
    if text.hasPrefix("tag:") {
      let name = String(text.dropFirst("tag:".count))
      guard tags.contains(name) else {
        let hint = NearestNames.didYouMean(name, among: tags)
        throw UnknownName(detail: "names a tag that no operation has.\(hint)")
      }
      return [.tag(name)]
    }
    if text.utf8.contains(UInt8(ascii: ":")) {
      switch try entity(named: .string(text)) {
      case .stored(let key, _): return [.entity(key)]
      case .notStored: return []
      }
    }
    if let possible = possibleTypes[text] {
      return possible.filter(isStored).map(InvalidationTarget.type)
    }
    if let object = objects[text], object.key != nil {
      return object.isStored ? [.type(text)] : []
    }
    guard operations.contains(text) else {
      let hint = NearestNames.didYouMean(text, among: operations.union(entityTypes))
      throw UnknownName(detail: "is neither an operation nor an entity type.\(hint)")
    }
    return [.operation(text)]
  }
}
