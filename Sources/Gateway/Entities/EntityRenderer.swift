import LosslessJSON
package import Model
package import Upstream

/// Renders stored entities as ``EntityDocument``s.
///
/// A document has `__typename`, the key's fields, then every stored field without arguments in
/// alphabetical order, then `_rev`: the order in which responses arrived does not show. Values are
/// upstream's own bytes. A to-one relationship is the other entity's id, or `{"type","id"}` if its
/// declared type is a union or an interface; a list of entities has its own path; a field that was
/// never fetched is absent. Dates of local types are in their type's format. A field that no
/// operation selects any more is absent too, since its meaning is unknown.
package struct EntityRenderer: Sendable {
  /// Members that are not fields of the schema.
  static let revisionMember = "_rev"
  static let missingMember = "_missing"
  package static let pendingMember = "_pending"

  private let types: [String: EntityType]
  private let shapes: [String: ObjectShape]
  /// The fields of each entity type, in the order of its documents.
  private let order: [String: [String]]
  /// The views' selections of each entity type.
  private let views: [String: [ObjectSelection]]

  /// - Parameter views: the views whose entity tags count as the entity's own, see
  ///   ``isCurrent(_:of:_:)``.
  package init(catalogue: EntityCatalogue, views: some Collection<EntityView> = []) {
    self.init(types: catalogue.types, shapes: catalogue.shapes, views: views)
  }

  /// Creates a renderer without operations; also used by tests.
  package init(
    types: [EntityType], shapes: [String: ObjectShape], views: some Collection<EntityView> = []
  ) {
    self.views = views.reduce(into: [:]) { all, view in
      for (type, selection) in view.selection.types { all[type, default: []].append(selection) }
    }
    self.types = Dictionary(types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.shapes = shapes
    order = self.types.mapValues { type in
      let others = shapes[type.name]?.fields.keys.filter { !type.keyFields.contains($0) } ?? []
      return type.keyFields + others.sorted()
    }
  }

  /// Renders one entity.
  ///
  /// - Parameter selection: the fields of a view; nil for all.
  /// - Returns: nil for an entity that is deleted, empty, or of an unknown type.
  package func document(
    _ key: EntityKey, _ record: EntityRecord, selection: ObjectSelection? = nil
  ) throws(Failure) -> EntityDocument? {
    guard !record.isDeleted, !record.layers.isEmpty, let order = order[key.type],
      let shape = shapes[key.type]
    else { return nil }
    // A view shows a part of the entity and has the revision of the whole.
    let whole = selection == nil ? nil : try document(key, record, selection: nil)
    let layers = try Self.documents(of: record, key)
    let dates = types[key.type]?.dates ?? .iso8601
    var writer = JSONWriter()
    writer.reserve(layers.reduce(96) { $0 + $1.bytes.count })
    writer.beginObject()
    writer.name(StoredForm.typenameMember)
    writer.string(key.type)
    var missing: [String]?
    if let selection {
      missing = write(selection, of: layers, shape, dates, to: &writer)
    } else {
      for name in order { writeField(name, of: layers, shape, dates, to: &writer) }
    }
    let pending = Self.pending(in: layers)
    if !pending.isEmpty { Self.write(pending, named: Self.pendingMember, to: &writer) }
    if let missing { Self.write(missing, named: Self.missingMember, to: &writer) }
    let revision = whole?.revision ?? EntityDigest.revision(of: writer.bytes)
    writer.name(Self.revisionMember)
    writer.string(revision)
    writer.endObject()
    return EntityDocument(
      key: key, body: writer.bytes, revision: revision, missing: missing)
  }

  /// Returns whether one of the validators matches the current entity: its `_rev`, or the entity tag
  /// of a read of it, whole or through a view.
  func isCurrent(
    _ validators: [String], of key: EntityKey, _ record: EntityRecord
  ) throws(Failure) -> Bool {
    guard let whole = try document(key, record) else { return false }
    if validators.contains(whole.revision) || validators.contains(whole.tag) { return true }
    for selection in views[key.type] ?? [] {
      if let tag = try document(key, record, selection: selection)?.tag, validators.contains(tag) {
        return true
      }
    }
    return false
  }

  /// Returns the entities that a relationship of a stored entity refers to, in stored order without
  /// repetition: the union of all stored lists of the field, with any arguments, without nulls. A
  /// list in a device's overlay replaces them all.
  package func references(
    _ field: String, of record: EntityRecord, _ key: EntityKey
  ) throws(Failure) -> [EntityKey]? {
    let layers = try Self.documents(of: record, key)
    var found: [EntityKey] = []
    var seen: Set<EntityKey> = []
    if let overlay = layers.first?.root, overlay[StoredForm.pendingMember] != nil,
      let expected = overlay[field]
    {
      Self.collect(expected, into: &found, &seen)
      return found
    }
    var isStored = false
    var names: Set<String> = []
    for layer in layers {
      for member in layer.root.members {
        let name = member.name
        guard name == field || name.hasPrefix("\(field)("), names.insert(name).inserted else {
          continue
        }
        isStored = true
        Self.collect(member.value, into: &found, &seen)
      }
    }
    return isStored ? found : nil
  }

  private static func collect(
    _ value: JSONNode, into found: inout [EntityKey], _ seen: inout Set<EntityKey>
  ) {
    switch value.kind {
    case .array:
      for element in value.elements { collect(element, into: &found, &seen) }
    case .object:
      if let key = EntityKey(reference: value) {
        if seen.insert(key).inserted { found.append(key) }
      } else {
        for member in value.members { collect(member.value, into: &found, &seen) }
      }
    case .null, .true, .false, .number, .string:
      return
    }
  }

  // MARK: Writing

  private func writeField(
    _ name: String, of layers: [JSONDocument], _ shape: ObjectShape, _ dates: DateFormat,
    to writer: inout JSONWriter
  ) {
    guard let field = shape.fields[name], field.isToMany != true,
      let value = Self.value(name, of: layers)
    else { return }
    writer.name(name)
    write(value, field.value, dates, to: &writer)
  }

  /// - Returns: the response names of selected fields that are not stored.
  private func write(
    _ selection: ObjectSelection, of layers: [JSONDocument], _ shape: ObjectShape,
    _ dates: DateFormat, to writer: inout JSONWriter
  ) -> [String] {
    var missing: [String] = []
    for field in selection.fields
    where !field.isAdded && field.name != StoredForm.typenameMember {
      guard let known = shape.fields[field.name] else { continue }
      guard let value = Self.value(field.storageName, of: layers) else {
        missing.append(field.responseName)
        continue
      }
      writer.name(field.responseName)
      write(value, known.value, dates, to: &writer)
    }
    return missing
  }

  private func write(
    _ value: JSONNode, _ kind: ObjectShape.Value, _ dates: DateFormat,
    to writer: inout JSONWriter
  ) {
    switch (kind, value.kind) {
    case (.leaf, _):
      writer.value(value)
    case (_, .array):
      writer.beginArray()
      for element in value.elements { write(element, kind, dates, to: &writer) }
      writer.endArray()
    case (.date, .string):
      writer.value(dates.formatted(value.string ?? ""))
    case (.object(_, let isAbstract, _), .object):
      if let key = EntityKey(reference: value) {
        Self.write(key, isAbstract: isAbstract, to: &writer)
      } else {
        writeEmbedded(value, dates, to: &writer)
      }
    case (.date, _), (.object, _):
      writer.value(value)
    }
  }

  private static func write(
    _ key: EntityKey, isAbstract: Bool, to writer: inout JSONWriter
  ) {
    guard isAbstract else { return writer.string(key.key) }
    writer.beginObject()
    writer.name("type")
    writer.string(key.type)
    writer.name("id")
    writer.string(key.key)
    writer.endObject()
  }

  private func writeEmbedded(
    _ object: JSONNode, _ dates: DateFormat, to writer: inout JSONWriter
  ) {
    let type = object[StoredForm.typenameMember]
    let shape = type?.string.flatMap { shapes[$0] }
    writer.beginObject()
    if let type {
      writer.name(StoredForm.typenameMember)
      writer.value(type)
    }
    for member in object.members.sorted(by: { $0.name < $1.name }) {
      guard let field = shape?.fields[member.name] else { continue }
      writer.name(member.name)
      write(member.value, field.value, dates, to: &writer)
    }
    writer.endObject()
  }

  private static func write(
    _ names: [String], named member: String, to writer: inout JSONWriter
  ) {
    writer.name(member)
    writer.beginArray()
    for name in names { writer.string(name) }
    writer.endArray()
  }

  // MARK: Layers

  /// Returns the ids of the queued mutations whose overlays are applied.
  private static func pending(in layers: [JSONDocument]) -> [String] {
    layers.lazy.compactMap { $0.root[StoredForm.pendingMember] }.first?
      .elements.compactMap(\.string) ?? []
  }

  /// Returns a value from the narrowest layer that has it.
  private static func value(_ name: String, of layers: [JSONDocument]) -> JSONNode? {
    for layer in layers {
      if let value = layer.root[name] { return value }
    }
    return nil
  }

  private static func documents(
    of record: EntityRecord, _ key: EntityKey
  ) throws(Failure) -> [JSONDocument] {
    do throws(JSONParseError) {
      var documents: [JSONDocument] = []
      for layer in record.layers { documents.append(try JSONDocument(checked: layer)) }
      return documents
    } catch {
      throw Failure(
        .internal, "A stored entity cannot be read.", cause: "\(key.type) is not JSON: \(error)")
    }
  }
}

extension EntityKey {
  /// The key in a stored reference; nil for any other value.
  init?(reference value: JSONNode) {
    guard let parts = value[StoredForm.referenceMember], let type = parts[0]?.string,
      let key = parts[1]?.string
    else { return nil }
    self.init(type: type, key: key)
  }
}
