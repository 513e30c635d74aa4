import Model

/// Where a query waits for a connection: behind the others of its caller and kind alone.
struct QueryLane: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case collection, search, changes, write
  }

  let kind: Kind
  /// The narrowest scope that the caller sees.
  let caller: Scope

  init(_ kind: Kind, of viewer: Viewer) {
    self.kind = kind
    caller = viewer.layers.first ?? .public
  }

  init(_ kind: Kind, in scope: Scope) {
    self.kind = kind
    caller = scope
  }
}
