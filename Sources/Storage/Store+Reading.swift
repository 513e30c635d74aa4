package import Model

extension Store {
  /// A stored result with every entity its selection reaches for this viewer, from one snapshot;
  /// nil where it was never stored or was purged.
  package func result(
    _ key: ResultKey, selection: Selection, viewer: Viewer
  ) async throws(StorageError) -> ResultSnapshot? {
    throw .closed
  }

  /// One entity as a viewer sees it; nil where no layer has anything of it.
  package func entity(
    _ key: EntityKey, viewer: Viewer
  ) async throws(StorageError) -> EntityRecord? {
    throw .closed
  }

  /// The last revision that changed something in each of the viewer's scopes, in their order.
  package func heads(of viewer: Viewer) async throws(StorageError) -> [Revision] {
    throw .closed
  }
}
