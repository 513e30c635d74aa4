import LosslessJSON
import Model

/// Validates a response's data against the operation's selection: every selected field is present,
/// and each value has the kind that the schema declares.
///
/// A null in a non-null position, or a missing field, is accepted if an error's path leads to it.
/// Objects of types that the schema does not know are not checked.
struct ResponseChecker {
  /// A violation of the schema in a response.
  struct Breach: Error, Hashable {
    /// The path, as in `film.cast.0.name`; empty for `data` itself.
    var path: [String]
    /// The expected type as in a schema, or a kind of JSON.
    let expected: String
    /// A kind of JSON, or `missing`.
    let actual: String

    /// For clients and logs.
    var phrase: String {
      let place = path.isEmpty ? "data" : path.reversed().joined(separator: ".")
      return "it breaks the schema: \(place) is \(actual), expected \(expected)"
    }
  }

  private let plan: NormalisationPlan
  private let tables: PlanTables
  private let scanner: TextScanner
  /// Whether an error has no path, so that it may explain any null.
  private let allowsNulls: Bool
  private var breach: Breach?
  private var hasSurplus = false

  /// - Returns: whether the data has unselected members, or a repeated one.
  static func check(
    _ data: JSONNode, selection: FieldSelection, errors: ErrorPath.Reading
  ) -> Result<Bool, Breach> {
    let plan = NormalisationPlan(selection)
    var paths: ErrorPath?
    var allowsNulls = false
    switch errors {
    case .none: break
    case .paths(let read): paths = read
    case .anywhere: allowsNulls = true
    }
    return plan.withTables { tables in
      data.document.bytes.withUnsafeBufferPointer { text in
        var checker = ResponseChecker(
          plan: plan, tables: tables, scanner: TextScanner(text: text), allowsNulls: allowsNulls)
        return checker.checkRoot(at: data.range.lowerBound, errors: paths)
      }
    }
  }

  private init(
    plan: NormalisationPlan, tables: PlanTables, scanner: TextScanner, allowsNulls: Bool
  ) {
    self.plan = plan
    self.tables = tables
    self.scanner = scanner
    self.allowsNulls = allowsNulls
  }

  private mutating func checkRoot(at offset: Int, errors: ErrorPath?) -> Result<Bool, Breach> {
    guard scanner.byte(offset) == UInt8(ascii: "{") else {
      return .failure(Breach(path: [], expected: "an object", actual: kind(at: offset)))
    }
    if let object = tables.positions[plan.root].objects.first {
      var offset = offset
      _ = check(object: &offset, as: object, errors: errors)
    }
    return breach.map { .failure($0) } ?? .success(hasSurplus)
  }

  // MARK: Objects

  /// Advances the offset past the object.
  /// - Returns: false on a violation; then the offset is undefined.
  private mutating func check(
    object offset: inout Int, as object: Int, errors: ErrorPath?
  ) -> Bool {
    let fields = tables.objects[object].fields
    var expected = fields.lowerBound
    // Fields in order need no record of which were seen.
    var next = fields.lowerBound
    var others: [Int] = []
    offset = scanner.skipSpace(offset + 1)
    while scanner.byte(offset) == UInt8(ascii: "\"") {
      let nameEnd = scanner.skipString(offset)
      let name = offset..<nameEnd
      offset = scanner.skipColon(nameEnd)
      if let field = tables.field(name, of: object, expected: &expected, scanner: scanner) {
        if field == next { next += 1 } else { others.append(field) }
        guard check(value: &offset, of: field, errors: errors) else { return false }
      } else {
        hasSurplus = true
        offset = scanner.skipValue(offset)
      }
      offset = scanner.skipComma(offset)
    }
    offset += 1
    return next == fields.upperBound && others.isEmpty
      || checkPresence(of: fields, met: next, others, errors: errors)
  }

  private mutating func checkPresence(
    of fields: Range<Int>, met: Int, _ others: [Int], errors: ErrorPath?
  ) -> Bool {
    var rest = Set(met..<fields.upperBound)
    for field in others where rest.remove(field) == nil { hasSurplus = true }
    for field in rest.sorted() where !allowsNulls {
      guard errors?.member(plan.fields[field].responseName) == nil else { continue }
      return fail(field, actual: "missing", expected: plan.fields[field].typeText())
    }
    return true
  }

  private mutating func check(value offset: inout Int, of field: Int, errors: ErrorPath?) -> Bool {
    // The most common case: a leaf that is present, under no error.
    let shape = tables.fields[field]
    if shape.inner < 0, shape.listDepth == 0, scanner.byte(offset) != UInt8(ascii: "n") {
      guard isKind(shape.leafKind, at: offset) else {
        return fail(field, actual: kind(at: offset), expected: plan.fields[field].typeText())
      }
      offset = scanner.skipValue(offset)
      return true
    }
    let error = errors?.member(plan.fields[field].responseName)
    guard check(&offset, of: field, level: 0, errors: error) else {
      let name = shownName(of: field)
      breach?.path.append(name)
      return false
    }
    return true
  }

  // MARK: Values

  /// Advances the offset past the value. A violation's path begins below the field.
  private mutating func check(
    _ offset: inout Int, of field: Int, level: Int, errors: ErrorPath?
  ) -> Bool {
    let shape = tables.fields[field]
    let first = scanner.byte(offset)
    if first == UInt8(ascii: "n") {
      let isNonNull =
        level < UInt16.bitWidth && shape.nonNullLevels & (1 << UInt16(level)) != 0
      guard !isNonNull || errors != nil || allowsNulls else {
        return fail(field, level: level, at: offset)
      }
      offset = scanner.skipValue(offset)
      return true
    }
    if level < shape.listDepth {
      return checkList(&offset, of: field, level: level, errors: errors)
    }
    guard shape.inner >= 0 else {
      guard isKind(shape.leafKind, at: offset) else {
        return fail(field, level: level, at: offset)
      }
      offset = scanner.skipValue(offset)
      return true
    }
    guard first == UInt8(ascii: "{") else { return fail(field, level: level, at: offset) }
    return checkObject(&offset, at: Int(shape.inner), errors: errors)
  }

  private mutating func checkList(
    _ offset: inout Int, of field: Int, level: Int, errors: ErrorPath?
  ) -> Bool {
    guard scanner.byte(offset) == UInt8(ascii: "[") else {
      return fail(field, level: level, at: offset)
    }
    var index = 0
    offset = scanner.skipSpace(offset + 1)
    while scanner.byte(offset) != UInt8(ascii: "]"), scanner.byte(offset) != 0 {
      guard check(&offset, of: field, level: level + 1, errors: errors?.element(index)) else {
        breach?.path.append("\(index)")
        return false
      }
      index += 1
      offset = scanner.skipComma(offset)
    }
    offset += 1
    return true
  }

  private mutating func checkObject(
    _ offset: inout Int, at position: Int, errors: ErrorPath?
  ) -> Bool {
    let typename = tables.positions[position].typename
    guard typename.count > 0 else {
      guard let object = tables.positions[position].objects.first else { return true }
      return check(object: &offset, as: object, errors: errors)
    }
    guard let name = member(typename, ofObjectAt: offset) else {
      breach = Breach(path: ["__typename"], expected: "String!", actual: "missing")
      return false
    }
    guard scanner.byte(name.lowerBound) == UInt8(ascii: "\"") else {
      breach = Breach(
        path: ["__typename"], expected: "String!", actual: kind(at: name.lowerBound))
      return false
    }
    guard let object = tables.object(named: name, at: position, of: scanner) else {
      hasSurplus = true
      offset = scanner.skipValue(offset)
      return true
    }
    return check(object: &offset, as: object, errors: errors)
  }

  private func member(_ name: PlanTables.Name, ofObjectAt offset: Int) -> Range<Int>? {
    var offset = scanner.skipSpace(offset + 1)
    while scanner.byte(offset) == UInt8(ascii: "\"") {
      let nameEnd = scanner.skipString(offset)
      let value = scanner.skipColon(nameEnd)
      let end = scanner.skipValue(value)
      if tables.isName(name, at: offset..<nameEnd, of: scanner) { return value..<end }
      offset = scanner.skipComma(end)
    }
    return nil
  }

  // MARK: Kinds

  private func isKind(_ kind: SelectedField.LeafKind, at offset: Int) -> Bool {
    switch (kind, scanner.byte(offset)) {
    case (.any, _): true
    case (.text, UInt8(ascii: "\"")), (.textOrNumber, UInt8(ascii: "\"")): true
    case (.number, UInt8(ascii: "-")), (.number, UInt8(ascii: "0")...UInt8(ascii: "9")): true
    case (.textOrNumber, UInt8(ascii: "-")),
      (.textOrNumber, UInt8(ascii: "0")...UInt8(ascii: "9")):
      true
    case (.boolean, UInt8(ascii: "t")), (.boolean, UInt8(ascii: "f")): true
    default: false
    }
  }

  private func kind(at offset: Int) -> String {
    switch scanner.byte(offset) {
    case UInt8(ascii: "\""): "a string"
    case UInt8(ascii: "{"): "an object"
    case UInt8(ascii: "["): "a list"
    case UInt8(ascii: "t"), UInt8(ascii: "f"): "a boolean"
    case UInt8(ascii: "n"): "null"
    default: "a number"
    }
  }

  /// A field that Larder added under an alias is reported by its schema name.
  private func shownName(of field: Int) -> String {
    plan.fields[field].isAdded ? plan.fields[field].name : plan.fields[field].responseName
  }

  private mutating func fail(_ field: Int, level: Int, at offset: Int) -> Bool {
    breach = Breach(
      path: [], expected: plan.fields[field].typeText(at: level), actual: kind(at: offset))
    return false
  }

  private mutating func fail(_ field: Int, actual: String, expected: String) -> Bool {
    breach = Breach(path: [shownName(of: field)], expected: expected, actual: actual)
    return false
  }
}

extension UpstreamResponse {
  /// Checks the data against an operation's selection. Data in a refusal is not stored, so it is not
  /// checked.
  func checked(against selection: FieldSelection) throws(UpstreamFailure) -> UpstreamResponse {
    guard let data, permission == nil else { return self }
    switch ResponseChecker.check(data, selection: selection, errors: ErrorPath.read(errors)) {
    case .success(let hasSurplus):
      var checked = self
      checked.hasSurplus = hasSurplus
      return checked
    case .failure(let breach):
      throw .malformed(status: status, reason: breach.phrase, excerpt: "")
    }
  }
}
