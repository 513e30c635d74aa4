package import LosslessJSON

/// Converts values that a client wrote into ``StoredForm``, and collects every fault.
package struct LocalValueReader {
  /// Limit of the bytes of an id, which is part of paths and of each reference to its entity.
  package static let idBytesMax = 256
  private static let faultsMax = 100

  private let schema: LocalSchema
  /// The date format of the value that is being read.
  private var dates = DateFormat.iso8601
  /// Remaining steps of ``TextPattern``.
  package private(set) var patternBudget: Int
  package private(set) var faults: [Failure.Detail] = []

  /// Limit of the steps for matching all texts of one request: some 20 ms, enough for a hundred
  /// thousand texts of ordinary length with ordinary patterns.
  package static let patternBudgetMax = TextPattern.stepsPerTextMax

  /// - Parameter patternBudget: the steps that an earlier reader of the same request left.
  package init(schema: LocalSchema, patternBudget: Int = patternBudgetMax) {
    self.schema = schema
    self.patternBudget = patternBudget
  }

  /// Records a fault. Faults beyond ``faultsMax`` are dropped: a body can have as many as it has bytes.
  package mutating func note(_ detail: String, at pointer: String) {
    guard faults.count < Self.faultsMax else { return }
    faults.append(Failure.Detail(place: .pointer(pointer), detail: detail))
  }

  /// Reads one value.
  ///
  /// - Parameter dates: the format of its dates.
  /// - Returns: nil if the value is invalid.
  package mutating func read(
    _ value: JSONValue, _ field: LocalField, dates: DateFormat = .iso8601, at pointer: String
  ) -> JSONValue? {
    self.dates = dates
    let count = faults.count
    let read = self.read(value, field, level: 0, at: pointer)
    return faults.count == count ? read : nil
  }

  private mutating func read(
    _ value: JSONValue, _ field: LocalField, level: Int, at pointer: String
  ) -> JSONValue {
    if value.isNull {
      // A null list of entities is an empty one.
      if field.isToMany, level == 0 { return .array([]) }
      if field.nonNull[level] || field.isToMany { note("must not be null", at: pointer) }
      return .null
    }
    guard level < field.listDepth else { return element(value, field, at: pointer) }
    guard let elements = value.array else {
      note("is not a list", at: pointer)
      return .null
    }
    if level == 0, let fault = field.rules.lengthFault(elements.count, of: "elements") {
      note(fault, at: pointer)
    }
    let read = elements.enumerated().map { index, element in
      self.read(element, field, level: level + 1, at: "\(pointer)/\(index)")
    }
    if field.isToMany, Set(read).count < read.count {
      note("names an entity twice", at: pointer)
    }
    return .array(read)
  }

  private mutating func element(
    _ value: JSONValue, _ field: LocalField, at pointer: String
  ) -> JSONValue {
    switch field.kind {
    case .scalar(let scalar):
      return self.scalar(value, scalar, field, at: pointer)
    case .enumeration(let name):
      let values = schema.enums[name] ?? []
      if let text = value.string, values.contains(text) { return value }
      note("must be one of \(values.joined(separator: ", "))", at: pointer)
    case .object(let name):
      return object(value, name, at: pointer)
    case .entity(let type, _):
      guard !field.possibleTypes.isEmpty else {
        let key = Self.reference(value, to: type, schema.types[type])
        if let key { return .storedReference(to: key) }
        note("is not an id", at: pointer)
        break
      }
      if let name = value["type"]?.string, field.possibleTypes.contains(name),
        let key = value["id"].flatMap({ Self.reference($0, to: name, schema.types[name]) })
      {
        return .storedReference(to: key)
      }
      let names = field.possibleTypes.joined(separator: " or ")
      note("is not {\"type\", \"id\"} of a \(names)", at: pointer)
    }
    return .null
  }

  /// Returns the id in a body or a path; nil if the value cannot be one.
  package static func id(_ value: JSONValue) -> String? {
    let text = value.string ?? value.number.flatMap { $0.int64?.description }
    guard let text, !text.isEmpty, text.utf8.count <= idBytesMax,
      !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
    else { return nil }
    return text
  }

  private mutating func object(
    _ value: JSONValue, _ name: String, at pointer: String
  ) -> JSONValue {
    guard let members = value.members, let fields = schema.objects[name] else {
      note("is not an object", at: pointer)
      return .null
    }
    for member in members where !fields.contains(where: { $0.name == member.name }) {
      guard member.name != StoredForm.typenameMember || member.value.string != name else {
        continue
      }
      note("\(name) has no such field", at: pointer.appending(pointerMember: member.name))
    }
    var stored = [JSONMember(StoredForm.typenameMember, .string(name))]
    for field in fields {
      let given = value[field.name] ?? field.emptyValue
      let place = pointer.appending(pointerMember: field.name)
      stored.append(JSONMember(field.name, read(given, field, level: 0, at: place)))
    }
    return .object(stored)
  }

  // MARK: Scalars

  private mutating func scalar(
    _ value: JSONValue, _ scalar: LocalScalar, _ field: LocalField, at pointer: String
  ) -> JSONValue {
    guard let read = Self.scalar(value, scalar, dates) else {
      note("is not \(scalar == .date ? dates.phrase : scalar.phrase)", at: pointer)
      return .null
    }
    let faults: [String?]
    if scalar == .date {
      // Rules of texts apply to the date as written.
      let text = value.string ?? value.number?.digits ?? ""
      faults = [
        field.listDepth == 0
          ? field.rules.lengthFault(text.unicodeScalars.count, of: "characters") : nil,
        field.rules.patternFault(text, budget: &patternBudget),
      ]
    } else if let text = read.string {
      let length = field.listDepth == 0 ? text.unicodeScalars.count : nil
      faults = [
        length.flatMap { field.rules.lengthFault($0, of: "characters") },
        field.rules.patternFault(text, budget: &patternBudget),
      ]
    } else {
      faults = [read.number?.double.flatMap { field.rules.rangeFault($0) }]
    }
    for fault in faults.compactMap({ $0 }) { note(fault, at: pointer) }
    return read
  }

  private static func scalar(
    _ value: JSONValue, _ scalar: LocalScalar, _ dates: DateFormat
  ) -> JSONValue? {
    if let range = scalar.range {
      guard let number = value.number?.int64, range.contains(number) else { return nil }
      return .number(JSONNumber(number))
    }
    switch scalar {
    case .boolean:
      return value.bool == nil ? nil : value
    case .float, .double:
      guard let number = value.number?.double, number.isFinite else { return nil }
      return value
    case .id:
      return id(value).map { .string($0) }
    case .date:
      return dates.stored(value).map { .string($0) }
    case .data:
      return value.string.map(Base64Text.isValid) == true ? value : nil
    case .string, .int, .int8, .int16, .int32, .int64:
      return value.string == nil ? nil : value
    }
  }
}

extension LocalScalar {
  var phrase: String {
    switch self {
    case .boolean: "true or false"
    case .int, .int8, .int16, .int32, .int64:
      "a whole number" + (range.map { " from \($0.lowerBound) to \($0.upperBound)" } ?? "")
    case .float, .double: "a number"
    case .string: "a string"
    case .id: "an id"
    case .date: "a date"
    case .data: "base64"
    }
  }
}

extension JSONValue {
  /// Returns the stored form of a reference, see ``StoredForm``.
  package static func storedReference(to key: EntityKey) -> JSONValue {
    .object([
      JSONMember(StoredForm.referenceMember, .array([.string(key.type), .string(key.key)]))
    ])
  }

  /// The entity that a stored reference names.
  package var referencedKey: EntityKey? {
    guard let parts = self[StoredForm.referenceMember]?.array, parts.count == 2,
      let type = parts[0].string, let key = parts[1].string
    else { return nil }
    return EntityKey(type: type, key: key)
  }
}
