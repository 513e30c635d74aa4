package import Model

/// The access rule of an operation.
package struct AccessRule: Hashable, Sendable {
  package enum Role: String, Hashable, Sendable, CaseIterable {
    case `public` = "PUBLIC"
    case device = "DEVICE"
    case user = "USER"
    case admin = "ADMIN"

    /// The required role; nil for ``public``.
    package var demanded: Model.Role? {
      switch self {
      case .public: nil
      case .device: .device
      case .user: .user
      case .admin: .admin
      }
    }
  }

  /// The role in `@access`; nil without the directive.
  package let role: Role?
  /// Whether calls without a credential are admitted.
  package let isOpen: Bool
}

/// `@sync`: the sync queue's rules for a mutation.
package struct SyncRule: Hashable, Sendable {
  /// The object that the mutation changes; always an entity target.
  package let object: EffectTarget?
  /// Other referenced objects; always entity targets.
  package let references: [EffectTarget]
  /// Whether sending it twice has the same effect as once.
  package let isRepeatable: Bool
  /// Whether it can be sent ahead of all queued mutations.
  package let isIndependent: Bool
  /// The query that finds out whether an attempt without a response took effect.
  package let verify: String?
  /// The changes shown to the device until the mutation has ended, unless a request has its own.
  package let optimistic: [OptimisticRule]

  package init(
    object: EffectTarget? = nil, references: [EffectTarget] = [], isRepeatable: Bool = false,
    isIndependent: Bool = false, verify: String? = nil, optimistic: [OptimisticRule] = []
  ) {
    self.object = object
    self.references = references
    self.isRepeatable = isRepeatable
    self.isIndependent = isIndependent
    self.verify = verify
    self.optimistic = optimistic
  }
}

/// `@effects`: the changes that a mutation or a subscription's event reports and that are not in its
/// response.
package struct EffectRules: Hashable, Sendable {
  /// Entities with changed fields: results that contain them are fetched again.
  package let updates: [EffectTarget]
  /// Deleted entities; always entity targets.
  package let deletes: [EffectTarget]
  package let invalidates: [EffectTarget]
  /// Lists that grew: fetched again, like `invalidates`.
  package let appends: [EffectTarget]

  package init(
    updates: [EffectTarget] = [], deletes: [EffectTarget] = [], invalidates: [EffectTarget] = [],
    appends: [EffectTarget] = []
  ) {
    self.updates = updates
    self.deletes = deletes
    self.invalidates = invalidates
    self.appends = appends
  }

  package static let none = EffectRules()

  /// Everything but ``deletes``.
  var changes: [EffectTarget] { updates + invalidates + appends }

  package var isEmpty: Bool {
    updates.isEmpty && deletes.isEmpty && invalidates.isEmpty && appends.isEmpty
  }
}

/// A target of `@effects`, `@sync` and similar: `Film:$input.id`, `Film:{filmDeleted.id}`, `Film`,
/// `TopFilms`, `tag:films`.
package enum EffectTarget: Hashable, Sendable {
  /// One entity; the path begins with the variable's name. A composite key is an object with the
  /// key's fields as members.
  case entity(type: String, path: [String])
  /// The entities that a response names; the path consists of response names below `data`. Lists on the
  /// way name several.
  case payload(type: String, path: [String])
  case type(String)
  case operation(String)
  case tag(String)
}

extension EffectTarget: CustomStringConvertible {
  /// As written in the directive.
  package var description: String {
    switch self {
    case .entity(let type, let path): "\(type):$\(path.joined(separator: "."))"
    case .payload(let type, let path): "\(type):{\(path.joined(separator: "."))}"
    case .type(let name), .operation(let name): name
    case .tag(let name): "tag:\(name)"
    }
  }
}
