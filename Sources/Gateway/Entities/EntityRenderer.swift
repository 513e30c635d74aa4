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
///
/// Local fields of an upstream type are among its fields, for viewers who can have some. If upstream has
/// deleted the entity, they are shown alone, with `_deleted`.
///
/// Nested entities take the place of ids, see ``NestedMembers``.
package struct EntityRenderer: Sendable {
  /// Members that are not fields of the schema.
  static let revisionMember = "_rev"
  static let missingMember = "_missing"
  package static let pendingMember = "_pending"
  static let deletedMember = "_deleted"

  private let shapes: [String: ObjectShape]
  private let plans: [String: Plan]
  /// The views' selections of each entity type.
  private let views: [String: [ObjectSelection]]

  /// What the documents of an entity type are made of.
  final class Plan: Sendable {
    fileprivate struct Field: Sendable {
      let name: String
      let value: ObjectShape.Value
      let isRelationship: Bool
    }

    let type: EntityType
    /// Nil if no operation selects the type.
    fileprivate let shape: ObjectShape?
    /// The fields of a whole entity, in the order of its documents.
    fileprivate let fields: [Field]

    init(_ type: EntityType, _ shape: ObjectShape?) {
      self.type = type
      self.shape = shape
      let others = shape?.fields.keys.filter { !type.keyFields.contains($0) } ?? []
      fields = (type.keyFields + others.sorted()).compactMap { name in
        guard let field = shape?.fields[name], field.isToMany != true else { return nil }
        return Field(name: name, value: field.value, isRelationship: field.isToMany != nil)
      }
    }
  }

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
    self.shapes = shapes
    plans = Dictionary(
      types.map { ($0.name, Plan($0, shapes[$0.name])) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns an entity type, with the local fields of an upstream type; nil for an unknown one.
  func type(named name: String) -> EntityType? { plans[name]?.type }

  /// Returns the names of the key's fields; none for an unknown type.
  func keyFields(of type: String) -> [String] { plans[type]?.type.keyFields ?? [] }

  /// An entity whose stored texts have been parsed.
  struct StoredEntity: Sendable {
    let key: EntityKey
    /// Narrowest first.
    let layers: [JSONDocument]
    let plan: Plan
  }

  /// Parses an entity.
  ///
  /// - Returns: nil for an entity that is deleted, empty, or of an unknown type.
  func stored(_ key: EntityKey, _ record: EntityRecord) throws(Failure) -> StoredEntity? {
    guard !record.isDeleted, !record.layers.isEmpty, let plan = plans[key.type] else { return nil }
    return StoredEntity(key: key, layers: try Self.documents(of: record, key), plan: plan)
  }

  /// Returns an entity that is not stored, as far as a reference to it tells; nil if its type has
  /// several key fields, or is unknown.
  func unstored(_ key: EntityKey) -> StoredEntity? {
    guard let plan = plans[key.type], plan.type.keyFields.count == 1 else { return nil }
    let type = plan.type
    let name = type.keyFields[0]
    let isInteger = type.columns.contains { $0.name == name && $0.kind == .integer }
    var writer = JSONWriter()
    writer.beginObject()
    writer.name(name)
    if isInteger, let number = Int64(key.key) {
      writer.int(number)
    } else {
      writer.string(key.key)
    }
    writer.endObject()
    guard let layer = try? JSONDocument(checked: writer.bytes) else { return nil }
    return StoredEntity(key: key, layers: [layer], plan: plan)
  }

  /// Renders one entity.
  ///
  /// - Parameter selection: the fields of a view; nil for all.
  /// - Returns: nil for an entity that is deleted, empty, or of an unknown type.
  package func document(
    _ key: EntityKey, _ record: EntityRecord, selection: ObjectSelection? = nil
  ) throws(Failure) -> EntityDocument? {
    try stored(key, record).flatMap { document($0, selection: selection) }
  }

  /// Renders a state of an entity for hooks: the whole entity of a local type, or what one owner has written
  /// to an entity of upstream's. The latter has no `_rev`, since that of reads is about all of the entity.
  func reported(_ key: EntityKey, _ record: EntityRecord) throws(Failure) -> [UInt8]? {
    let isWhole = plans[key.type]?.type.isLocal == true
    return try stored(key, record).flatMap { document($0, showsRevision: isWhole) }?.body
  }

  /// - Parameters:
  ///   - showsKey: whether the key's fields are shown even if the view does not select them.
  ///   - showsRevision: whether the body has the revision.
  ///   - nested: the contents of relationships, which are shown in place of ids.
  func document(
    _ entity: StoredEntity, selection: ObjectSelection? = nil, showsKey: Bool = false,
    showsRevision: Bool = true, nested: [NestedContent] = []
  ) -> EntityDocument? {
    let (key, layers, plan) = (entity.key, entity.layers, entity.plan)
    guard let shape = plan.shape else { return nil }
    let dates = plan.type.dates
    var writer = JSONWriter()
    writer.reserve(layers.reduce(128) { $0 + $1.bytes.count })
    var members = NestedMembers(nested)
    writer.beginObject()
    writer.name(StoredForm.typenameMember)
    writer.string(key.type)
    var missing: [String]?
    if let selection {
      missing = write(selection, of: layers, shape, dates, to: &writer, &members)
    } else {
      for field in plan.fields { write(field, of: layers, dates, to: &writer, &members) }
    }
    let pending = Self.pending(in: layers)
    if !pending.isEmpty { Self.write(pending, named: Self.pendingMember, to: &writer) }
    if layers.last?.root[StoredForm.deletedMember] != nil {
      writer.name(Self.deletedMember)
      writer.bool(true)
    }
    if let missing {
      let start = writer.bytes.count
      Self.write(missing, named: Self.missingMember, to: &writer)
      members.note(Self.missingMember, from: start, in: writer)
    }
    // The revision of what the read shows of the entity itself, and that of what is nested in it.
    var revision = EntityDigest.revision(of: writer.bytes)
    if !nested.isEmpty {
      revision = EntityDigest.join(revision, EntityDigest.revision(of: members.content))
      missing = members.missing(besides: missing)
      writer = members.insert(into: writer.bytes, missing: missing)
    }
    if showsKey, let selection {
      writeKey(of: plan.type, besides: selection, of: layers, to: &writer)
    }
    if showsRevision {
      writer.name(Self.revisionMember)
      writer.string(revision)
    }
    writer.endObject()
    return EntityDocument(key: key, body: writer.bytes, revision: revision, missing: missing)
  }

  /// Writes the key's fields that a view does not select.
  private func writeKey(
    of type: EntityType, besides selection: ObjectSelection, of layers: [JSONDocument],
    to writer: inout JSONWriter
  ) {
    for name in type.keyFields {
      let isTaken = selection.fields.contains { !$0.isAdded && $0.responseName == name }
      guard !isTaken, let value = Self.value(name, of: layers) else { continue }
      writer.name(name)
      writer.value(value)
    }
  }

  /// Returns whether one of the validators matches the current entity: its `_rev`, or the entity tag
  /// of a read of it, whole or through a view. What was nested in the entity is not compared.
  func isCurrent(
    _ validators: [String], of key: EntityKey, _ record: EntityRecord
  ) throws(Failure) -> Bool {
    guard let entity = try stored(key, record) else { return false }
    let known = Set(validators.map(EntityDigest.own))
    let views: [ObjectSelection?] = (views[key.type] ?? []).map(Optional.some)
    for selection in [nil] + views {
      if let document = document(entity, selection: selection),
        known.contains(document.revision) || known.contains(document.tag)
      {
        return true
      }
    }
    return false
  }

  /// Returns the entities that a relationship of a stored entity refers to, in stored order without
  /// repetition; nil if none of its lists is stored.
  package func references(
    _ field: String, of record: EntityRecord, _ key: EntityKey
  ) throws(Failure) -> [EntityKey]? {
    Self.references(field, in: try Self.documents(of: record, key))
  }

  /// - Parameters:
  ///   - storageName: the only stored list that counts; nil for all lists of the field.
  ///   - countMax: the number of entities at most; later ones are left out.
  static func references(
    _ field: String, storedAs storageName: String? = nil, in layers: [JSONDocument],
    countMax: Int = .max
  ) -> [EntityKey]? {
    StoredMembers(
      of: field, storedAs: storageName, in: layers.map(\.root), countMax: countMax)?.keys
  }

  // MARK: Writing

  private func write(
    _ field: Plan.Field, of layers: [JSONDocument], _ dates: DateFormat,
    to writer: inout JSONWriter, _ members: inout NestedMembers
  ) {
    guard let value = Self.value(field.name, of: layers) else { return }
    let start = writer.bytes.count
    writer.name(field.name)
    write(value, field.value, dates, to: &writer)
    if field.isRelationship { members.note(field.name, from: start, in: writer) }
  }

  /// - Returns: the response names of selected fields that are not stored.
  private func write(
    _ selection: ObjectSelection, of layers: [JSONDocument], _ shape: ObjectShape,
    _ dates: DateFormat, to writer: inout JSONWriter, _ members: inout NestedMembers
  ) -> [String] {
    var missing: [String] = []
    for field in selection.fields
    where !field.isAdded && field.name != StoredForm.typenameMember {
      guard let known = shape.fields[field.name] else { continue }
      guard let value = Self.value(field.storageName, of: layers) else {
        missing.append(field.responseName)
        continue
      }
      let start = writer.bytes.count
      writer.name(field.responseName)
      write(value, known.value, dates, to: &writer)
      if known.isToMany != nil { members.note(field.responseName, from: start, in: writer) }
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
