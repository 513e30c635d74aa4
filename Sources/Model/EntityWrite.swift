/// How a write changes an entity.
package enum WriteAction: String, Sendable, CaseIterable {
  /// Adds a new entity; refused if it exists.
  case insert
  /// Replaces the whole entity, or adds it; only for local types. Lists of entities that the body does
  /// not name stay as they are.
  case replace
  /// Adds a new entity, or applies a merge patch to the existing one. The same as
  /// ``updateOrInsert``, under the name that says what is expected.
  case insertOrUpdate
  /// Applies a merge patch (RFC 7396); refused if the entity does not exist.
  case update
  /// Applies a merge patch, or adds it as a new entity.
  case updateOrInsert
  /// Keeps the existing entity as it is, or adds a new one.
  case findOrInsert
  /// Deletes the entity; refused if it does not exist.
  case delete

  /// Whether the body is a merge patch of the existing entity, whose other fields stay.
  package var isPatch: Bool {
    switch self {
    case .update, .updateOrInsert, .insertOrUpdate: true
    case .insert, .replace, .findOrInsert, .delete: false
    }
  }
}

/// The outcome of one write.
package enum WriteOutcome: Sendable {
  /// The entity after the write, and whether it is new.
  case written(EntityKey, EntityRecord, isNew: Bool)
  case deleted(EntityKey)
  /// How many entities a filter matched.
  case matched(Int)
}

/// Why a list of writes was refused; none of them was applied.
package enum WriteRefusal: Error, Sendable, Hashable {
  /// The entity already exists.
  case exists(EntityKey, pointer: String)
  case missing(EntityKey, pointer: String)
  /// The entity is not in the state that the writer requires (`If-Match`).
  case changed(EntityKey, pointer: String)
  /// Other entities refer to it, and the relationship denies deletion.
  case denied(EntityKey, field: String, pointer: String)
  case invalid([Failure.Detail])
  /// Other entities of the owner have the values that only one may have; at least one violation.
  case notUnique([UniqueViolation])
  /// The filter matches more entities than one write can change.
  case tooMany(max: Int, pointer: String)
  /// The idempotency key was used with another request.
  case keyReused
  /// The write would exceed the owner's quota.
  case overQuota(DataQuota.Excess)
  /// Hooks have not been asked about these changes, or were asked about others.
  case unreviewed([LocalChange])
  /// The device was removed since the request was authenticated.
  case ownerRemoved
}

/// An entity that a write would give the values of another one, where only one may have them.
package struct UniqueViolation: Hashable, Sendable {
  package let key: EntityKey
  /// The fields whose values together are unique.
  package let fields: [String]
  /// The entity that has the values.
  package let holder: EntityKey
  /// The JSON pointer of the body; nil if the entity was changed from the other side of a relationship.
  package var pointer: String?

  package init(key: EntityKey, fields: [String], holder: EntityKey, pointer: String? = nil) {
    self.key = key
    self.fields = fields
    self.holder = holder
    self.pointer = pointer
  }
}

/// How many bytes of their own clients can store: local rows, and mutations with their optimistic
/// updates and outcomes.
package struct DataQuota: Hashable, Sendable {
  /// The limit for one device, and for one user.
  package var ownerBytesMax: Int
  /// The limit for all devices without a user together: any client can register as many as it likes.
  package var unboundBytesMax: Int

  package static let unlimited = DataQuota(ownerBytesMax: .max, unboundBytesMax: .max)

  package init(ownerBytesMax: Int, unboundBytesMax: Int) {
    self.ownerBytesMax = ownerBytesMax
    self.unboundBytesMax = unboundBytesMax
  }

  /// The limit that a write exceeds.
  package enum Excess: Hashable, Sendable {
    case owner(bytesMax: Int)
    case unbound(bytesMax: Int)
  }
}
