import GraphQL
import LosslessJSON
import Model

/// Coercion of JSON values (specification, "Input Coercion" of each kind of type).
extension VariableCoercer {
  mutating func coerce(_ value: JSONValue, as type: InputType, at place: ValuePlace) -> Coerced? {
    switch type {
    case .nonNull(let inner):
      guard !value.isNull else { return mismatch(type, place) }
      return coerce(value, as: inner, at: place)
    case _ where value.isNull:
      return Coerced(.null)
    case .list(let item):
      return coerceList(value, of: item, at: place)
    case .int:
      guard let integer = value.number.flatMap(CanonicalNumber.integer),
        let int = integer.int64, Int32(exactly: int) != nil
      else { return mismatch(type, place) }
      return Coerced(.number(integer))
    case .float:
      guard let number = value.number, number.double?.isFinite == true else {
        return mismatch(type, place)
      }
      return Coerced(sent: value, full: .number(CanonicalNumber.of(number)))
    case .string:
      return value.string == nil ? mismatch(type, place) : Coerced(value)
    case .id:
      if let number = value.number, let integer = CanonicalNumber.integer(number) {
        return Coerced(.string(integer.digits))
      }
      return value.string == nil ? mismatch(type, place) : Coerced(value)
    case .boolean:
      return value.bool == nil ? mismatch(type, place) : Coerced(value)
    case .enumeration(let name, let values):
      return coerceEnum(value, name: name, values: values, at: place)
    case .object(let name):
      guard let object = inputObjects[name], let members = value.members else {
        return mismatch(type, place)
      }
      return coerce(members, as: object, at: place)
    case .scalar(_, let number):
      return coerceScalar(value, number: number, type: type, at: place)
    }
  }

  private mutating func mismatch(_ type: InputType, _ place: ValuePlace) -> Coerced? {
    fault(place, "must be \(type.phrase)")
  }

  private mutating func fault(_ place: ValuePlace, _ text: String) -> Coerced? {
    let detail = place.detail(text)
    fault(detail.place, detail.detail)
    return nil
  }

  private mutating func coerceList(
    _ value: JSONValue, of item: InputType, at place: ValuePlace
  ) -> Coerced? {
    guard let elements = value.array else {
      // A single value counts as a list of one.
      return coerce(value, as: item, at: place).map {
        Coerced(sent: .array([$0.sent]), full: .array([$0.full]))
      }
    }
    let items = elements.enumerated().map { index, element in
      coerce(element, as: item, at: place.appending(index))
    }
    guard !items.contains(where: { $0 == nil }) else { return nil }
    let values = items.compactMap(\.self)
    return Coerced(sent: .array(values.map(\.sent)), full: .array(values.map(\.full)))
  }

  private mutating func coerceEnum(
    _ value: JSONValue, name: String, values: [String], at place: ValuePlace
  ) -> Coerced? {
    guard let text = value.string else { return fault(place, "must be a value of \(name)") }
    guard values.contains(text) else {
      let hint = hint(text, among: values)
      return fault(place, "must be a value of \(name), not \"\(text.prefix(60))\".\(hint)")
    }
    return Coerced(value)
  }

  private mutating func coerceScalar(
    _ value: JSONValue, number: ScalarNumber?, type: InputType,
    at place: ValuePlace
  ) -> Coerced? {
    guard let number, let digits = value.number else { return Coerced(value) }
    switch number {
    case .integer:
      guard let integer = CanonicalNumber.integer(digits) else { return mismatch(type, place) }
      return Coerced(sent: value, full: .number(integer))
    case .real:
      return Coerced(sent: value, full: .number(CanonicalNumber.of(digits)))
    }
  }

  // MARK: Input objects

  /// Members in the given order.
  struct GivenFields {
    private(set) var sent: [JSONMember] = []
    private(set) var full: [JSONMember] = []

    mutating func add(_ name: String, _ value: Coerced) {
      sent.append(JSONMember(name, value.sent))
      full.append(JSONMember(name, value.full))
    }

    mutating func addDefault(_ name: String, _ value: JSONValue) {
      full.append(JSONMember(name, value))
    }

    func has(_ name: String) -> Bool { sent.contains { $0.name == name } }
  }

  private mutating func coerce(
    _ members: [JSONMember], as object: InputObjectType, at place: ValuePlace
  ) -> Coerced? {
    let faultsBefore = faults.count
    var fields = GivenFields()
    for member in members {
      let memberPlace = place.appending(member.name)
      guard let field = object.field(named: member.name) else {
        let hint = hint(member.name, among: object.fields.map(\.name))
        _ = fault(memberPlace, "is not a field of \(object.name).\(hint)")
        continue
      }
      guard !fields.has(member.name) else {
        _ = fault(memberPlace, "is given more than once")
        continue
      }
      if let value = coerce(member.value, as: field.type, at: memberPlace) {
        fields.add(member.name, value)
      }
    }
    guard faults.count == faultsBefore else { return nil }
    return complete(fields, of: object, at: place)
  }

  /// Applies defaults, and reports missing fields.
  mutating func complete(
    _ given: GivenFields, of object: InputObjectType, at place: ValuePlace
  ) -> Coerced? {
    if object.isOneOf {
      guard given.sent.count == 1, given.sent.first?.value.isNull == false else {
        return fault(place, "must have exactly one field of \(object.name)")
      }
    }
    var fields = given
    var isComplete = true
    for field in object.fields where !given.has(field.name) {
      if let value = field.defaultValue {
        fields.addDefault(field.name, value)
      } else if field.isRequired {
        _ = fault(place.appending(field.name), "is required by \(object.name)")
        isComplete = false
      }
    }
    guard isComplete else { return nil }
    return Coerced(sent: .object(fields.sent), full: .object(fields.full))
  }
}
