import GraphQL
package import LosslessJSON
package import Model

/// Reads entities that upstream sent without being asked, and splits them into the parts of a
/// ``Model/NormalisedResponse``.
///
/// An entity is an object with `__typename`, its key, and any of its fields by schema name. A
/// relationship is a nested entity, or the other's id; where several types are possible, an object
/// with `__typename` or `{"type", "id"}`. Everything is checked against the schema, and every fault
/// is noted: if there is one, nothing of the list may be stored. Fields that operations never show
/// to all callers are checked and left out.
package struct ReceivedEntityReader {
  /// Limit of entities in one list, nested ones included.
  package static let entitiesMax = 10_000

  private let outline: SchemaOutline
  package private(set) var faults: [Failure.Detail] = []
  /// The values of ``entities``.
  package private(set) var bytes: [UInt8] = []
  /// The entities with the fields to store, each once.
  package private(set) var entities: [NormalisedResponse.Entity] = []
  /// Every stored entity that was named, including those without a field to store.
  package private(set) var keys: [EntityKey] = []
  /// Fields that operations select and that were left out, since not all callers are shown them.
  package private(set) var withheld: [EntityKey: Set<String>] = [:]
  /// Entities of types that no operation selects.
  package private(set) var unknownCount = 0
  private var indexByKey: [EntityKey: Int] = [:]
  private var seen: Set<EntityKey> = []
  private var count = 0

  package init(outline: SchemaOutline) {
    self.outline = outline
  }

  package mutating func note(_ detail: String, at pointer: String) {
    guard faults.count < Failure.Detail.countMax else { return }
    faults.append(Failure.Detail(place: .pointer(pointer), detail: detail))
  }

  /// Reads one entity of a list.
  ///
  /// - Parameter names: other names of its fields, as faults shall show them.
  package mutating func read(
    _ body: JSONValue, at pointer: String, names: [String: String] = [:]
  ) {
    guard let members = body.members else { return note("must be an object", at: pointer) }
    guard let type = body[StoredForm.typenameMember]?.string else {
      return note(
        "is required: the type of the entity",
        at: pointer.appending(pointerMember: StoredForm.typenameMember))
    }
    guard let object = outline.objects[type] else {
      let hint = NearestNames.didYouMean(type, among: outline.entityTypes)
      return note(
        "names \(Self.shown(type)), which is not an object type of the schema.\(hint)",
        at: pointer.appending(pointerMember: StoredForm.typenameMember))
    }
    guard object.key != nil else {
      return note("names \(type), which has no key", at: pointer)
    }
    _ = entity(members, of: type, object, at: pointer, names: names, isShown: true)
  }

  // MARK: Entities

  private mutating func entity(
    _ members: [JSONMember], of type: String, _ object: SchemaOutline.ObjectType,
    at pointer: String, names: [String: String] = [:], isShown: Bool
  ) -> EntityKey? {
    count += 1
    guard count <= Self.entitiesMax else {
      if count == Self.entitiesMax + 1 {
        note("is the first of more than \(Self.entitiesMax) entities: send fewer", at: pointer)
      }
      return nil
    }
    let isShown = isShown && object.isStored
    var fields: [WrittenField] = []
    var omitted: Set<String> = []
    var isComplete = true
    let repeated = members.repeatedPositions
    for (position, member) in members.enumerated()
    where member.name != StoredForm.typenameMember {
      let place = pointer.appending(pointerMember: names[member.name] ?? member.name)
      guard !repeated.contains(position) else {
        note("is given twice", at: place)
        continue
      }
      guard let field = object.fields[member.name] else {
        let hint = NearestNames.didYouMean(member.name, among: object.fields.keys)
        note("is not a field of \(type).\(hint)", at: place)
        continue
      }
      let isStored = isShown && field.isPublic
      var written = WrittenField(name: member.name)
      let isValid = append(
        member.value, field, level: 0, at: place, isShown: isStored, to: &written)
      if isStored, isValid { fields.append(written) } else { isComplete = false }
      if !isStored, field.isSelected { omitted.insert(member.name) }
    }
    guard let key = key(members, of: type, object, at: pointer, names: names) else { return nil }
    guard object.isStored else {
      unknownCount += 1
      return key
    }
    if isShown {
      if seen.insert(key).inserted { keys.append(key) }
      if !omitted.isEmpty { withheld[key, default: []].formUnion(omitted) }
      // A row with nothing but its key would only show that the entity exists.
      let keyFields = object.key?.parts.map(\.field) ?? []
      if isComplete || fields.contains(where: { !keyFields.contains($0.name) }) {
        store(fields, of: key)
      }
    }
    return key
  }

  private mutating func key(
    _ members: [JSONMember], of type: String, _ object: SchemaOutline.ObjectType,
    at pointer: String, names: [String: String]
  ) -> EntityKey? {
    guard let rule = object.key else { return nil }
    var isComplete = true
    for part in rule.parts {
      let value = members.first { $0.name == part.field }?.value
      let text = value.flatMap { EntityKeyRule.text(of: $0, part.canonical) }
      if let text, Self.isKeyText(text) { continue }
      isComplete = false
      note(
        value == nil ? "is required: it is part of the key of \(type)" : "is not an id",
        at: pointer.appending(pointerMember: names[part.field] ?? part.field))
    }
    guard isComplete else { return nil }
    return rule.key { name in members.first { $0.name == name }?.value }
  }

  private static func isKeyText(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= LocalValueReader.idBytesMax
      && !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
  }

  /// Merges the fields with those of an earlier occurrence of the entity; later values win.
  private mutating func store(_ fields: [WrittenField], of key: EntityKey) {
    var stored: [NormalisedResponse.Field] = []
    if let index = indexByKey[key] {
      let names = Set(fields.map(\.name))
      stored = entities[index].fields.filter { !names.contains($0.name) }
    }
    for field in fields {
      let start = bytes.count
      bytes += field.writer.bytes
      stored.append(
        NormalisedResponse.Field(
          name: field.name, range: start..<bytes.count, merges: field.merges))
    }
    if let index = indexByKey[key] {
      entities[index].fields = stored
    } else {
      indexByKey[key] = entities.count
      entities.append(NormalisedResponse.Entity(key: key, fields: stored))
    }
  }

  // MARK: Values

  private struct WrittenField {
    let name: String
    var writer = JSONWriter()
    var merges = false
  }

  /// Writes a value in the form of ``Model/StoredForm``.
  ///
  /// - Returns: false after a fault; then the text is incomplete.
  private mutating func append(
    _ value: JSONValue, _ field: SchemaOutline.Field, level: Int, at pointer: String,
    isShown: Bool, to written: inout WrittenField
  ) -> Bool {
    if value.isNull {
      guard !field.nonNull[level] else { return refuse(field, at: pointer) }
      written.writer.null()
      return true
    }
    guard level == field.listDepth else {
      guard let elements = value.array else { return refuse(field, at: pointer) }
      written.writer.beginArray()
      var isValid = true
      for (index, element) in elements.enumerated() {
        let place = "\(pointer)/\(index)"
        isValid =
          append(element, field, level: level + 1, at: place, isShown: isShown, to: &written)
          && isValid
      }
      written.writer.endArray()
      return isValid
    }
    switch field.value {
    case .leaf(let kind, let names):
      guard let leaf = Self.leaf(value, kind, names, of: field.typeName) else {
        return refuse(field, at: pointer)
      }
      written.writer.value(leaf)
      return true
    case .object:
      return append(object: value, field, at: pointer, isShown: isShown, to: &written)
    }
  }

  private mutating func refuse(_ field: SchemaOutline.Field, at pointer: String) -> Bool {
    if case .leaf(_, let names) = field.value, !names.isEmpty, field.listDepth == 0 {
      note("must be one of \(field.typeName)'s values", at: pointer)
    } else {
      note("must be of the type \(field.type)", at: pointer)
    }
    return false
  }

  /// The value as it is stored; nil if the type does not have it.
  private static func leaf(
    _ value: JSONValue, _ kind: SelectedField.LeafKind, _ names: Set<String>, of type: String
  ) -> JSONValue? {
    switch kind {
    // More than the 32 bits of GraphQL's Int: servers exist that have longer ones.
    case .number where type == "Int":
      value.number.flatMap(CanonicalNumber.integer).flatMap {
        $0.int64 == nil ? nil : .number($0)
      }
    case .number where type == "Float":
      value.number.flatMap { $0.double?.isFinite == true ? value : nil }
    case .any: value
    case .text: value.string.flatMap { names.isEmpty || names.contains($0) ? value : nil }
    case .number: value.number.map { _ in value }
    case .boolean: value.bool.map { _ in value }
    // The form that GraphQL gives an ID (October 2021, section 3.5.5).
    case .textOrNumber: value.string.map { _ in value } ?? value.number.map { .string($0.digits) }
    }
  }

  /// Writes an embedded object, or a reference to an entity.
  private mutating func append(
    object value: JSONValue, _ field: SchemaOutline.Field, at pointer: String, isShown: Bool,
    to written: inout WrittenField
  ) -> Bool {
    let possible = outline.possibleTypes[field.typeName]
    guard let members = value.members else {
      guard possible == nil, let object = outline.objects[field.typeName],
        let rule = object.key, rule.parts.count == 1, let key = rule.key(of: value),
        Self.isKeyText(key.key)
      else { return refuse(field, at: pointer) }
      written.writer.value(.storedReference(to: key))
      return true
    }
    if let possible, members.count == 2, let name = value["type"]?.string, let id = value["id"] {
      guard possible.contains(name), let key = outline.objects[name]?.key?.key(of: id),
        Self.isKeyText(key.key)
      else { return refuse(field, at: pointer) }
      written.writer.value(.storedReference(to: key))
      return true
    }
    let given = value[StoredForm.typenameMember]?.string
    guard let name = given ?? (possible == nil ? field.typeName : nil),
      possible?.contains(name) ?? (name == field.typeName), let object = outline.objects[name]
    else {
      note(
        "must name one of the types of \(field.typeName)",
        at: pointer.appending(pointerMember: StoredForm.typenameMember))
      return false
    }
    guard object.key == nil else {
      guard let key = entity(members, of: name, object, at: pointer, isShown: isShown) else {
        return false
      }
      written.writer.value(.storedReference(to: key))
      return true
    }
    return append(embedded: members, of: name, object, at: pointer, isShown, to: &written)
  }

  /// Writes an embedded object with the fields that all callers may see.
  private mutating func append(
    embedded members: [JSONMember], of type: String, _ object: SchemaOutline.ObjectType,
    at pointer: String, _ isShown: Bool, to written: inout WrittenField
  ) -> Bool {
    written.merges = true
    written.writer.beginObject()
    written.writer.name(StoredForm.typenameMember)
    written.writer.string(type)
    var isValid = true
    let repeated = members.repeatedPositions
    for (position, member) in members.enumerated()
    where member.name != StoredForm.typenameMember {
      let place = pointer.appending(pointerMember: member.name)
      guard !repeated.contains(position), let field = object.fields[member.name] else {
        note("is not a field of \(type), or is given twice", at: place)
        isValid = false
        continue
      }
      let isStored = isShown && field.isPublic
      var inner = WrittenField(name: member.name)
      let isGood = append(member.value, field, level: 0, at: place, isShown: isStored, to: &inner)
      isValid = isValid && isGood
      guard isStored, isGood else { continue }
      written.writer.name(member.name)
      written.writer.raw(inner.writer.bytes)
    }
    written.writer.endObject()
    return isValid
  }

  /// Text of a stranger in a message, shortened.
  private static func shown(_ text: String) -> String { "\"\(text.prefix(60))\"" }
}
