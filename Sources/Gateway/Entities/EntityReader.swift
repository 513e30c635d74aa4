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
    /// Of the oldest of upstream's entities in it; nil where there is none.
    package let age: Duration?
    /// What reading and rendering took.
    package fileprivate(set) var time = Duration.zero

    init(body: [UInt8], total: Int? = nil, age: Duration? = nil) {
      self.body = body
      self.total = total
      self.age = age
      tag = EntityDigest.tag(of: body)
    }
  }

  package let directory: EntityDirectory
  let store: ReadSession
  let renderer: EntityRenderer
  let tokens: PageTokenCodec
  let deadline: QueryDeadline
  let gate: StoredDataGate
  private let lists: ListMemory
  private let clock: WallClock
  private let uptime: @Sendable () -> Duration

  /// - Parameter uptime: any clock that never goes back.
  package init(
    store: ReadSession, directory: EntityDirectory, renderer: EntityRenderer,
    tokens: PageTokenCodec, deadline: QueryDeadline, gate: StoredDataGate,
    lists: ListMemory = ListMemory(), clock: WallClock, uptime: @escaping @Sendable () -> Duration
  ) {
    self.clock = clock
    self.uptime = uptime
    self.store = store
    self.directory = directory
    self.renderer = renderer
    self.tokens = tokens
    self.deadline = deadline
    self.gate = gate
    self.lists = lists
  }

  /// A read with the time that it took.
  package func timed(
    _ read: () async throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    let start = uptime()
    var answer = try await read()
    answer.time = uptime() - start
    return answer
  }

  // MARK: Who may read

  /// Own data is read by its owner, whoever else may read what upstream gave.
  func admit(_ caller: Caller, to type: String) throws(Failure) {
    guard let local = directory.localType(named: type) else { return try gate.admit(caller) }
    try OwnDataGate.admit(caller, to: local)
  }

  /// The types that a caller may read entities of. A device that may read nothing of upstream's has
  /// its own data still.
  func readable(by caller: Caller) throws(Failure) -> [EntityTypeDescription] {
    do throws(Failure) {
      try gate.admit(caller)
      return directory.descriptions
    } catch {
      guard caller.device != nil else { throw error }
      return directory.descriptions.filter(\.isLocal)
    }
  }

  // MARK: Reads

  /// The types, with how many entities of each the caller sees.
  package func types(for caller: Caller) async throws(Failure) -> Answer {
    let descriptions = try readable(by: caller)
    let counts = try await reading { () async throws(StorageError) in
      try await store.counts(
        of: descriptions.map(\.type), viewer: caller.viewer, deadline: deadline)
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("types")
    writer.beginArray()
    for description in descriptions {
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
    try admit(caller, to: key.type)
    let reading = try CollectionRequest.read(
      parameters.filter { $0.name == "view" }, of: .init(try directory.type(named: key.type)),
      directory: directory, tokens: tokens)
    if let other = parameters.first(where: { $0.name != "view" }) {
      throw Failure(
        .malformedRequest, "1 of the parameters cannot be used.",
        details: [.init(place: .parameter(other.name), detail: "is not known here")])
    }
    let (key, record) = try await record(key, caller)
    let selection = reading.view?.selection.types[key.type]
    guard let document = try renderer.document(key, record, selection: selection) else {
      throw Self.missing(key)
    }
    return Answer(body: document.body, age: age(of: [(key, record)]))
  }

  /// A page of a type's entities.
  ///
  /// - Parameter wantsTotal: whatever the parameters say of it.
  package func collection(
    of name: String, parameters: [CollectionRequest.Parameter], wantsTotal: Bool = false,
    caller: Caller
  ) async throws(Failure) -> Answer {
    answer(
      try await list(of: name, parameters: parameters, wantsTotal: wantsTotal, caller: caller),
      to: caller)
  }

  /// As ``collection(of:parameters:wantsTotal:caller:)``, as documents.
  func list(
    of name: String, parameters: [CollectionRequest.Parameter], wantsTotal: Bool = false,
    caller: Caller
  ) async throws(Failure) -> EntityList {
    try admit(caller, to: name)
    let reading = try CollectionRequest.read(
      parameters, of: .init(try directory.type(named: name)), directory: directory,
      tokens: tokens)
    return try await list(reading, wantsTotal: wantsTotal, caller)
  }

  /// What a relationship leads to: the entity itself, or a collection of its members in stored
  /// order. Of a union's or an interface's members, filter and order take what all its types have.
  package func relationship(
    _ field: String, of key: EntityKey, parameters: [CollectionRequest.Parameter],
    wantsTotal: Bool = false, caller: Caller
  ) async throws(Failure) -> Answer {
    switch try await target(of: field, key, caller) {
    case .one(let other):
      return try await entity(other, parameters: parameters, caller: caller)
    case .many(let members):
      return answer(
        try await list(of: members, parameters: parameters, wantsTotal: wantsTotal, caller: caller),
        to: caller)
    }
  }

  /// As ``relationship(_:of:parameters:wantsTotal:caller:)`` for one that leads to many, as
  /// documents.
  func list(
    ofRelationship field: String, of key: EntityKey, parameters: [CollectionRequest.Parameter],
    caller: Caller
  ) async throws(Failure) -> EntityList {
    guard case .many(let members) = try await target(of: field, key, caller) else {
      throw Failure(.malformedRequest, "\(field) of \(key.type) leads to one entity: no list.")
    }
    return try await list(of: members, parameters: parameters, caller: caller)
  }

  // MARK: Relationships

  private enum Target {
    case one(EntityKey)
    case many(Members)
  }

  private struct Members {
    /// Nil where nothing tells what they would be: there are none.
    let subject: CollectionRequest.Subject?
    let keys: [EntityKey]
  }

  private func target(
    of field: String, _ key: EntityKey, _ caller: Caller
  ) async throws(Failure) -> Target {
    try admit(caller, to: key.type)
    _ = try directory.type(named: key.type)
    guard let shape = directory.relationship(field, of: key.type),
      case .object(let declared, _, _) = shape.value
    else { throw Failure(.notFound, "\(key.type) has no relationship \(field).") }
    let (key, record) = try await record(key, caller)
    guard let stored = try renderer.references(field, of: record, key)
    else { throw Failure(.notFound, "\(field) of \(key) was never fetched.") }
    let known = try await self.known(Set(stored.compactMap { TemporaryID($0.key) }), to: caller)
    let references = stored.map { key in TemporaryID(key.key).flatMap { known[$0] } ?? key }
    if shape.isToMany != true {
      guard let other = references.first else {
        throw Failure(.notFound, "\(field) of \(key) is null.")
      }
      return .one(other)
    }
    let owner = "\(key.type.utf8.count):\(key.type)\(key.key)/\(field)"
    return .many(
      Members(
        subject: directory.subject(declared: declared, members: references, owner: owner),
        keys: references))
  }

  private func list(
    of members: Members, parameters: [CollectionRequest.Parameter], wantsTotal: Bool = false,
    caller: Caller
  ) async throws(Failure) -> EntityList {
    guard let subject = members.subject else { return EntityList(documents: [], total: 0) }
    for type in subject.shown { try admit(caller, to: type) }
    let reading = try CollectionRequest.read(
      parameters, of: subject, directory: directory, tokens: tokens)
    return try await list(
      reading, mixed: subject.members == nil ? members.keys : nil, wantsTotal: wantsTotal, caller)
  }

  // MARK: Pages

  /// - Parameter mixed: the members, where they may be of several types.
  private func list(
    _ reading: CollectionRequest.Reading, mixed: [EntityKey]? = nil, wantsTotal: Bool,
    _ caller: Caller
  ) async throws(Failure) -> EntityList {
    var query = reading.query
    query.wantsTotal = query.wantsTotal || wantsTotal
    // A list may have changed since its last page: the member itself says where to go on.
    if query.order.terms.isEmpty, let members = query.members, let after = query.after,
      let place = members.firstIndex(of: after.key)
    {
      query.after = EntityPosition(values: [.integer(Int64(place))], key: after.key)
    }
    query.filter = try await resolved(query.filter, caller)
    let asked = query
    let page = try await self.reading { () async throws(StorageError) in
      if let mixed {
        try await store.page(
          MixedQuery(members: mixed, like: asked), viewer: caller.viewer, deadline: deadline)
      } else {
        try await store.page(asked, viewer: caller.viewer, deadline: deadline)
      }
    }
    var documents: [EntityDocument] = []
    for item in page.items {
      let selection = reading.view?.selection.types[item.key.type]
      if let document = try renderer.document(item.key, item.record, selection: selection) {
        documents.append(document)
      }
    }
    return EntityList(
      documents: documents,
      next: page.next.map { tokens.encode($0, question: reading.question) }, total: page.total,
      showsTotal: reading.query.wantsTotal,
      sections: page.sections.map { told($0, of: reading.query) },
      age: age(of: page.items.map { ($0.key, $0.record) }))
  }

  /// Sections by a date, named in its format.
  private func told(_ sections: [EntityPage.Section], of query: EntityQuery) -> [EntityPage.Section]
  {
    guard let dates = query.type.columns.first(where: { $0.name == query.section })?.dates else {
      return sections
    }
    return sections.map {
      .init(name: $0.name.map { dates.toldText($0) }, offset: $0.offset, count: $0.count)
    }
  }

  /// Devices may come back with the tag and ask for what changed.
  private func answer(_ list: EntityList, to caller: Caller) -> Answer {
    let answer = Answer(body: list.body, total: list.total, age: list.age)
    if caller.device != nil {
      lists.keep(ListVector(list.documents), tag: answer.tag, seenBy: caller.viewer)
    }
    return answer
  }

  // MARK: One

  /// - Returns: the entity under its real key, where a device asks by a temporary id of its own.
  private func record(
    _ key: EntityKey, _ caller: Caller
  ) async throws(Failure) -> (EntityKey, EntityRecord) {
    guard !key.key.utf8.contains(0) else { throw Self.missing(key) }
    let key = try await resolved(key, caller)
    let found = try await reading { () async throws(StorageError) in
      try await store.entity(key, viewer: caller.viewer)
    }
    guard let found else { throw Self.missing(key) }
    guard !found.isDeleted else { throw Self.missing(key, isDeleted: true) }
    return (key, found)
  }

  private func resolved(_ key: EntityKey, _ caller: Caller) async throws(Failure) -> EntityKey {
    guard let id = TemporaryID(key.key) else { return key }
    return try await known([id], to: caller)[id] ?? key
  }

  private func resolved(_ filter: Filter?, _ caller: Caller) async throws(Failure) -> Filter? {
    guard let filter else { return nil }
    return filter.resolving(try await known(filter.temporaryIDs, to: caller))
  }

  /// What temporary ids of the caller's device stand for.
  private func known(
    _ ids: Set<TemporaryID>, to caller: Caller
  ) async throws(Failure) -> [TemporaryID: EntityKey] {
    guard !ids.isEmpty, let device = caller.device?.id else { return [:] }
    return try await reading { () async throws(StorageError) in
      try await store.resolve(Array(ids), of: device)
    }
  }

  /// What upstream said may be old; own data is what it is.
  private func age(of items: [(EntityKey, EntityRecord)]) -> Duration? {
    let now = clock.now()
    return items.filter { directory.localType(named: $0.0.type) == nil }
      .compactMap { $0.1.received?.elapsed(until: now) }.max()
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
      if let failure = Failure(querying: error, "The query", deadline: deadline) { throw failure }
      throw Failure(
        .storageUnavailable, "The store cannot be read now.", retry: .after, cause: "\(error)")
    }
  }
}
