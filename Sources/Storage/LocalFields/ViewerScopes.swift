import Model

/// A viewer's scopes by number, with the owners whose local fields it sees.
///
/// The rows of local fields are in the tables of upstream's types, in scopes of their own
/// (``Model/Scope/localFields(ofDevice:)``, ``Model/Scope/ownData(ofUser:)``), which upstream's data never
/// uses. They are no layers: they add fields to an entity that is visible anyway, and hide nothing.
struct ViewerScopes: Sendable {
  struct Owner: Sendable {
    let kind: Scope.Kind
    /// Nil if nothing was ever written in it.
    let scope: Int64?
  }

  /// The scopes that exist, narrowest first, for types that have rows in all of them.
  private(set) var ids: [Int64]
  private(set) var owners: [Owner] = []
  /// The scope of the device's optimistic updates.
  private(set) var overlay: Int64?
  /// The scope of the user's own data, which are rows of local types, and local fields of others.
  private var ownOfUser: Int64?

  init(_ ids: [Int64]) {
    self.ids = ids
  }

  /// - Parameter find: returns the number of a scope; nil if nothing was ever written in it.
  init(
    _ viewer: Viewer, _ catalogue: TypeCatalogue, _ find: (Scope) throws -> Int64?
  ) rethrows {
    ids = []
    for layer in viewer.layers {
      let id = try find(layer)
      if let id { ids.append(id) }
      switch layer.kind {
      case .device where layer == .ownData(ofDevice: layer.subject):
        overlay = id
        guard catalogue.hasLocalFields else { continue }
        owners.append(
          Owner(kind: .device, scope: try find(.localFields(ofDevice: layer.subject))))
      case .user where layer.isOwnData:
        ownOfUser = id
        owners.append(Owner(kind: .user, scope: id))
      case .public, .role, .claim, .device, .user: continue
      }
    }
  }

  var isEmpty: Bool { ids.isEmpty }

  /// All scopes in which something can change for the viewer, narrowest first.
  var all: [Int64] {
    let fields = owners.compactMap(\.scope).filter { !ids.contains($0) }
    return fields.isEmpty ? ids : ids + fields
  }

  /// Whether a row in a scope is a device's optimistic update.
  func isOverlay(_ scope: Int64?) -> Bool { scope != nil && scope == overlay }

  /// Returns the scopes of a type's entities, narrowest first.
  func ids(of table: EntityTable) -> [Int64] {
    guard let ownOfUser, !table.isLocal else { return ids }
    return ids.filter { $0 != ownOfUser }
  }

  /// Returns the local fields of a type that the viewer sees.
  func localFields(of table: EntityTable) -> [LocalFieldLayer] {
    guard !table.localFields.isEmpty, !owners.isEmpty else { return [] }
    return table.localFields.compactMap { set in
      owners.first { $0.kind == set.owner }.map { LocalFieldLayer(set: set, scope: $0.scope) }
    }
  }

  /// The same scopes for a reader that shows no local fields.
  var withoutLocalFields: ViewerScopes {
    var scopes = self
    scopes.owners = []
    return scopes
  }

  /// Returns the scopes of the layers of a type's entities in ``LayeredView``: those of local fields come
  /// last.
  func layers(of table: EntityTable) -> [Int64] {
    ids(of: table) + localFields(of: table).compactMap(\.scope)
  }

  /// Returns the scopes that a search reads: those of local fields only if some of these are searched.
  func searched(_ fields: [String], in table: EntityTable) -> [Int64] {
    let own = localFields(of: table).filter { fields.contains(where: $0.set.names) }
      .compactMap(\.scope)
    guard !own.isEmpty else { return ids }
    // An optimistic deletion hides them; upstream's does not.
    let above = isOverlay(ids.first) ? 1 : 0
    return ids.prefix(above) + own + ids.dropFirst(above)
  }

  /// The last scope alone, with the same owners.
  var widest: ViewerScopes {
    var scopes = self
    scopes.ids = ids.suffix(1)
    return scopes
  }

  /// Returns the scopes of one type's entities that hold any of its rows.
  func limited(to table: EntityTable, _ holds: (Int64) throws -> Bool) rethrows -> ViewerScopes {
    var scopes = self
    scopes.ids = try ids(of: table).filter(holds)
    guard !table.localFields.isEmpty else {
      scopes.owners = []
      return scopes
    }
    scopes.owners = try owners.map { owner in
      Owner(kind: owner.kind, scope: try owner.scope.flatMap { try holds($0) ? $0 : nil })
    }
    return scopes
  }
}

extension ViewerScopes: ExpressibleByArrayLiteral {
  init(arrayLiteral ids: Int64...) {
    self.init(ids)
  }
}
