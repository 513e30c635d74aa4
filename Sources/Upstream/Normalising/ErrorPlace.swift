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

  init(of error: ErrorPath, at field: Int, plan: NormalisationPlan) {
    if Self.isNull(error, field, plan, level: 0) {
      self = .here
    } else if Self.hasHole(error, field, plan, level: 0) {
      self = .hole
    } else {
      self = .below
    }
  }

  private static func isNull(
    _ error: ErrorPath, _ index: Int, _ plan: NormalisationPlan, level: Int
  ) -> Bool {
    if error.isEnd { return true }
    let field = plan.fields[index]
    if level < field.listDepth {
      return field.nonNull[level + 1]
        && error.elements.values.contains { isNull($0, index, plan, level: level + 1) }
    }
    guard let position = plan.inner[index] else { return false }
    return error.members.contains { name, error in
      plan.positions[position].objects.contains { object in
        plan.objects[object].fields.contains {
          plan.fields[$0].responseName == name && plan.fields[$0].nonNull[0]
            && isNull(error, $0, plan, level: 0)
        }
      }
    }
  }

  private static func hasHole(
    _ error: ErrorPath, _ index: Int, _ plan: NormalisationPlan, level: Int
  ) -> Bool {
    guard level < plan.fields[index].listDepth else { return false }
    return error.elements.values.contains {
      isNull($0, index, plan, level: level + 1) || hasHole($0, index, plan, level: level + 1)
    }
  }
}
