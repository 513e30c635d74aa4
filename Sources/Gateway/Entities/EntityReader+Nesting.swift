import Filtering
import LosslessJSON
import Model
import Storage

/// The documents of some entities, with everything that they were read from besides these.
struct NestedDocuments: Sendable {
  /// In the order of the entities; nil for one that cannot be shown.
  var documents: [EntityDocument?]
  /// The nested entities.
  var records: [(key: EntityKey, record: EntityRecord)] = []
  var dependencies = ListDependencies()
}

extension EntityReader {
  /// Renders entities in a form, with the entities that it nests, read level by level: one query of the
  /// store for each level. The caller must be admitted to the form's ``EntityForm/reachedTypes``.
  ///
  /// - Parameter isFollowed: whether the result's dependencies are needed.
  func documents(
    of items: [(key: EntityKey, record: EntityRecord)], as form: EntityForm,
    isFollowed: Bool = false, _ caller: Caller
  ) async throws(Failure) -> NestedDocuments {
    guard form.nests else {
      var documents: [EntityDocument?] = []
      documents.reserveCapacity(items.count)
      for (key, record) in items {
        documents.append(
          try renderer.document(key, record, selection: form.selection(of: key.type)))
      }
      return NestedDocuments(documents: documents)
    }
    var run = NestingRun(
      form, isFollowed: isFollowed,
      try items.map { item throws(Failure) in
        try renderer.stored(item.key, item.record)
      })
    while run.ask() {
      try run.admitSize()
      let ids = caller.device == nil ? [] : run.temporaryIDs
      if !ids.isEmpty { run.resolve(try await known(ids, to: caller)) }
      let queries = run.queries
      let found = try await reading { () async throws(StorageError) in
        try await store.related(queries, viewer: caller.viewer, deadline: deadline)
      }
      try run.take(found, renderer)
    }
    return run.documents(renderer)
  }
}

/// One rendering of nested entities: groups of entities that are shown in the same form, with the
/// relationships between them.
///
/// A value without I/O: ``ask()`` collects what the next level must read, ``take(_:_:)`` gets it.
private struct NestingRun {
  /// The references of one level.
  private static let referencesMax = 200_000
  /// The members beyond its limit that a list in stored order is searched for ones to show, in place of
  /// those that are not stored or deleted.
  private static let surplusMax = 1_000
  /// Lists longer than this make a read depend on all entities of their types.
  private static let keysOfListMax = 256
  /// The same for all entities nested in one read.
  private static let keysMax = 2_000

  /// Entities in one form, each once.
  private struct Group {
    let form: EntityForm
    let entities: [EntityRenderer.StoredEntity?]
    /// By entity.
    var links: [[Link]]

    init(_ form: EntityForm, _ entities: [EntityRenderer.StoredEntity?]) {
      self.form = form
      self.entities = entities
      links = [[Link]](repeating: [], count: entities.count)
    }
  }

  /// What a relationship of one entity leads to.
  private struct Link {
    enum Value {
      case null, missing
      case one(Int)
      case unstored(Int)
      case many([Int], hasMore: Bool)
    }

    let name: String
    /// The index of the group that the value's indexes are in.
    let group: Int
    let value: Value
  }

  /// One relationship of all entities of a level that show it in the same form.
  private struct Question {
    let relationship: NestedRelationship
    var owners: [(group: Int, entity: Int, key: EntityKey)] = []
    /// By owner; nil if the relationship was never fetched.
    var references: [[EntityKey]?] = []
  }

  private let isFollowed: Bool
  private var groups: [Group]
  /// The groups whose relationships have not been read.
  private var level: Range<Int>
  private var questions: [Question] = []
  private var referenceCount = 0
  private var result = NestedDocuments(documents: [])

  init(_ form: EntityForm, isFollowed: Bool, _ entities: [EntityRenderer.StoredEntity?]) {
    self.isFollowed = isFollowed
    groups = [Group(form, entities)]
    level = 0..<1
  }

  // MARK: Asking

  /// Collects the relationships of the next level.
  ///
  /// - Returns: whether there are any.
  mutating func ask() -> Bool {
    questions = []
    referenceCount = 0
    var places: [ObjectIdentifier: Int] = [:]
    for index in level {
      let form = groups[index].form
      for (place, entity) in groups[index].entities.enumerated() {
        guard let entity else { continue }
        for relationship in form.relationships(of: entity.key.type) {
          let identity = ObjectIdentifier(relationship)
          if places[identity] == nil {
            places[identity] = questions.count
            questions.append(Question(relationship: relationship))
          }
          guard let question = places[identity], referenceCount <= Self.referencesMax else {
            continue
          }
          let references = Self.references(of: relationship, entity)
          referenceCount += references?.count ?? 0
          questions[question].owners.append((index, place, entity.key))
          questions[question].references.append(references)
        }
      }
    }
    level = groups.count..<groups.count
    return !questions.isEmpty
  }

  /// Returns the entities that a relationship can lead to, as far as they are needed; nil if it was never
  /// fetched.
  private static func references(
    of relationship: NestedRelationship, _ entity: EntityRenderer.StoredEntity
  ) -> [EntityKey]? {
    if relationship.link != nil { return [] }
    return EntityRenderer.references(
      relationship.name, storedAs: relationship.storageName, in: entity.layers,
      countMax: relationship.order.terms.isEmpty ? relationship.limit + surplusMax : .max)
  }

  /// The temporary ids among the references.
  var temporaryIDs: Set<TemporaryID> {
    var ids: Set<TemporaryID> = []
    for key in questions.lazy.flatMap(\.references).flatMap({ $0 ?? [] }) {
      if let id = TemporaryID(key.key) { ids.insert(id) }
    }
    return ids
  }

  /// Replaces temporary ids of the caller's device by the ids of the entities they stand for.
  mutating func resolve(_ known: [TemporaryID: EntityKey]) {
    result.dependencies.followsDevice = true
    for question in questions.indices {
      for owner in questions[question].references.indices {
        questions[question].references[owner] = questions[question].references[owner]?.map { key in
          TemporaryID(key.key).flatMap { known[$0] } ?? key
        }
      }
    }
  }

  /// Throws if the level has more references than ``referencesMax``.
  func admitSize() throws(Failure) {
    guard referenceCount > Self.referencesMax else { return }
    let names = Set(questions.map(\.relationship.name)).sorted().joined(separator: ", ")
    throw Failure(
      .tooCostly,
      "The lists of this page (\(names)) refer to more than \(Self.referencesMax) entities: lower "
        + "limit, or leave out the order of long lists.", retry: .never)
  }

  var queries: [RelatedQuery] {
    questions.map { question in
      let relationship = question.relationship
      let source: RelatedQuery.Source =
        if let link = relationship.link {
          .naming(
            type: link.type, column: link.column,
            values: question.owners.map { link.value(naming: $0.key) ?? .null })
        } else {
          .members(question.references.map { $0 ?? [] })
        }
      return RelatedQuery(source, order: relationship.order, limit: relationship.limit)
    }
  }

  // MARK: Taking

  mutating func take(
    _ found: RelatedEntities, _ renderer: EntityRenderer
  ) throws(Failure) {
    for (question, lists) in zip(questions, found.lists) {
      if isFollowed { noteDependencies(of: question) }
      let relationship = question.relationship
      var places = [Int?](repeating: nil, count: found.entities.count)
      var entities: [EntityRenderer.StoredEntity?] = []
      for place in lists.lazy.flatMap(\.places) where places[place] == nil {
        let (key, record) = found.entities[place]
        places[place] = entities.count
        entities.append(try renderer.stored(key, record))
        result.records.append((key, record))
      }
      for (index, owner) in question.owners.enumerated() where index < lists.count {
        var value = Self.value(
          of: relationship, question.references[index], lists[index], places)
        if case .missing = value, let key = question.references[index]?.first,
          let entity = renderer.unstored(key)
        {
          value = .unstored(entities.count)
          entities.append(entity)
        }
        groups[owner.group].links[owner.entity].append(
          Link(name: relationship.responseName, group: groups.count, value: value))
      }
      groups.append(Group(relationship.form, entities))
    }
    level = level.lowerBound..<groups.count
  }

  /// - Parameter places: the indexes in the group of what was found.
  private static func value(
    of relationship: NestedRelationship, _ references: [EntityKey]?, _ list: RelatedList,
    _ places: [Int?]
  ) -> Link.Value {
    guard let references else { return .missing }
    if relationship.isToMany {
      // A list that was cut may have others.
      let isCut =
        relationship.order.terms.isEmpty && references.count == relationship.limit + surplusMax
      return .many(list.places.compactMap { places[$0] }, hasMore: list.hasMore || isCut)
    }
    if let place = list.places.first.flatMap({ places[$0] }) { return .one(place) }
    return references.isEmpty || list.isFirstDeleted ? .null : .missing
  }

  /// Notes what can change the relationship: the entities that its lists name, or all of their types.
  private mutating func noteDependencies(of question: Question) {
    let relationship = question.relationship
    let keys = question.references.lazy.flatMap { $0 ?? [] }
    let isLong = question.references.contains { ($0?.count ?? 0) > Self.keysOfListMax }
    result.dependencies.types.formUnion(relationship.order.reachedTypes)
    if relationship.link != nil || !relationship.order.terms.isEmpty || isLong {
      result.dependencies.types.formUnion(relationship.types)
    } else {
      result.dependencies.keys.formUnion(keys)
    }
    if result.dependencies.keys.count > Self.keysMax {
      result.dependencies.types.formUnion(result.dependencies.keys.map(\.type))
      result.dependencies.keys = []
    }
  }

  // MARK: Rendering

  /// Renders the last level first. An entity that several others lead to is rendered once.
  func documents(_ renderer: EntityRenderer) -> NestedDocuments {
    var rendered = [[EntityDocument?]](repeating: [], count: groups.count)
    for index in groups.indices.reversed() {
      let group = groups[index]
      rendered[index] = zip(group.entities, group.links).map { entity, links in
        guard let entity else { return nil }
        return renderer.document(
          entity, selection: group.form.selection(of: entity.key.type),
          showsKey: group.form.showsKey,
          nested: links.map { link in
            NestedContent(name: link.name, value: Self.content(of: link, rendered[link.group]))
          })
      }
    }
    var result = result
    result.documents = rendered[0]
    return result
  }

  private static func content(
    of link: Link, _ documents: [EntityDocument?]
  ) -> NestedContent.Value {
    switch link.value {
    case .null: .null
    case .missing: .missing
    case .one(let place): documents[place].map { .entity($0) } ?? .missing
    case .unstored(let place): documents[place].map { .unstored($0) } ?? .missing
    case .many(let places, let hasMore):
      .list(places.compactMap { documents[$0] }, hasMore: hasMore)
    }
  }
}
