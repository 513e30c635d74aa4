import LosslessJSON
import Model

/// A flattened selection for walking responses and stored results: texts that would otherwise be
/// built for each object are built here once.
///
/// Built for each walk; an operation has tens of fields where a response has thousands.
struct NormalisationPlan {
  struct Object {
    /// The name that the type is stored under.
    let type: String
    /// The type's name in responses.
    let typename: String
    /// Indexes of ``NormalisationPlan/fields``.
    let fields: Range<Int>
    /// Nil for an embedded object.
    let key: [KeyField.Canonical]?
  }

  struct Position {
    let typenameResponseName: String?
    /// Indexes of ``NormalisationPlan/objects``.
    let objects: Range<Int>
    /// Whether Larder added fields below, which are omitted from rendered bodies.
    let hasAdded: Bool
  }

  private(set) var fields: [SelectedField] = []
  /// Storage names by field. They are separate because reading one name from a whole field copies
  /// everything it refers to.
  private(set) var storageNames: [String] = []
  /// The indexes of fields' objects in ``positions``; nil for a leaf.
  private(set) var inner: [Int?] = []
  private(set) var objects: [Object] = []
  /// Type names by object.
  private(set) var typeNames: [String] = []
  private(set) var positions: [Position] = []
  /// The index of the root selection in ``positions``.
  private(set) var root = 0

  private var names: [UInt8] = []
  private var fieldShapes: [PlanTables.Field] = []
  private var objectShapes: [PlanTables.Object] = []
  private var positionShapes: [PlanTables.Position] = []
  private var known: [ObjectIdentifier: Int] = [:]

  init(_ selection: FieldSelection) {
    root = add(selection)
  }

  func withTables<Value>(_ body: (PlanTables) -> Value) -> Value {
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

  private mutating func add(_ selection: FieldSelection) -> Int {
    if let position = known[ObjectIdentifier(selection)] { return position }
    let types =
      selection.single.map { [$0] } ?? selection.types.values.sorted { $0.type < $1.type }
    // Inner positions first, so that each object's fields are contiguous.
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
        type: object.type, typename: object.typename, fields: firstField..<fields.count,
        key: object.key?.map(\.canonical)))
    objectShapes.append(
      PlanTables.Object(
        firstField: Int32(firstField), endField: Int32(fields.count),
        keyPartCount: Int32(object.key?.count ?? 0),
        hasTextKey: object.key?.count == 1 && object.key?.first?.canonical == .text,
        storedType: name(object.type), typename: name(object.typename),
        hasRepeatedNames: Set(object.fields.map(\.storageName)).count < object.fields.count))
  }

  private static func levels(_ nonNull: [Bool]) -> UInt16 {
    var bits: UInt16 = 0
    for (level, isNonNull) in nonNull.prefix(UInt16.bitWidth).enumerated() where isNonNull {
      bits |= 1 << UInt16(level)
    }
    return bits
  }

  /// Stores a name as a JSON string.
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
  /// The concrete type of a response's object at a position, as an index of ``objects``; nil for a
  /// type that the schema does not know.
  func object(of node: JSONNode, at position: Int) -> Int? {
    guard let name = positions[position].typenameResponseName else {
      return positions[position].objects.first
    }
    guard let typename = node[name]?.string else { return nil }
    return positions[position].objects.first { objects[$0].typename == typename }
  }

  /// The field of an object's member, tried first at the expected index.
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
