package import Filtering
package import Model
package import SyncScheduler

/// A read-only view of the store, for use cases that only read: it has no method that writes data.
///
/// Two methods make the store record something of its own, nothing from a client:
/// ``keepHistory(ofTypes:upTo:)`` and ``probe()``.
package struct ReadSession: Sendable {
  private let store: Store

  init(_ store: Store) {
    self.store = store
  }

  /// See ``Store/damage``.
  package var damage: StorageError? { store.damage }

  /// See ``Store/fullCount``.
  package var fullCount: Int { store.fullCount }

  /// See ``Store/queueLoad()``.
  package func queueLoad() async throws(StorageError) -> QueueLoad {
    try await store.queueLoad()
  }

  /// See ``Store/fileBuckets()``.
  package func fileBuckets() async throws(StorageError) -> [BucketDescription] {
    try await store.fileBuckets()
  }

  /// See ``Store/head``.
  package var head: Revision { store.head }

  package func result(
    _ key: ResultKey, selection: FieldSelection, viewer: Viewer
  ) async throws(StorageError) -> ResultSnapshot? {
    try await store.folding(viewer) { () async throws(StorageError) in
      try await store.result(key, selection: selection, viewer: viewer)
    }
  }

  package func result(
    passing response: NormalisedResponse, selection: FieldSelection, viewer: Viewer
  ) async throws(StorageError) -> ResultSnapshot? {
    try await store.folding(viewer) { () async throws(StorageError) in
      try await store.result(passing: response, selection: selection, viewer: viewer)
    }
  }

  package func result(
    of key: ResultKey, root: [UInt8], selection: FieldSelection, viewer: Viewer
  ) async throws(StorageError) -> ResultSnapshot {
    try await store.folding(viewer) { () async throws(StorageError) in
      try await store.result(of: key, root: root, selection: selection, viewer: viewer)
    }
  }

  package func entity(
    _ key: EntityKey, viewer: Viewer
  ) async throws(StorageError) -> EntityRecord? {
    try await store.folding(viewer) { () async throws(StorageError) in
      try await store.entity(key, viewer: viewer)
    }
  }

  package func page(
    _ query: EntityQuery, viewer: Viewer, deadline: QueryDeadline?
  ) async throws(StorageError) -> EntityPage {
    try await store.folding(viewer) { () async throws(StorageError) in
      try await store.page(query, viewer: viewer, deadline: deadline)
    }
  }

  package func page(
    _ query: MixedQuery, viewer: Viewer, deadline: QueryDeadline?
  ) async throws(StorageError) -> EntityPage {
    try await store.folding(viewer) { () async throws(StorageError) in
      try await store.page(query, viewer: viewer, deadline: deadline)
    }
  }

  package func related(
    _ queries: [RelatedQuery], viewer: Viewer, deadline: QueryDeadline?
  ) async throws(StorageError) -> RelatedEntities {
    try await store.folding(viewer) { () async throws(StorageError) in
      try await store.related(queries, viewer: viewer, deadline: deadline)
    }
  }

  package func counts(
    of types: [EntityType], viewer: Viewer, deadline: QueryDeadline?
  ) async throws(StorageError) -> [String: Int] {
    try await store.folding(viewer) { () async throws(StorageError) in
      try await store.counts(of: types, viewer: viewer, deadline: deadline)
    }
  }

  package func search(
    _ text: SearchText, types: [EntityType], viewer: Viewer, limit: Int, offset: Int,
    deadline: QueryDeadline?
  ) async throws(StorageError) -> SearchPage {
    try await store.folding(viewer) { () async throws(StorageError) in
      try await store.search(
        text, types: types, viewer: viewer, limit: limit, offset: offset, deadline: deadline)
    }
  }

  package func resolve(
    _ ids: [TemporaryID], of device: String
  ) async throws(StorageError) -> [TemporaryID: EntityKey] {
    try await store.folding(device) { () async throws(StorageError) in
      try await store.resolve(ids, of: device)
    }
  }

  package func queueStatus(of device: String) async throws(StorageError) -> QueueStatus {
    try await store.folding(device) { () async throws(StorageError) in
      try await store.queueStatus(of: device)
    }
  }

  package func changes(
    _ query: ChangeQuery, deadline: QueryDeadline?
  ) async throws(StorageError) -> ChangePage? {
    try await store.folding(query.viewer) { () async throws(StorageError) in
      try await store.changes(query, deadline: deadline)
    }
  }

  /// Runs an operator's statement on a read-only connection.
  package func answer(_ question: SQLQuestion) async throws(SQLFault) -> SQLResult {
    try await store.answer(question)
  }

  /// See ``Store/explain(_:)``.
  package func explain(_ key: ResultKey) async throws(StorageError) -> ResultExplanation? {
    try await store.explain(key)
  }

  /// See ``Store/copies(of:limit:)``.
  package func copies(
    of key: EntityKey, limit: Int
  ) async throws(StorageError) -> [EntityCopy]? {
    try await store.copies(of: key, limit: limit)
  }

  /// See ``Store/history(of:limit:)``.
  package func history(of key: EntityKey, limit: Int) async throws(StorageError) -> EntityHistory? {
    try await store.history(of: key, limit: limit)
  }

  package func keepHistory(
    ofTypes names: Set<String>, upTo typesMax: Int
  ) async throws(StorageError) -> Bool {
    try await store.keepHistory(ofTypes: names, upTo: typesMax)
  }

  package func probe() async throws(StorageError) {
    try await store.probe()
  }
}

extension Store {
  /// The store for callers that only read.
  package var reading: ReadSession { ReadSession(self) }
}
