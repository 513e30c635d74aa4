import Filtering
import Model
import Storage
import Upstream

/// Reads of lists that clients follow: a whole page, and single rows of it after a change.
extension EntityReader {
  /// Throws if the caller may not read the list, or its parameters are invalid, as far as that can be
  /// seen without a read.
  func admit(_ caller: Caller, to question: ListQuestion) throws(Failure) {
    switch question.subject {
    case .type(let name):
      try admit(
        caller, toAllOf: try reading(of: name, parameters: question.parameters, caller))
    case .entity(let key):
      try admit(caller, to: key.type)
      try admit(caller, toAllOf: try form(of: key.type, question))
    case .relationship(let field, let key):
      try admit(caller, to: key.type)
      let types = directory.types(ofRelationship: field, of: key.type)
      for type in types { try admit(caller, to: type) }
      // Whether the parameters are valid, the read reports.
      guard let subject = directory.subject(ofRelationship: field, of: key.type) else {
        let parameters = CollectionRequest.ofOneEntity(question.parameters)
        for type in types {
          let form = try? CollectionRequest.form(parameters, of: [type], directory: directory)
          if let form { try admit(caller, toAllOf: form) }
        }
        return
      }
      // A page token is bound to the list itself, and reaches no types.
      let reading = try? CollectionRequest.read(
        question.parameters.filter { $0.name != "after" }, of: subject, directory: directory,
        tokens: tokens, now: clock.now())
      if let reading { try admit(caller, toAllOf: reading) }
    }
  }

  /// Reads a list whole.
  func follow(
    _ question: ListQuestion, _ caller: Caller
  ) async throws(Failure) -> FollowedList {
    switch question.subject {
    case .type(let name):
      let reading = try reading(of: name, parameters: question.parameters, caller)
      guard case .types(let types)? = directory.source(ofAll: name) else {
        return try await follow(reading, ListDependencies(types: [name]), caller)
      }
      return try await follow(
        reading, mixed: .types(types), ListDependencies(types: Set(types)), caller)
    case .entity(let given):
      let key = directory.canonical(given)
      return try await follow(key, question, ListDependencies(keys: [key]), caller)
    case .relationship(let field, let given):
      let key = directory.canonical(given)
      var dependencies = ListDependencies(keys: [key])
      dependencies.followsDevice = caller.device != nil && TemporaryID(key.key) != nil
      let target = try await target(of: field, key, caller)
      // The members can have been stored under temporary ids, which the queue replaces.
      if caller.device != nil, target.isResolved { dependencies.followsDevice = true }
      switch target.target {
      case .one(let other):
        dependencies.keys.insert(other)
        return try await follow(other, question, dependencies, caller)
      case .many(let members):
        return try await follow(members, question, dependencies, caller)
      }
    }
  }

  /// Returns the list after some of the entities it depends on have changed, by reading these alone.
  ///
  /// - Parameters:
  ///   - changed: all entities that can have changed.
  ///   - shared: what is read once for all lists.
  func follow(
    _ former: FollowedList, changed: Set<EntityKey>, _ shared: ChangedEntities,
    at moment: ChangedEntities.Moment, _ caller: Caller
  ) async throws(Failure) -> ListStep {
    guard var rows = former.rows, !former.dependencies.followsDevice,
      former.dependencies.keys.isDisjoint(with: changed)
    else { return .unknown }
    let type = rows.query.type.name
    var keys = changed.filter { $0.type.equalsExactly(type) }
    if rows.query.members != nil {
      keys = keys.filter { rows.places[ExactText($0.key)] != nil }
    }
    let items = try await matches(
      rows.query, Array(keys), shared, at: moment, caller
    ).map { item in
      EntityPage.Item(
        key: item.key, record: item.record, position: Self.position(of: item, in: rows))
    }
    let isCounted = rows.query.wantsTotal || rows.query.section != nil
    guard
      isCounted
        || rows.window.isConcerned(changed: changed, present: items.map(\.position))
    else { return .same }
    let present = try self.rows(of: EntityPage(items: items), rows.reading) { $0.position }
    guard rows.window.apply(changed: changed, present: present),
      let documents = rows.window.documents
    else { return .unknown }
    var around = EntityPage(items: [], next: rows.window.next)
    if isCounted {
      var counted = rows.query
      counted.limit = 0
      let counts = try await self.page(counted, caller)
      around.total = counts.total
      around.sections = counts.sections
    }
    let list = list(documents, around, rows.reading)
    return .next(FollowedList(list, dependencies: former.dependencies, rows: rows))
  }

  /// The position of an entity in a list's own order.
  private static func position(
    of item: EntityPage.Item, in rows: FollowedList.Rows
  ) -> EntityPosition {
    if let place = rows.places[ExactText(item.key.key)], rows.window.isByPlace {
      return EntityPosition(values: [.integer(Int64(place))], key: item.key.key)
    }
    return rows.window.order.terms.isEmpty
      ? EntityPosition(values: [], key: item.key.key) : item.position
  }

  // MARK: Pages

  private func follow(
    _ members: Members, _ question: ListQuestion, _ dependencies: ListDependencies,
    _ caller: Caller
  ) async throws(Failure) -> FollowedList {
    var dependencies = dependencies
    guard let subject = members.subject else {
      return FollowedList(
        EntityList(documents: [], total: 0), dependencies: dependencies, rows: nil)
    }
    for type in subject.shown { try admit(caller, to: type) }
    dependencies.types.formUnion(subject.shown)
    let reading = try read(question.parameters, of: subject, members)
    guard subject.members != nil || members.condition != nil else {
      return try await follow(reading, mixed: .members(members.keys), dependencies, caller)
    }
    return try await follow(reading, dependencies, caller)
  }

  /// Reads a list of entities of several types.
  private func follow(
    _ reading: CollectionRequest.Reading, mixed: MixedQuery.Source,
    _ dependencies: ListDependencies, _ caller: Caller
  ) async throws(Failure) -> FollowedList {
    var dependencies = dependencies
    dependencies.types.formUnion(reading.query.reachedTypes)
    if caller.device != nil, reading.query.filter?.temporaryIDs.isEmpty == false {
      dependencies.followsDevice = true
    }
    let page = try await page(of: reading, mixed: mixed, wantsTotal: false, caller)
    return FollowedList(page.list, dependencies: dependencies.adding(page.nested), rows: nil)
  }

  private func follow(
    _ reading: CollectionRequest.Reading, _ dependencies: ListDependencies, _ caller: Caller
  ) async throws(Failure) -> FollowedList {
    try admit(caller, toAllOf: reading)
    var dependencies = dependencies
    dependencies.types.formUnion(reading.query.reachedTypes)
    if caller.device != nil, reading.query.filter?.temporaryIDs.isEmpty == false {
      dependencies.followsDevice = true
    }
    let query = try await query(of: reading, caller)
    // The rows of a page with an offset depend on the number of rows before it; with a key path on other
    // entities, those with nested entities on these, and with now() on the time.
    guard query.offset == 0, query.limit > 0, query.reachedTypes.isEmpty,
      query.filter?.namesNow != true, !reading.form.nests
    else {
      let page = try await page(of: reading, wantsTotal: false, caller)
      return FollowedList(page.list, dependencies: dependencies.adding(page.nested), rows: nil)
    }
    var asked = query
    asked.limit = ListWindow.capacity(limit: query.limit)
    let page = try await page(asked, caller)
    let rows = try rows(of: page, reading) { $0.position }
    let window = ListWindow(of: query, rows: rows, hasMore: page.next != nil)
    let places = Dictionary(
      (query.members ?? []).enumerated().map { (ExactText($1), $0) },
      uniquingKeysWith: { first, _ in first })
    let around = EntityPage(
      items: [], next: window.next, total: page.total, sections: page.sections)
    return FollowedList(
      list(window.shown.compactMap(\.document), around, reading), dependencies: dependencies,
      rows: .init(reading: reading, query: query, places: places, window: window))
  }

  private func rows(
    of page: EntityPage, _ reading: CollectionRequest.Reading,
    position: (EntityPage.Item) -> EntityPosition
  ) throws(Failure) -> [ListWindow.Row] {
    var rows: [ListWindow.Row] = []
    rows.reserveCapacity(page.items.count)
    for item in page.items {
      let selection = reading.form.selection(of: item.key.type)
      if let document = try renderer.document(item.key, item.record, selection: selection) {
        rows.append(ListWindow.Row(position: position(item), document: document))
      }
    }
    return rows
  }

  // MARK: One entity

  private func follow(
    _ key: EntityKey, _ question: ListQuestion, _ dependencies: ListDependencies,
    _ caller: Caller
  ) async throws(Failure) -> FollowedList {
    try admit(caller, to: key.type)
    var dependencies = dependencies
    let form = try form(of: key.type, question)
    try admit(caller, toAllOf: form)
    let (real, record) = try await record(key, caller)
    // A device can ask by a temporary id.
    dependencies.keys.insert(real)
    if caller.device != nil, TemporaryID(key.key) != nil { dependencies.followsDevice = true }
    let read = try await documents(of: [(real, record)], as: form, isFollowed: true, caller)
    return FollowedList(
      of: read.documents.first ?? nil, dependencies: dependencies.adding(read.dependencies))
  }

  /// The form of one entity; parameters of lists are faults.
  private func form(of type: String, _ question: ListQuestion) throws(Failure) -> EntityForm {
    _ = try directory.type(named: type)
    return try CollectionRequest.form(question.parameters, of: [type], directory: directory)
  }
}
