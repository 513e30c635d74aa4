import LosslessJSON
import Model

/// A selection laid flat for walking answers and stored results: all texts that would otherwise be
/// made once for each object are made here once.
///
/// Made for each walk; an operation has tens of fields where an answer has thousands.
struct NormalisationPlan {
  struct Object {
    let type: String
    /// Into ``NormalisationPlan/fields``.
    let fields: Range<Int>
    /// Nil for an embedded object.
    let key: [KeyField.Canonical]?
  }

  struct Position {
    let typenameResponseName: String?
    /// Into ``NormalisationPlan/objects``.
    let objects: Range<Int>
    /// Something below was added by Larder and is left out of rendered bodies.
    let hasAdded: Bool
  }

  private(set) var fields: [SelectedField] = []
  /// By field, apart from it: taking one name out of a whole field costs a copy of all it refers to.
  private(set) var storageNames: [String] = []
  /// By field: where in ``positions`` its objects are; nil for a leaf.
  private(set) var inner: [Int?] = []
  private(set) var objects: [Object] = []
  /// By object.
  private(set) var typeNames: [String] = []
  private(set) var positions: [Position] = []
  /// Where the root selection is in ``positions``.
  private(set) var root = 0

  private var names: [UInt8] = []
  private var fieldShapes: [PlanTables.Field] = []
  private var objectShapes: [PlanTables.Object] = []
  private var positionShapes: [PlanTables.Position] = []
  private var known: [ObjectIdentifier: Int] = [:]

  init(_ selection: Model.Selection) {
    root = add(selection)
  }

  func withTables<Answer>(_ body: (PlanTables) -> Answer) -> Answer {
    names.withUnsafeBufferPointer { names in
      fieldShapes.withUnsafeBufferPointer { fields in
        objectShapes.withUnsafeBufferPointer { objects in
          positionShapes.withUnsafeBufferPointer { positions in
            body(
              PlanTables(
                names: names, fields: fields, objects: objects, positions: positions))
          }
        }
      }
    }
  }

  // MARK: Building

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
    positionShapes.append(
      PlanTables.Position(
        firstObject: Int32(firstObject), endObject: Int32(objects.count),
        typename: name(selection.typenameResponseName)))
    known[ObjectIdentifier(selection)] = positions.count - 1
    return positions.count - 1
  }

  private mutating func add(_ object: ObjectSelection, inner: [Int?]) {
    let firstField = fields.count
    for (field, position) in zip(object.fields, inner) {
      let keyPart = object.key?.firstIndex { $0.responseName == field.responseName }
      fields.append(field)
      storageNames.append(field.storageName)
      self.inner.append(position)
      fieldShapes.append(
        PlanTables.Field(
          responseName: name(field.responseName), storedName: name(field.storageName),
          inner: Int32(position ?? -1), listDepth: UInt8(clamping: field.listDepth),
          keyPart: Int8(clamping: keyPart ?? -1), leafKind: field.leafKind,
          nonNullLevels: Self.levels(field.nonNull),
          isTypename: field.name == StoredForm.typenameMember, isAdded: field.isAdded,
          isNonNull: field.nonNull.first ?? false,
          isSpecial: field.page != nil || field.lookup != nil))
    }
    typeNames.append(object.type)
    objects.append(
      Object(
        type: object.type, fields: firstField..<fields.count,
        key: object.key?.map(\.canonical)))
    objectShapes.append(
      PlanTables.Object(
        firstField: Int32(firstField), endField: Int32(fields.count),
        keyPartCount: Int32(object.key?.count ?? 0),
        hasTextKey: object.key?.count == 1 && object.key?.first?.canonical == .text,
        typeName: name(object.type),
        hasRepeatedNames: Set(object.fields.map(\.storageName)).count < object.fields.count))
  }

  private static func levels(_ nonNull: [Bool]) -> UInt16 {
    var bits: UInt16 = 0
    for (level, isNonNull) in nonNull.prefix(UInt16.bitWidth).enumerated() where isNonNull {
      bits |= 1 << UInt16(level)
    }
    return bits
  }

  /// Keeps a name as a JSON string.
  private mutating func name(_ text: String?) -> PlanTables.Name {
    let start = names.count
    if let text {
      var writer = JSONWriter()
      writer.string(text)
      names.append(contentsOf: writer.bytes)
    }
    return PlanTables.Name(start: Int32(start), count: Int32(names.count - start))
  }
}

extension NormalisationPlan {
  /// The concrete type of an object at a position, as an index into ``objects``; nil for a type that
  /// the schema does not know of.
  func object(of node: JSONNode, at position: Int) -> Int? {
    guard let name = positions[position].typenameResponseName else {
      return positions[position].objects.first
    }
    guard let typename = node[name]?.string else { return nil }
    return positions[position].objects.first { objects[$0].type == typename }
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
