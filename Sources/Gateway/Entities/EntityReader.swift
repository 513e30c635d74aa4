import Filtering
import LosslessJSON
package import Model
package import Storage
import Upstream

/// Reads entities as REST: one by its id, collections, and relationships. It never calls upstream
/// and cannot write.
package struct EntityReader: Sendable {
  /// A body with the data for its headers.
  package struct Response: Sendable {
    package let body: [UInt8]
    /// The opaque part of the strong entity tag, without quotes.
    package let tag: String
    package let total: Int?
    /// The age of the oldest upstream entity in it; nil if there is none.
    package let age: Duration?
    /// The time spent reading and rendering.
    package fileprivate(set) var time = Duration.zero

    init(body: [UInt8], tag: String? = nil, total: Int? = nil, age: Duration? = nil) {
      self.body = body
      self.total = total
      self.age = age
      self.tag = tag ?? EntityDigest.tag(of: body)
    }
  }

  package let directory: EntityDirectory
  let store: ReadSession
  let renderer: EntityRenderer
  let tokens: PageTokenCodec
  let deadline: QueryDeadline
  let gate: StoredDataGate
  private let lists: ListMemory
  let clock: WallClock
  private let uptime: @Sendable () -> Duration

  /// - Parameter uptime: a monotonic clock.
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

  /// Runs a read and sets its ``Response/time``.
  package func timed(
    _ read: () async throws(Failure) -> Response
  ) async throws(Failure) -> Response {
    let start = uptime()
    var response = try await read()
    response.time = uptime() - start
    return response
  }

  // MARK: Authorisation

  /// Throws if the caller may not read the type. Own data is read by its owner only, whatever the
  /// rule for upstream data.
  func admit(_ caller: Caller, to type: String) throws(Failure) {
    guard let local = directory.localType(named: type) else {
      return try gate.admit(caller, types: [type])
    }
    try OwnDataGate.admit(caller, to: local)
  }

  /// Throws if the caller may not read an entity that is nested, or that the filter or an order is evaluated
  /// on: a value that decides whether or where another entity is listed is told by the list.
  func admit(_ caller: Caller, toAllOf reading: CollectionRequest.Reading) throws(Failure) {
    for type in reading.query.reachedTypes.sorted() { try admit(caller, to: type) }
    try admit(caller, toAllOf: reading.form)
  }

  /// Throws if the caller may not read an entity that the form nests or orders nested ones by.
  func admit(_ caller: Caller, toAllOf form: EntityForm) throws(Failure) {
    for type in form.reachedTypes.sorted() { try admit(caller, to: type) }
  }

  /// Returns the types whose entities the caller may read. A device that may read no upstream data
  /// can still read its own data.
  func readable(by caller: Caller) throws(Failure) -> [EntityTypeDescription] {
    do throws(Failure) {
      try gate.admit(caller)
      return directory.descriptions
    } catch {
      let open = directory.descriptions.filter { gate.isOpen($0.type.name, to: caller) }
      guard !open.isEmpty || caller.device != nil else { throw error }
      return open
    }
  }

  /// Returns whether a type has a relationship of this name.
  package func hasRelationship(_ field: String, of type: String) -> Bool {
    directory.relationship(field, of: type) != nil
  }

  // MARK: Reads

  /// Returns the types, with the number of entities of each that the caller sees.
  package func types(for caller: Caller) async throws(Failure) -> Response {
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
    directory.writeMixed(of: Set(descriptions.map(\.type.name)), to: &writer)
    writer.endObject()
    return Response(body: writer.bytes)
  }

  /// Returns one entity.
  package func entity(
    _ key: EntityKey, parameters: [CollectionRequest.Parameter], caller: Caller
  ) async throws(Failure) -> Response {
    try admit(caller, to: key.type)
    _ = try directory.type(named: key.type)
    let form = try CollectionRequest.form(parameters, of: [key.type], directory: directory)
    try admit(caller, toAllOf: form)
    let (key, record) = try await record(key, caller)
    let read = try await documents(of: [(key, record)], as: form, caller)
    guard let document = read.documents.first ?? nil else { throw Self.missing(key) }
    return Response(
      body: document.body, tag: document.tag, age: age(of: [(key, record)] + read.records))
  }

  /// Returns a page of a type's entities.
  ///
  /// - Parameter wantsTotal: counts the total even if the parameters do not request it.
  package func collection(
    of name: String, parameters: [CollectionRequest.Parameter], wantsTotal: Bool = false,
    caller: Caller
  ) async throws(Failure) -> Response {
    response(
      try await list(of: name, parameters: parameters, wantsTotal: wantsTotal, caller: caller),
      to: caller)
  }

  /// Returns the page of ``collection(of:parameters:wantsTotal:caller:)`` as documents.
  func list(
    of name: String, parameters: [CollectionRequest.Parameter], wantsTotal: Bool = false,
    caller: Caller
  ) async throws(Failure) -> EntityList {
    let reading = try reading(of: name, parameters: parameters, caller)
    return try await list(
      reading, mixed: directory.source(ofAll: name), wantsTotal: wantsTotal, caller)
  }

  /// Reads a request for all entities of a type, or of the types of an interface or a union.
  func reading(
    of name: String, parameters: [CollectionRequest.Parameter], _ caller: Caller
  ) throws(Failure) -> CollectionRequest.Reading {
    for type in directory.concreteTypes(of: name) { try admit(caller, to: type) }
    return try CollectionRequest.read(
      parameters, of: try directory.subject(ofAll: name), directory: directory, tokens: tokens,
      now: clock.now())
  }

  // MARK: Pages

  /// - Parameter mixed: the entities, if they can be of several types.
  func list(
    _ reading: CollectionRequest.Reading, mixed: MixedQuery.Source? = nil, wantsTotal: Bool,
    _ caller: Caller
  ) async throws(Failure) -> EntityList {
    try await page(
      of: reading, mixed: mixed, wantsTotal: wantsTotal, isFollowed: false, caller
    ).list
  }

  /// Reads a page.
  ///
  /// - Parameter isFollowed: whether its dependencies are needed.
  /// - Returns: the page, and what is nested in it depends on.
  func page(
    of reading: CollectionRequest.Reading, mixed: MixedQuery.Source? = nil, wantsTotal: Bool,
    isFollowed: Bool = true, _ caller: Caller
  ) async throws(Failure) -> (list: EntityList, nested: ListDependencies) {
    try admit(caller, toAllOf: reading)
    var query = try await query(of: reading, caller)
    query.wantsTotal = query.wantsTotal || wantsTotal
    let page = try await page(query, mixed: mixed, caller)
    let read = try await documents(
      of: page.items.map { ($0.key, $0.record) }, as: reading.form, isFollowed: isFollowed, caller)
    let list = list(read.documents.compactMap { $0 }, page, reading, nested: read.records)
    return (list, read.dependencies)
  }

  /// Returns a request's query as it is run now, with temporary ids resolved.
  func query(
    of reading: CollectionRequest.Reading, _ caller: Caller
  ) async throws(Failure) -> EntityQuery {
    var query = reading.query
    // The list can have changed since the last page: it continues after the member itself.
    if query.order.terms.isEmpty, let members = query.members, let after = query.after,
      let place = members.firstIndex(of: after.key)
    {
      query.after = EntityPosition(values: [.integer(Int64(place))], key: after.key)
    }
    query.filter = try await resolved(query.filter, caller)
    return query
  }

  /// - Parameter mixed: the entities, if they can be of several types.
  func page(
    _ query: EntityQuery, mixed: MixedQuery.Source? = nil, _ caller: Caller
  ) async throws(Failure) -> EntityPage {
    try await reading { () async throws(StorageError) in
      if let mixed {
        try await store.page(
          MixedQuery(mixed, like: query), viewer: caller.viewer, deadline: deadline)
      } else {
        try await store.page(query, viewer: caller.viewer, deadline: deadline)
      }
    }
  }

  /// Returns a page's documents with everything that is next to them.
  ///
  /// - Parameter nested: the entities nested in them.
  func list(
    _ documents: [EntityDocument], _ page: EntityPage, _ reading: CollectionRequest.Reading,
    nested: [(key: EntityKey, record: EntityRecord)] = []
  ) -> EntityList {
    EntityList(
      documents: documents,
      next: page.next.map { tokens.encode($0, question: reading.question) }, total: page.total,
      showsTotal: reading.query.wantsTotal,
      sections: page.sections.map { formatted($0, of: reading.query) },
      age: age(of: page.items.map { ($0.key, $0.record) } + nested))
  }

  /// Returns the sections; names of date sections are in the column's date format. Of several paths that one
  /// stands for, it is the format of the first that has one.
  private func formatted(
    _ sections: [EntityPage.Section], of query: EntityQuery
  ) -> [EntityPage.Section] {
    let paths = query.order.terms.first?.paths ?? []
    let formats = paths.lazy.compactMap { path in
      let type = path.hops.last.map { directory.graph.type(named: $0.target) } ?? query.type
      return type?.columns.first { $0.name == path.field }?.dates
    }
    guard let dates = formats.first else { return sections }
    return sections.map {
      .init(name: $0.name.map { dates.formattedText($0) }, offset: $0.offset, count: $0.count)
    }
  }

  /// Returns the response. Lists sent to devices are remembered, since a device can come back with
  /// the tag and request a diff.
  func response(_ list: EntityList, to caller: Caller) -> Response {
    let response = Response(body: list.body, total: list.total, age: list.age)
    if caller.device != nil {
      lists.keep(ListVector(list.documents), tag: response.tag, seenBy: caller.viewer)
    }
    return response
  }

  // MARK: One entity

  /// Reads one entity.
  ///
  /// - Returns: the entity under its real key, even if a device requested it by a temporary id.
  func record(
    _ key: EntityKey, _ caller: Caller
  ) async throws(Failure) -> (EntityKey, EntityRecord) {
    guard !key.key.utf8.contains(0) else { throw Self.missing(key) }
    let key = try await resolved(directory.canonical(key), caller)
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

  /// Returns the entities that temporary ids of the caller's device stand for.
  func known(
    _ ids: Set<TemporaryID>, to caller: Caller
  ) async throws(Failure) -> [TemporaryID: EntityKey] {
    guard !ids.isEmpty, let device = caller.device?.id else { return [:] }
    return try await reading { () async throws(StorageError) in
      try await store.resolve(Array(ids), of: device)
    }
  }

  /// Returns the age of the oldest upstream entity; own data has no age.
  private func age(of items: [(key: EntityKey, record: EntityRecord)]) -> Duration? {
    let now = clock.now()
    return items.filter { directory.localType(named: $0.key.type) == nil }
      .compactMap { $0.record.received?.elapsed(until: now) }.max()
  }

  private static func missing(_ key: EntityKey, isDeleted: Bool = false) -> Failure {
    isDeleted
      ? Failure(.deleted, "\(key) is deleted.") : Failure(.notFound, "\(key) is not stored.")
  }

  func reading<Found>(
    _ body: () async throws(StorageError) -> Found
  ) async throws(Failure) -> Found {
    do throws(StorageError) {
      return try await body()
    } catch {
      if let failure = Failure(querying: error, "The query", deadline: deadline) { throw failure }
      throw Failure(
        .storageUnavailable, "The store cannot be read; retry later.", retry: .after,
        cause: "\(error)")
    }
  }
}

extension Failure {
  /// The failure of a query that the caller wrote; nil if the store itself is at fault.
  ///
  /// - Parameter subject: the query, as the subject of a sentence: "The query".
  init?(querying error: StorageError, _ subject: String, deadline: QueryDeadline) {
    switch error {
    case .tooCostly:
      self.init(
        .tooCostly, "\(subject) ran longer than \(deadline.limit) and was stopped.",
        retry: .never)
    case .overloaded:
      self.init(
        .overloaded, "Too many queries are waiting for the store; retry later.", retry: .after,
        retryAfter: .seconds(1))
    default:
      return nil
    }
  }
}
