package import LosslessJSON

/// A body, checked as far as possible without the stored entity.
package struct LocalBody: Sendable {
  /// Fields that the body names, including those with invalid values.
  package var named: Set<String> = []
  /// In stored form, by field.
  package var fields: [String: JSONValue] = [:]
  /// Merge patches of embedded objects, which are applied to the stored values and then checked.
  package var patches: [String: JSONValue] = [:]
  /// The stored values of the key's fields that the body names.
  package var keyValues: [String: JSONValue] = [:]
  /// The id that the body gives: that of its key fields, if it names them all.
  package var id: String?

  package init() {}
}

extension LocalBody {
  /// Read-only members of an entity's JSON.
  private static let readOnlyMembers: Set<String> = [
    "_rev", "_pending", "_missing", "_deleted",
  ]

  /// Reads the body of an operation, and reports all faults to the reader.
  ///
  /// - Parameter isPatch: whether objects inside are merge patches.
  package init(
    _ value: JSONValue, type: LocalType, isPatch: Bool, reader: inout LocalValueReader,
    pointer: String
  ) {
    guard let members = value.members else {
      reader.note("is not an object", at: pointer)
      return
    }
    for member in members {
      let place = pointer.appending(pointerMember: member.name)
      guard named.insert(member.name).inserted else {
        reader.note("appears twice", at: place)
        continue
      }
      if Self.readOnlyMembers.contains(member.name) { continue }
      if member.name == StoredForm.typenameMember {
        if member.value.string != type.name { reader.note("is not \(type.name)", at: place) }
        continue
      }
      guard let field = type.field(member.name) else {
        reader.note("\(type.name) has no such field", at: place)
        continue
      }
      if type.isKey(field.name) {
        keyValues[field.name] = reader.readKey(
          member.value, field, dates: type.dates, at: place)
      } else if isPatch, case .object = field.kind, field.listDepth == 0,
        member.value.members != nil
      {
        patches[field.name] = member.value
      } else if let read = reader.read(member.value, field, dates: type.dates, at: place) {
        fields[field.name] = read
      }
    }
    id = type.id(of: keyValues)
  }

  /// Reports required fields of a new entity that the body does not name. Invalid values were reported
  /// before.
  package func checkWhole(
    _ type: LocalType, reader: inout LocalValueReader, pointer: String
  ) {
    for field in type.requiredFields where !named.contains(field.name) {
      reader.note("is required", at: pointer.appending(pointerMember: field.name))
    }
  }
}

extension JSONValue {
  /// Returns the value with a merge patch applied (RFC 7396 section 2).
  package func mergePatched(with patch: JSONValue) -> JSONValue {
    guard let changes = patch.members else { return patch }
    var result = members ?? []
    var places: [String: Int] = [:]
    for (place, member) in result.enumerated() where places[member.name] == nil {
      places[member.name] = place
    }
    var removed: Set<Int> = []
    for change in changes {
      if change.value.isNull {
        if let place = places.removeValue(forKey: change.name) { removed.insert(place) }
      } else if let place = places[change.name] {
        result[place].value = result[place].value.mergePatched(with: change.value)
      } else {
        places[change.name] = result.count
        result.append(JSONMember(change.name, JSONValue.null.mergePatched(with: change.value)))
      }
    }
    guard !removed.isEmpty else { return .object(result) }
    return .object(result.enumerated().filter { !removed.contains($0.offset) }.map(\.element))
  }
}
