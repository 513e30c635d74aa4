import GraphQL
import LosslessJSON
import Model

/// Coercion of values from a path or a query string: the declared type alone determines the meaning
/// of a text.
extension VariableCoercer {
  mutating func coerce(_ node: ParameterTree, as type: InputType, name: String) -> Coerced? {
    guard !node.children.isEmpty else {
      return coerce(node.texts, as: type, at: .parameter(name))
    }
    guard node.texts.isEmpty else {
      fault(.parameter(name), "is given both as one value and as members")
      return nil
    }
    guard case .object(let typeName) = type.nullable, let object = inputObjects[typeName] else {
      fault(.parameter(node.firstName), "\"\(name)\" must be one value, not members")
      return nil
    }
    return coerce(node, as: object, name: name)
  }

  private mutating func coerce(
    _ node: ParameterTree, as object: InputObjectType, name: String
  ) -> Coerced? {
    let faultsBefore = faults.count
    var fields = GivenFields()
    for entry in node.children {
      let (member, child) = (entry.name, entry.node)
      let memberName = "\(name).\(member)"
      guard let field = object.field(named: member) else {
        let hint = hint(member, among: object.fields.map(\.name))
        fault(.parameter(memberName), "is not a field of \(object.name).\(hint)")
        continue
      }
      if let value = coerce(child, as: field.type, name: memberName) {
        fields.add(member, value)
      }
    }
    guard faults.count == faultsBefore else { return nil }
    return complete(fields, of: object, at: .parameter(name, .root))
  }

  mutating func coerce(
    _ texts: [String], as type: InputType, at place: Failure.Detail.Place
  ) -> Coerced? {
    if case .nonNull(let inner) = type {
      return coerceGiven(texts, as: inner, at: place)
    }
    if texts == ["null"] { return Coerced(.null) }
    return coerceGiven(texts, as: type, at: place)
  }

  private mutating func coerceGiven(
    _ texts: [String], as type: InputType, at place: Failure.Detail.Place
  ) -> Coerced? {
    if case .list(let item) = type {
      if texts.count == 1, let array = json(texts[0], opening: "[") {
        return coerce(array, as: type, at: valuePlace(place))
      }
      let items = texts.map { coerce([$0], as: item, at: place) }
      guard !items.contains(where: { $0 == nil }) else { return nil }
      let values = items.compactMap(\.self)
      return Coerced(sent: .array(values.map(\.sent)), full: .array(values.map(\.full)))
    }
    guard let text = texts.first, texts.count == 1 else {
      fault(place, "is given more than once, but must be \(type.phrase)")
      return nil
    }
    return coerce(text, as: type, at: place)
  }

  /// A single value that is not a list.
  private mutating func coerce(
    _ text: String, as type: InputType, at place: Failure.Detail.Place
  ) -> Coerced? {
    switch type {
    case .string, .id:
      return Coerced(.string(text))
    case .int, .float, .scalar(_, number: .some):
      guard let number = JSONNumber(digits: text) else { return mismatch(text, type, place) }
      return coerce(.number(number), as: type, at: valuePlace(place))
    case .boolean:
      guard text == "true" || text == "false" else { return mismatch(text, type, place) }
      return Coerced(.bool(text == "true"))
    case .enumeration:
      return coerce(.string(text), as: type, at: valuePlace(place))
    case .object:
      guard let value = json(text, opening: "{") else { return mismatch(text, type, place) }
      return coerce(value, as: type, at: valuePlace(place))
    case .scalar:
      let value = json(text, opening: "{[\"") ?? .string(text)
      return coerce(value, as: type, at: valuePlace(place))
    case .list, .nonNull:
      return coerce([text], as: type, at: place)
    }
  }

  private mutating func mismatch(
    _ text: String, _ type: InputType, _ place: Failure.Detail.Place
  ) -> Coerced? {
    fault(place, "must be \(type.phrase), not \"\(text.prefix(Self.shownMax))\"")
    return nil
  }

  /// Maximum characters of a faulty value in a message.
  private static let shownMax = 60

  private func valuePlace(_ place: Failure.Detail.Place) -> ValuePlace {
    switch place {
    case .parameter(let name): .parameter(name, .root)
    case .pointer(let text): .body(.place(text))
    }
  }

  /// The text as JSON if it begins with one of these characters and is well-formed.
  private func json(_ text: String, opening: String) -> JSONValue? {
    guard let first = text.first, opening.contains(first) else { return nil }
    return try? JSONValue(parsing: text)
  }
}
