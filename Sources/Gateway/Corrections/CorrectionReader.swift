import Filtering
import LosslessJSON
import Model
import Upstream

/// Converts an operator's correction of an upstream entity to the form of ``StoredForm`` and collects
/// every fault.
///
/// Columns, lists of scalars and to-one relationships can be written. Fields with arguments, embedded
/// objects and to-many relationships come from upstream only: their stored form depends on
/// operations.
struct CorrectionReader {
  /// Members of an entity's JSON that are read-only.
  private static let readOnlyMembers: Set<String> = [
    StoredForm.typenameMember, EntityRenderer.revisionMember, EntityRenderer.pendingMember,
    EntityRenderer.missingMember, EntityRenderer.deletedMember,
  ]

  let catalogue: EntityCatalogue
  private(set) var faults: [Failure.Detail] = []

  init(catalogue: EntityCatalogue) {
    self.catalogue = catalogue
  }

  mutating func note(_ detail: String, at pointer: String) {
    guard faults.count < Failure.Detail.countMax else { return }
    faults.append(Failure.Detail(place: .pointer(pointer), detail: detail))
  }

  // MARK: Fields

  mutating func fields(
    _ body: JSONValue, of type: EntityType, at pointer: String
  ) -> [EntityCorrection.Field] {
    guard let members = body.members else {
      note("must be an object", at: pointer)
      return []
    }
    var fields: [EntityCorrection.Field] = []
    for member in members where !Self.readOnlyMembers.contains(member.name) {
      let place = pointer.appending(pointerMember: member.name)
      guard !fields.contains(where: { $0.name == member.name }) else {
        note("is given twice", at: place)
        continue
      }
      guard let field = catalogue.shapes[type.name]?.fields[member.name],
        !type.hasLocalField(member.name)
      else {
        note("is not a field of \(type.name) that an operation selects", at: place)
        continue
      }
      let column = type.columns.first { $0.name == member.name }
      switch value(member.value, field, column) {
      case .success(let value): fields.append(.init(name: member.name, value: value))
      case .failure(let fault): note(fault.text, at: place)
      }
    }
    return fields
  }

  private struct Fault: Error {
    let text: String

    init(_ text: String) { self.text = text }
  }

  private func value(
    _ value: JSONValue, _ field: ObjectShape.Field, _ column: EntityType.Column?
  ) -> Result<JSONValue, Fault> {
    switch field.value {
    case .object(let type, let isAbstract, holdsEntities: true) where field.listDepth == 0:
      return reference(value, type, isAbstract: isAbstract)
    case .object:
      return .failure(Fault("cannot be corrected: only the upstream API provides this field"))
    case .leaf, .date:
      if value.isNull { return .success(value) }
      if field.listDepth > 0 {
        return Self.isList(value, depth: field.listDepth)
          ? .success(value) : .failure(Fault("must be a list of values"))
      }
      let kind = column?.kind ?? .text
      return kind.takes(value) ? .success(value) : .failure(Fault("must be \(kind.noun)"))
    }
  }

  private func reference(
    _ value: JSONValue, _ type: String, isAbstract: Bool
  ) -> Result<JSONValue, Fault> {
    if value.isNull { return .success(value) }
    var (concrete, id) = (type, value)
    if isAbstract {
      guard let name = value["type"]?.string, let given = value["id"],
        catalogue.possibleTypes[type]?.contains(name) == true
      else { return .failure(Fault("must be {\"type\", \"id\"} of a \(type)")) }
      (concrete, id) = (name, given)
    }
    guard let key = LocalValueReader.id(id) else { return .failure(Fault("is not an id")) }
    return .success(.storedReference(to: EntityKey(type: concrete, key: key)))
  }

  private static func isList(_ value: JSONValue, depth: Int) -> Bool {
    guard depth > 0 else { return value.array == nil && value.members == nil }
    if value.isNull { return true }
    return value.array?.allSatisfy { isList($0, depth: depth - 1) } ?? false
  }

  // MARK: Keys

  /// Returns the key given by path and body, and adds its field to `fields` if needed. A key of
  /// several fields is never split, so an insertion must have these fields in its body.
  mutating func key(
    _ id: String?, of type: EntityType, action: WriteAction,
    fields: inout [EntityCorrection.Field], at pointer: String
  ) -> String? {
    let place = pointer.appending(pointerMember: type.keyFields.first ?? "id")
    if let id, LocalValueReader.id(.string(id)) == nil {
      note("is not an id", at: place)
      return nil
    }
    let given = type.keyFields.map { name in
      fields.first { $0.name == name }.flatMap { Self.canonicalText($0.value) }
    }
    for (name, text) in zip(type.keyFields, given) {
      guard let text, LocalValueReader.id(.string(text)) == nil else { continue }
      note("is not an id", at: pointer.appending(pointerMember: name))
      return nil
    }
    if !given.contains(nil) {
      let key = EntityKey(type: type.name, fields: given.compactMap { $0 }).key
      if let id, id != key { note("is not the id in the path", at: place) }
      return key
    }
    let isInsertion = action != .update && action != .delete
    guard let id, !isInsertion || type.keyFields.count == 1 else {
      for (name, text) in zip(type.keyFields, given) where text == nil {
        note("is required", at: pointer.appending(pointerMember: name))
      }
      return nil
    }
    guard given.allSatisfy({ $0 == nil }) else {
      note("the key has several fields: give all of them or none", at: place)
      return nil
    }
    if isInsertion, let name = type.keyFields.first {
      let kind = type.columns.first { $0.name == name }?.kind
      let value: JSONValue? =
        kind == .integer ? Int64(id).map { .number(JSONNumber($0)) } : .string(id)
      guard let value else {
        note("must be a whole number", at: place)
        return nil
      }
      fields.append(.init(name: name, value: value))
    }
    return id
  }

  private static func canonicalText(_ value: JSONValue) -> String? {
    value.string ?? value.number?.digits ?? value.bool.map { $0 ? "true" : "false" }
  }
}
