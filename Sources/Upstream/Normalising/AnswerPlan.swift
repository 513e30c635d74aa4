import LosslessJSON
import Model

/// A selection laid flat for walking an answer: all names and texts that would otherwise be made
/// once for each object of the answer are made here once.
///
/// Made for each answer; an operation has tens of fields where an answer has thousands.
struct AnswerPlan {
  struct Field {
    let responseName: String
    let storageName: String
    /// `"name":`, as it stands in an embedded object.
    let storedName: [UInt8]
    /// Index into ``AnswerPlan/positions``; nil for a leaf.
    let inner: Int?
    let listDepth: Int
    let isAdded: Bool
    /// `__typename` is told by what holds the object and is never stored as a field.
    let isTypename: Bool
    let page: SelectedField.Page?
    let lookup: EntityKey?
    let isAuthoritative: Bool
  }

  struct Object {
    let type: String
    /// Into ``AnswerPlan/fields``.
    let fields: Range<Int>
    /// Nil for an embedded object.
    let key: [KeyField]?
    /// `{"$ref":["Film",`
    let referenceOpening: [UInt8]
    /// `{"__typename":"Film"`
    let embeddedOpening: [UInt8]
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
      let firstField = fields.count
      for (field, position) in zip(type.fields, inner) {
        fields.append(Field(field, inner: position))
        if field.isAdded || position.map({ positions[$0].hasAdded }) == true { hasAdded = true }
      }
      let names = Set(type.fields.map(\.storageName))
      objects.append(
        Object(
          type, fields: firstField..<fields.count,
          hasRepeatedNames: names.count < type.fields.count))
    }
    positions.append(
      Position(
        typenameResponseName: selection.typenameResponseName,
        objects: firstObject..<objects.count, hasAdded: hasAdded))
    known[ObjectIdentifier(selection)] = positions.count - 1
    return positions.count - 1
  }

  /// The concrete type of an object at a position, as an index into ``objects``; nil for a type that
  /// the schema does not know of.
  func object(of node: JSONNode, at position: Int) -> Int? {
    guard let name = positions[position].typenameResponseName else {
      return positions[position].objects.first
    }
    guard let typename = node[name] else { return nil }
    for index in positions[position].objects where typename.isText(objects[index].type) {
      return index
    }
    return nil
  }

  /// The field a member of an object stands for, looked for first at the place it is expected.
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
  fileprivate init(_ field: SelectedField, inner: Int?) {
    var writer = JSONWriter()
    writer.string(field.storageName)
    responseName = field.responseName
    storageName = field.storageName
    storedName = writer.bytes + [UInt8(ascii: ":")]
    self.inner = inner
    listDepth = field.listDepth
    isAdded = field.isAdded
    isTypename = field.name == StoredForm.typenameMember
    page = field.page
    lookup = field.lookup
    isAuthoritative = field.isAuthoritative
  }
}

extension AnswerPlan.Object {
  fileprivate init(_ object: ObjectSelection, fields: Range<Int>, hasRepeatedNames: Bool) {
    type = object.type
    self.fields = fields
    key = object.key
    referenceOpening = Array("{\"\(StoredForm.referenceMember)\":[\"\(object.type)\",".utf8)
    embeddedOpening = Array("{\"\(StoredForm.typenameMember)\":\"\(object.type)\"".utf8)
    self.hasRepeatedNames = hasRepeatedNames
  }
}

extension JSONNode {
  /// Whether this is a string of plain characters with exactly this text.
  func isText(_ text: String) -> Bool {
    guard kind == .string else { return false }
    var text = text
    return withRawBytes { raw in
      text.withUTF8 { $0.elementsEqual(raw.dropFirst().dropLast()) }
    }
  }
}
