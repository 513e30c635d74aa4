import GraphQL
import LosslessJSON
import Model
import Storage
import Upstream

/// Converts a mutation's optimistic update, `[{"op","type","id","fields"}, …]`, to the form of the
/// store and collects every fault with its JSON pointer.
///
/// Fields have the form of entity reads: a relationship is the other entity's id, or
/// `{"type","id"}` if its type is a union or an interface.
struct OptimisticReader {
  private static let memberNames: Set<String> = ["op", "type", "id", "fields"]
  /// The maximum number of changes in one mutation.
  private static let changesMax = 100
  /// The maximum length of an entity's id: no API has longer ones, and each is stored with its
  /// mutation.
  static let idBytesMax = 255

  let catalogue: EntityCatalogue
  /// The local types, which cannot be updated optimistically: upstream never confirms their changes.
  let localTypes: Set<String>
  private(set) var faults: [Failure.Detail] = []

  init(catalogue: EntityCatalogue, localTypes: Set<String>) {
    self.catalogue = catalogue
    self.localTypes = localTypes
  }

  /// Reads the changes of one mutation.
  mutating func read(_ changes: [JSONValue], at pointer: String) -> [OverlayChange] {
    guard changes.count <= Self.changesMax else {
      note("must have at most \(Self.changesMax) changes", at: pointer)
      return []
    }
    return changes.enumerated().compactMap { read($1, at: "\(pointer)/\($0)") }
  }

  private mutating func read(_ change: JSONValue, at pointer: String) -> OverlayChange? {
    guard let members = change.members else {
      note("must be an object", at: pointer)
      return nil
    }
    let countBefore = faults.count
    for member in members where !Self.memberNames.contains(member.name) {
      note("is not a known member", at: pointer.appending(pointerMember: member.name))
    }
    let action = change["op"]?.string.flatMap(OverlayChange.Action.init)
    if action == nil { note("must be create, merge or delete", at: "\(pointer)/op") }
    let type = change["type"]?.string.flatMap(catalogue.type(named:))
    if type == nil || localTypes.contains(type?.name ?? "") {
      let hint = NearestNames.didYouMean(
        change["type"]?.string ?? "", among: catalogue.types.map(\.name))
      note("is not the name of an upstream entity type.\(hint)", at: "\(pointer)/type")
    }
    let id = change["id"]?.string
    if id?.isEmpty ?? true || id?.utf8.contains(0) ?? false
      || id?.utf8.count ?? 0 > Self.idBytesMax
    {
      note(
        "must be a non-empty string of at most \(Self.idBytesMax) bytes", at: "\(pointer)/id")
    } else if action == .create, let id, id.hasPrefix("~"), TemporaryID(id) == nil {
      note("is not a temporary id: ~ followed by a UUIDv7 or a ULID", at: "\(pointer)/id")
    }
    if let type, let id, TemporaryID(id) == nil, type.hasIntegerKey,
      Int64(id).map({ "\($0)" }) != id
    {
      note("must be an integer, like all ids of \(type.name)", at: "\(pointer)/id")
    }
    guard let action, let type, let id, faults.count == countBefore else { return nil }
    let key = EntityKey(type: type.name, key: id)
    if action == .delete {
      if change["fields"] != nil { note("is not allowed for a deletion", at: "\(pointer)/fields") }
      return OverlayChange(.delete, key)
    }
    guard let fields = change["fields"]?.members else {
      note("must be an object", at: "\(pointer)/fields")
      return nil
    }
    let stored = read(fields, of: type, id: id, at: "\(pointer)/fields")
    guard faults.count == countBefore else { return nil }
    return OverlayChange(action, key, fields: JSONValue.object(stored).bytes)
  }

  // MARK: Fields

  private mutating func read(
    _ fields: [JSONMember], of type: EntityType, id: String, at pointer: String
  ) -> [JSONMember] {
    let shape = catalogue.shapes[type.name]
    var stored: [JSONMember] = []
    for member in fields {
      let place = pointer.appending(pointerMember: member.name)
      guard let field = shape?.fields[member.name] else {
        let hint = NearestNames.didYouMean(
          member.name, among: (shape?.fields.keys).map(Array.init) ?? [])
        note("is not a field of \(type.name) that an operation selects.\(hint)", at: place)
        continue
      }
      guard !type.hasLocalField(member.name) else {
        note(
          "is a local field: write it with PATCH /v1/entities/\(type.name)/{id}, which applies at once",
          at: place)
        continue
      }
      if type.keyFields == [member.name] {
        let isID = member.value.string == id || member.value.int64.map { "\($0)" } == id
        if !isID { note("is not the id of the changed entity", at: place) }
      } else {
        check(member, of: type, at: place)
      }
      stored.append(
        JSONMember(member.name, value(member.value, field, depth: field.listDepth, at: place)))
    }
    if let keyField = type.keyFields.first, type.keyFields.count == 1,
      !stored.contains(where: { $0.name == keyField })
    {
      stored.insert(JSONMember(keyField, .string(id)), at: 0)
    }
    return stored
  }

  /// Checks a field's value. Strings are not checked, since a custom scalar can be anything. A number
  /// can be in a string, as some upstreams encode large ones.
  private mutating func check(_ member: JSONMember, of type: EntityType, at pointer: String) {
    guard let kind = type.columns.first(where: { $0.name == member.name })?.kind,
      [.integer, .real, .boolean].contains(kind), !member.value.isNull
    else { return }
    let written = kind == .boolean ? nil : member.value.string
    let value = written.flatMap { try? JSONValue(checked: $0) } ?? member.value
    if !kind.takes(value) { note("must be \(kind.noun)", at: pointer) }
  }

  private mutating func value(
    _ value: JSONValue, _ field: ObjectShape.Field, depth: Int, at pointer: String
  ) -> JSONValue {
    if value.isNull { return value }
    if depth > 0 {
      guard let elements = value.array else {
        note("must be a list", at: pointer)
        return value
      }
      var read: [JSONValue] = []
      for (index, element) in elements.enumerated() {
        read.append(
          self.value(element, field, depth: depth - 1, at: "\(pointer)/\(index)"))
      }
      return .array(read)
    }
    guard case .object(let declared, let isAbstract, let holdsEntities) = field.value else {
      return value
    }
    guard holdsEntities else { return embedded(value, declared, at: pointer) }
    guard let key = reference(value, declared, isAbstract: isAbstract) else {
      note(
        isAbstract ? "must be {\"type\", \"id\"}" : "must be the id of a \(declared)", at: pointer)
      return value
    }
    let pair: JSONValue = .array([.string(key.type), .string(key.key)])
    return .object([JSONMember(StoredForm.referenceMember, pair)])
  }

  private func reference(
    _ value: JSONValue, _ declared: String, isAbstract: Bool
  ) -> EntityKey? {
    guard isAbstract else {
      return value.string.map { EntityKey(type: declared, key: $0) }
    }
    guard let type = value["type"]?.string, let id = value["id"]?.string,
      catalogue.type(named: type) != nil
    else { return nil }
    return EntityKey(type: type, key: id)
  }

  private mutating func embedded(
    _ value: JSONValue, _ declared: String, at pointer: String
  ) -> JSONValue {
    guard let members = value.members else {
      note("must be an object", at: pointer)
      return value
    }
    let type = value[StoredForm.typenameMember]?.string ?? declared
    var stored = [JSONMember(StoredForm.typenameMember, .string(type))]
    for member in members where member.name != StoredForm.typenameMember {
      let place = pointer.appending(pointerMember: member.name)
      guard let field = catalogue.shapes[type]?.fields[member.name] else {
        note("is not a field of \(type) that an operation selects", at: place)
        continue
      }
      stored.append(
        JSONMember(
          member.name, self.value(member.value, field, depth: field.listDepth, at: place)))
    }
    return .object(stored)
  }

  private mutating func note(_ detail: String, at pointer: String) {
    guard faults.count < Failure.Detail.countMax else { return }
    faults.append(Failure.Detail(place: .pointer(pointer), detail: detail))
  }
}

extension EntityType {
  fileprivate var hasIntegerKey: Bool {
    keyFields.count == 1 && columns.contains { $0.name == keyFields[0] && $0.kind == .integer }
  }
}
