package import LosslessJSON

/// The entities that a to-many relationship of a stored entity refers to.
///
/// They are the union of all stored lists of the field, with any arguments, without nulls; of each list the
/// narrowest layer's. A list in a device's overlay replaces them all.
package struct StoredMembers: Sendable {
  /// In stored order, without repetition.
  package private(set) var keys: [EntityKey] = []
  /// Whether null is stored instead of every list.
  package private(set) var isNull = true
  /// ``keys``, if there are more than ``comparedMax``.
  private var seen: Set<EntityKey> = []
  private let countMax: Int

  /// The keys of a list that are compared one by one: cheaper than a set of so few.
  private static let comparedMax = 8

  /// - Parameters:
  ///   - storageName: the only stored list that counts; nil for all lists of the field.
  ///   - layers: the visible rows of the entity, narrowest first.
  ///   - countMax: the number of entities at most; later ones are left out.
  /// - Returns: nil if no list of the field is stored.
  package init?(
    of field: String, storedAs storageName: String? = nil, in layers: [JSONNode],
    countMax: Int = .max
  ) {
    self.countMax = countMax
    if let overlay = layers.first, overlay[StoredForm.pendingMember] != nil,
      let expected = overlay[field]
    {
      collect(expected)
      isNull = expected.isNull
      return
    }
    if let storageName {
      guard let value = layers.lazy.compactMap({ $0[storageName] }).first else { return nil }
      collect(value)
      isNull = value.isNull
      return
    }
    var names: Set<String> = []
    for layer in layers {
      for member in layer.members where member.isNamed(field, orWith: "(") {
        guard names.insert(member.name).inserted else { continue }
        if !member.value.isNull { isNull = false }
        collect(member.value)
      }
    }
    if names.isEmpty { return nil }
  }

  private mutating func collect(_ value: JSONNode) {
    switch value.kind {
    case .array:
      for element in value.elements {
        if keys.count >= countMax { return }
        collect(element)
      }
    case .object:
      if let key = EntityKey(reference: value) {
        if keys.count < countMax, isNew(key) { keys.append(key) }
      } else {
        for member in value.members { collect(member.value) }
      }
    case .null, .true, .false, .number, .string:
      return
    }
  }

  private mutating func isNew(_ key: EntityKey) -> Bool {
    if keys.count < Self.comparedMax { return !keys.contains(key) }
    if seen.isEmpty { seen = Set(keys) }
    return seen.insert(key).inserted
  }
}

extension EntityKey {
  /// The key in a stored reference; nil for any other value.
  package init?(reference value: JSONNode) {
    guard let parts = value[StoredForm.referenceMember], let type = parts[0]?.string,
      let key = parts[1]?.string
    else { return nil }
    self.init(type: type, key: key)
  }
}
