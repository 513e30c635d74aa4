import LosslessJSON
package import Model
package import Storage
import Upstream

/// Reads entities as REST: one by its id, collections, relationships. Never asks upstream, and has
/// no way to write.
package struct EntityReader: Sendable {
  /// A body, with what goes beside it.
  package struct Answer: Sendable {
    package let body: [UInt8]
    /// Of the strong entity tag, without quotes.
    package let tag: String
    package let total: Int?

    init(body: [UInt8], total: Int? = nil) {
      self.body = body
      self.total = total
      tag = EntityDigest.tag(of: body)
    }
  }

  package let directory: EntityDirectory
  let store: Store
  let renderer: EntityRenderer
  let tokens: PageTokenCodec
  let deadline: QueryDeadline
  let gate: StoredDataGate

  package init(
    store: Store, directory: EntityDirectory, renderer: EntityRenderer, tokens: PageTokenCodec,
    deadline: QueryDeadline, gate: StoredDataGate
  ) {
    self.store = store
    self.directory = directory
    self.renderer = renderer
    self.tokens = tokens
    self.deadline = deadline
    self.gate = gate
  }

  /// The types, with how many entities of each the caller sees.
  package func types(for caller: Caller) async throws(Failure) -> Answer {
    try gate.admit(caller)
    let counts = try await reading { () async throws(StorageError) in
      try await store.counts(
        of: directory.descriptions.map(\.type), viewer: caller.viewer, deadline: deadline)
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("types")
    writer.beginArray()
    for description in directory.descriptions {
      description.write(count: counts[description.type.name], to: &writer)
    }
    writer.endArray()
    writer.endObject()
    return Answer(body: writer.bytes)
  }

  /// One entity.
  package func entity(
    _ key: EntityKey, parameters: [CollectionRequest.Parameter], caller: Caller
  ) async throws(Failure) -> Answer {
    try gate.admit(caller)
    let type = try directory.type(named: key.type)
    let reading = try CollectionRequest.read(
      parameters.filter { $0.name == "view" }, type: type, directory: directory, tokens: tokens)
    if let other = parameters.first(where: { $0.name != "view" }) {
      throw Failure(
        .malformedRequest, "1 of the parameters cannot be used.",
        details: [.init(place: .parameter(other.name), detail: "is not known here")])
    }
    let record = try await record(key, caller)
    let selection = reading.view?.selection.types[key.type]
    guard let document = try renderer.document(key, record, selection: selection) else {
      throw Self.missing(key)
    }
    return Answer(body: document.body)
  }

  /// A page of a type's entities.
  ///
  /// - Parameter wantsTotal: whatever the parameters say of it.
  package func collection(
    of name: String, parameters: [CollectionRequest.Parameter], wantsTotal: Bool = false,
    caller: Caller
  ) async throws(Failure) -> Answer {
    try gate.admit(caller)
    let type = try directory.type(named: name)
    let reading = try CollectionRequest.read(
      parameters, type: type, directory: directory, tokens: tokens)
    return try await page(reading, wantsTotal: wantsTotal, caller)
  }

  /// What a relationship leads to: the entity itself, or a collection of its members in stored
  /// order.
  package func relationship(
    _ field: String, of key: EntityKey, parameters: [CollectionRequest.Parameter],
    wantsTotal: Bool = false, caller: Caller
  ) async throws(Failure) -> Answer {
    try gate.admit(caller)
    _ = try directory.type(named: key.type)
    guard let shape = directory.relationship(field, of: key.type) else {
      throw Failure(.notFound, "\(key.type) has no relationship \(field).")
    }
    let record = try await record(key, caller)
    guard !record.isDeleted else { throw Self.missing(key, isDeleted: true) }
    guard let references = try renderer.references(field, of: record, key) else {
      throw Failure(.notFound, "\(field) of \(key) was never fetched.")
    }
    if shape.isToMany != true {
      guard let other = references.first else {
        throw Failure(.notFound, "\(field) of \(key) is null.")
      }
      return try await entity(other, parameters: parameters, caller: caller)
    }
    let types = Set(references.map(\.type))
    guard types.count <= 1 else {
      throw Failure(
        .notImplemented,
        "\(field) of \(key) leads to \(types.sorted().joined(separator: " and ")): lists of "
          + "several types are not served.")
    }
    let declared = if case .object(let name, _, _) = shape.value { name } else { "" }
    guard
      let name = types.first
        ?? directory.descriptions.map(\.type.name).first(where: { $0 == declared })
    else { return Answer(body: Array(#"{"items":[]}"#.utf8), total: 0) }
    let reading = try CollectionRequest.read(
      parameters, type: try directory.type(named: name), directory: directory, tokens: tokens,
      members: (references.map(\.key), "\(key.type.utf8.count):\(key.type)\(key.key)/\(field)"))
    return try await page(reading, wantsTotal: wantsTotal, caller)
  }

  // MARK: Pages

  private func page(
    _ reading: CollectionRequest.Reading, wantsTotal: Bool, _ caller: Caller
  ) async throws(Failure) -> Answer {
    var query = reading.query
    query.wantsTotal = query.wantsTotal || wantsTotal
    // A list may have changed since its last page: the member itself says where to go on.
    if query.order.terms.isEmpty, let members = query.members, let after = query.after,
      let place = members.firstIndex(of: after.key)
    {
      query.after = EntityPosition(values: [.integer(Int64(place))], key: after.key)
    }
    let asked = query
    let page = try await self.reading { () async throws(StorageError) in
      try await store.page(asked, viewer: caller.viewer, deadline: deadline)
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("items")
    writer.beginArray()
    let selection = reading.view?.selection.types[query.type.name]
    for item in page.items {
      if let document = try renderer.document(item.key, item.record, selection: selection) {
        writer.raw(document.body)
      }
    }
    writer.endArray()
    if let next = page.next {
      writer.name("next")
      writer.string(tokens.encode(next, question: reading.question))
    }
    if reading.query.wantsTotal, let total = page.total {
      writer.name("total")
      writer.int(total)
    }
    if let sections = page.sections { Self.write(sections, to: &writer) }
    writer.endObject()
    return Answer(body: writer.bytes, total: page.total)
  }

  private static func write(_ sections: [EntityPage.Section], to writer: inout JSONWriter) {
    writer.name("sections")
    writer.beginArray()
    for section in sections {
      writer.beginObject()
      writer.name("name")
      if let name = section.name { writer.string(name) } else { writer.null() }
      writer.name("offset")
      writer.int(section.offset)
      writer.name("count")
      writer.int(section.count)
      writer.endObject()
    }
    writer.endArray()
  }

  // MARK: One

  private func record(_ key: EntityKey, _ caller: Caller) async throws(Failure) -> EntityRecord {
    guard !key.key.utf8.contains(0) else { throw Self.missing(key) }
    let found = try await reading { () async throws(StorageError) in
      try await store.entity(key, viewer: caller.viewer)
    }
    guard let found else { throw Self.missing(key) }
    guard !found.isDeleted else { throw Self.missing(key, isDeleted: true) }
    return found
  }

  private static func missing(_ key: EntityKey, isDeleted: Bool = false) -> Failure {
    isDeleted
      ? Failure(.deleted, "\(key) is deleted.") : Failure(.notFound, "\(key) is not stored here.")
  }

  func reading<Found>(
    _ body: () async throws(StorageError) -> Found
  ) async throws(Failure) -> Found {
    do throws(StorageError) {
      return try await body()
    } catch {
      if error == .tooCostly {
        throw Failure(
          .tooCostly, "The query ran longer than \(deadline.limit) and was stopped.",
          retry: .never)
      }
      throw Failure(
        .storageUnavailable, "The store cannot be read now.", retry: .after, cause: "\(error)")
    }
  }
}
