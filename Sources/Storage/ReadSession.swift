package import Model

/// A store that cannot be written: what a use case that only reads is given, so that there is no
/// word for a write in all it can say.
package struct ReadSession: Sendable {
  private let store: Store

  init(_ store: Store) {
    self.store = store
  }

  package func entity(
    _ key: EntityKey, viewer: Viewer
  ) async throws(StorageError) -> EntityRecord? {
    try await store.entity(key, viewer: viewer)
  }

  package func page(
    _ query: EntityQuery, viewer: Viewer, deadline: QueryDeadline?
  ) async throws(StorageError) -> EntityPage {
    try await store.page(query, viewer: viewer, deadline: deadline)
  }

  package func page(
    _ query: MixedQuery, viewer: Viewer, deadline: QueryDeadline?
  ) async throws(StorageError) -> EntityPage {
    try await store.page(query, viewer: viewer, deadline: deadline)
  }

  package func counts(
    of types: [EntityType], viewer: Viewer, deadline: QueryDeadline?
  ) async throws(StorageError) -> [String: Int] {
    try await store.counts(of: types, viewer: viewer, deadline: deadline)
  }

  package func search(
    _ text: SearchText, types: [EntityType], viewer: Viewer, limit: Int, offset: Int,
    deadline: QueryDeadline?
  ) async throws(StorageError) -> [SearchHit] {
    try await store.search(
      text, types: types, viewer: viewer, limit: limit, offset: offset, deadline: deadline)
  }

  package func resolve(
    _ ids: [TemporaryID], of device: String
  ) async throws(StorageError) -> [TemporaryID: EntityKey] {
    try await store.resolve(ids, of: device)
  }

  package func queueStatus(of device: String) async throws(StorageError) -> QueueStatus {
    try await store.queueStatus(of: device)
  }

  package func changes(_ query: ChangeQuery) async throws(StorageError) -> ChangePage? {
    try await store.changes(query)
  }
}

extension Store {
  /// The store for those who only read.
  package var reading: ReadSession { ReadSession(self) }
}
