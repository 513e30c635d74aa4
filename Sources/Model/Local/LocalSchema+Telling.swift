package import LosslessJSON

extension LocalSchema {
  /// A stored value as its client would write it, dates in the client's format.
  package func told(_ value: JSONValue, _ field: LocalField, dates: DateFormat) -> JSONValue {
    if let elements = value.array {
      return .array(elements.map { told($0, field, dates: dates) })
    }
    switch field.kind {
    case .scalar(.date):
      return value.string.map { dates.told($0) } ?? value
    case .object(let name):
      guard let members = value.members else { return value }
      let fields = objects[name] ?? []
      return .object(
        members.map { member in
          guard let field = fields.first(where: { $0.name == member.name }) else { return member }
          return JSONMember(member.name, told(member.value, field, dates: dates))
        })
    case .scalar, .enumeration, .entity:
      return value
    }
  }
}
