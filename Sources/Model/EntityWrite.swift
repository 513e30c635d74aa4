package import LosslessJSON

/// How a write changes an entity.
package enum WriteAction: String, Sendable, CaseIterable {
  /// Adds a new entity; refused if it exists.
  case insert
  /// Replaces the whole entity, or adds it. Lists of entities that the body does not name stay as
  /// they are.
  case insertOrUpdate
  /// Applies a merge patch (RFC 7396); refused if the entity does not exist.
  case update
  /// Applies a merge patch, or adds it as a new entity.
  case updateOrInsert
  /// Keeps the existing entity as it is, or adds a new one.
  case findOrInsert
  /// Deletes the entity; refused if it does not exist.
  case delete
}

/// The entities of a type that a write applies to.
package enum WriteTarget: Sendable {
  case key(String)
  /// Every entity that matches, possibly none. Only for updates and deletions.
  case filter(Filter)
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
  /// The filter matches more entities than one write can change.
  case tooMany(max: Int, pointer: String)
  /// The write would exceed the owner's quota.
  case overQuota(DataQuota.Excess)
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

/// An operator's write to an entity of upstream's.
package struct EntityCorrection: Sendable {
  package struct Field: Sendable {
    package let name: String
    /// In the form of ``StoredForm``.
    package let value: JSONValue

    package init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// Updates and insertions write the fields they name and leave the others: fields that were never
  /// fetched from upstream are no part of an entity that could be replaced.
  package let action: WriteAction
  package let type: EntityType
  package let target: WriteTarget
  package let fields: [Field]
  /// Checks the stored entity (nil if there is none) in the write's own snapshot; false refuses the
  /// write.
  package let precondition: (@Sendable (EntityRecord?) -> Bool)?
  /// Its place in the request, as a JSON pointer.
  package let pointer: String

  package init(
    _ action: WriteAction, _ type: EntityType, _ target: WriteTarget,
    fields: [Field] = [], precondition: (@Sendable (EntityRecord?) -> Bool)? = nil,
    pointer: String = ""
  ) {
    self.action = action
    self.type = type
    self.target = target
    self.fields = fields
    self.precondition = precondition
    self.pointer = pointer
  }
}
