import LosslessJSON
import Model

/// A selection laid flat for walking answers and stored results: all texts that would otherwise be
/// made once for each object are made here once.
///
/// Made for each walk; an operation has tens of fields where an answer has thousands.
struct AnswerPlan {
  struct Field {
    let responseName: String
    let storageName: String
    /// Index into ``AnswerPlan/positions``; nil for a leaf.
    let inner: Int?
    let listDepth: Int
    /// Bit n is set if level n cannot be null, the outermost being 0.
    let nonNull: UInt64
    let isAdded: Bool
    /// `__typename` is told by what holds the object and is never stored as a field.
    let isTypename: Bool
    /// Which part of its object's key it is.
    let keyPart: Int?
    let page: SelectedField.Page?
    let lookup: EntityKey?
    let isAuthoritative: Bool

    func isNonNull(_ level: Int) -> Bool { nonNull >> UInt64(level) & 1 == 1 }
  }

  struct Object {
    let type: String
    /// Into ``AnswerPlan/fields``.
    let fields: Range<Int>
    /// Nil for an embedded object.
    let key: [KeyField.Canonical]?
    /// Two response names stand for one stored field.
    let hasRepeatedNames: Bool
  }

  struct Position {
    let typenameResponseName: String?
    /// Into ``AnswerPlan/objects``.
    let objects: Range<Int>
    /// Something below was added by Larder and is left out of rendered bodies.
    let hasAdded: Bool
  }

  private(set) var fields: [Field] = []
  private(set) var objects: [Object] = []
  private(set) var positions: [Position] = []
  /// `"title"`, by field.
  private(set) var responseNames = NameTable()
  /// `"title({\"lang\":\"en\"})"`, by field.
  private(set) var storedNames = NameTable()
  /// `"Film"`, by object.
  private(set) var typeNames = NameTable()
  /// `"larder_typename"`, by position; empty where an object type says it.
  private(set) var typenameNames = NameTable()
  /// Where the root selection is in ``positions``.
  private(set) var root = 0
  private var known: [ObjectIdentifier: Int] = [:]

  init(_ selection: Model.Selection) {
    root = add(selection)
  }

  private mutating func add(_ selection: Model.Selection) -> Int {
    if let position = known[ObjectIdentifier(selection)] { return position }
    let types =
      selection.single.map { [$0] } ?? selection.types.values.sorted { $0.type < $1.type }
    // Inner positions first, so that each object's fields lie together.
    let inner = types.map { type in
      type.fields.map { field -> Int? in
        if case .object(let selection) = field.value { add(selection) } else { nil }
      }
    }
    let firstObject = objects.count
    var hasAdded = false
    for (type, inner) in zip(types, inner) {
      add(type, inner: inner)
      hasAdded =
        hasAdded || type.fields.contains(where: \.isAdded)
        || inner.contains { $0.map { positions[$0].hasAdded } ?? false }
    }
    positions.append(
      Position(
        typenameResponseName: selection.typenameResponseName,
        objects: firstObject..<objects.count, hasAdded: hasAdded))
    typenameNames.append(selection.typenameResponseName.map(Self.quoted) ?? [])
    known[ObjectIdentifier(selection)] = positions.count - 1
    return positions.count - 1
  }

  private mutating func add(_ object: ObjectSelection, inner: [Int?]) {
    let firstField = fields.count
    for (field, position) in zip(object.fields, inner) {
      let keyPart = object.key?.firstIndex { $0.responseName == field.responseName }
      fields.append(Field(field, inner: position, keyPart: keyPart))
      responseNames.append(Self.quoted(field.responseName))
      storedNames.append(Self.quoted(field.storageName))
    }
    objects.append(
      Object(
        type: object.type, fields: firstField..<fields.count,
        key: object.key?.map(\.canonical),
        hasRepeatedNames: Set(object.fields.map(\.storageName)).count < object.fields.count))
    typeNames.append(Self.quoted(object.type))
  }

  private static func quoted(_ name: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.string(name)
    return writer.bytes
  }
}

extension AnswerPlan {
  /// The object type of a position that stands at a text's range, quotes included.
  func object(named range: Range<Int>, at position: Int, of scanner: TextScanner) -> Int? {
    for index in positions[position].objects where typeNames.isName(index, at: range, of: scanner) {
      return index
    }
    return nil
  }

  /// The field a response name stands for, looked for first at the place it is expected.
  @inline(__always)
  func field(
    _ name: Range<Int>, of object: Int, expected: inout Int, scanner: TextScanner
  ) -> Int? {
    let range = objects[object].fields
    if expected < range.upperBound, responseNames.isName(expected, at: name, of: scanner) {
      expected += 1
      return expected - 1
    }
    for index in range where responseNames.isName(index, at: name, of: scanner) {
      expected = index + 1
      return index
    }
    return nil
  }

  // MARK: Nodes

  /// The concrete type of an object at a position, as an index into ``objects``; nil for a type that
  /// the schema does not know of.
  func object(of node: JSONNode, at position: Int) -> Int? {
    guard let name = positions[position].typenameResponseName else {
      return positions[position].objects.first
    }
    guard let typename = node[name]?.string else { return nil }
    return positions[position].objects.first { objects[$0].type == typename }
  }

  func field(_ member: JSONNode.Member, of object: Int, expected: inout Int) -> Int? {
    let range = objects[object].fields
    if expected < range.upperBound, member.isNamed(fields[expected].responseName) {
      expected += 1
      return expected - 1
    }
    for index in range where member.isNamed(fields[index].responseName) {
      expected = index + 1
      return index
    }
    return nil
  }
}

extension AnswerPlan.Field {
  fileprivate init(_ field: SelectedField, inner: Int?, keyPart: Int?) {
    responseName = field.responseName
    storageName = field.storageName
    self.inner = inner
    listDepth = field.listDepth
    nonNull = field.nonNull.reversed().reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
    isAdded = field.isAdded
    isTypename = field.name == StoredForm.typenameMember
    self.keyPart = keyPart
    page = field.page
    lookup = field.lookup
    isAuthoritative = field.isAuthoritative
  }
}
