import LosslessJSON
import Model

/// The first list of entities that an operation selects, in the order of its response: a list field
/// of an entity type, or of objects that contain one entity each, such as a connection's edges.
struct FirstList {
  private let snapshot: ResultSnapshot

  init(_ snapshot: ResultSnapshot) {
    self.snapshot = snapshot
  }

  /// Returns the list's members in their order, without deleted ones; nil if the operation selects no
  /// list of entities.
  func members(_ selection: FieldSelection) throws(JSONParseError) -> [EntityKey]? {
    guard let fields = selection.single ?? selection.types.values.first else { return nil }
    let root = try JSONDocument(checked: snapshot.root)
    return try members(fields, in: [root.root])?.filter {
      snapshot.entities[$0].map { !$0.isDeleted && !$0.layers.isEmpty } ?? false
    }
  }

  /// Returns whether a query can have such a list.
  static func exists(in selection: FieldSelection) -> Bool {
    selection.types.values.contains { object in
      object.fields.contains { field in
        guard case .object(let inner) = field.value else { return false }
        return field.listDepth > 0 ? leadsToEntities(inner) : exists(in: inner)
      }
    }
  }

  private func members(
    _ object: ObjectSelection, in layers: [JSONNode]
  ) throws(JSONParseError) -> [EntityKey]? {
    for field in object.fields {
      guard case .object(let inner) = field.value else { continue }
      let value = layers.lazy.compactMap { $0[field.storageName] }.first
      if field.listDepth > 0 {
        guard Self.leadsToEntities(inner) else { continue }
        guard let value else { return [] }
        var keys: [EntityKey] = []
        collect(value, inner, into: &keys)
        return keys
      }
      guard let value, let found = try members(inner, at: value) else { continue }
      return found
    }
    return nil
  }

  /// Searches below an object that is not a list.
  private func members(
    _ selection: FieldSelection, at value: JSONNode
  ) throws(JSONParseError) -> [EntityKey]? {
    guard value.kind == .object else { return nil }
    guard let key = EntityKey(reference: value) else {
      guard let fields = Self.fields(of: value, selection) else { return nil }
      return try members(fields, in: [value])
    }
    guard let record = snapshot.entities[key], let fields = selection.types[key.type] else {
      return nil
    }
    var documents: [JSONDocument] = []
    for layer in record.layers { documents.append(try JSONDocument(checked: layer)) }
    return try members(fields, in: documents.map(\.root))
  }

  // MARK: Elements

  private func collect(_ value: JSONNode, _ selection: FieldSelection, into keys: inout [EntityKey])
  {
    switch value.kind {
    case .array:
      for element in value.elements { collect(element, selection, into: &keys) }
    case .object:
      if let key = EntityKey(reference: value) {
        keys.append(key)
      } else if let fields = Self.fields(of: value, selection) {
        for field in fields.fields where field.listDepth == 0 {
          guard case .object(let inner) = field.value, let next = value[field.storageName] else {
            continue
          }
          return collect(next, inner, into: &keys)
        }
      }
    case .null, .true, .false, .number, .string:
      return
    }
  }

  /// Returns whether the selection is of entities, or of objects whose first object field is one.
  private static func leadsToEntities(_ selection: FieldSelection) -> Bool {
    selection.types.values.contains { object in
      object.key != nil
        || object.fields.contains { field in
          guard field.listDepth == 0, case .object(let inner) = field.value else { return false }
          return inner.types.values.contains { $0.key != nil }
        }
    }
  }

  private static func fields(of embedded: JSONNode, _ selection: FieldSelection) -> ObjectSelection?
  {
    if let type = embedded[StoredForm.typenameMember]?.string, let fields = selection.types[type] {
      return fields
    }
    return selection.single
  }
}
