import Model

/// Which position an error below a field made null. Only positions whose types allow null can hold
/// one, so an error climbs from where it happened to the nearest of them (specification, 6.4.4).
enum ErrorPlace {
  /// The field itself is null.
  case here
  /// An element of the field's list is: the store keeps no list with such a hole.
  case hole
  /// Something further inside is.
  case below

  init(of error: ErrorPath, at field: SelectedField) {
    if Self.isNull(error, field, level: 0) {
      self = .here
    } else if Self.hasHole(error, field, level: 0) {
      self = .hole
    } else {
      self = .below
    }
  }

  private static func isNull(_ error: ErrorPath, _ field: SelectedField, level: Int) -> Bool {
    if error.isEnd { return true }
    if level < field.listDepth {
      return field.nonNull[level + 1]
        && error.elements.values.contains { isNull($0, field, level: level + 1) }
    }
    guard case .object(let selection) = field.value else { return false }
    return error.members.contains { name, error in
      selection.types.values.contains { type in
        type.fields.contains {
          $0.responseName == name && $0.nonNull[0] && isNull(error, $0, level: 0)
        }
      }
    }
  }

  private static func hasHole(_ error: ErrorPath, _ field: SelectedField, level: Int) -> Bool {
    guard level < field.listDepth else { return false }
    return error.elements.values.contains {
      isNull($0, field, level: level + 1) || hasHole($0, field, level: level + 1)
    }
  }
}
