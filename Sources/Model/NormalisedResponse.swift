/// An upstream response split into entities and result fields: the content of one transaction.
///
/// Values are ranges of ``bytes`` in the form of ``StoredForm``, so a response of thousands of
/// fields costs one buffer. An entity that occurs at several places of the response is here once,
/// its fields merged in the order of their first appearance.
///
/// The order rule: a stored field keeps the number of the call that wrote it, and is overwritten
/// only by a call with a number at least as high. Together with the numbers of deletions and
/// invalidations this makes every arrival order of the same responses end in the same store.
package struct NormalisedResponse: Sendable {
  package struct Field: Sendable {
    /// The storage name.
    package let name: String
    package let range: Range<Int>
    /// Whether the value holds an embedded object: it is merged with the stored one field by field,
    /// in call order, unless a scalar common to both differs, in which case the later one replaces
    /// the earlier. Lists of equal length merge element by element by the same rule.
    package let merges: Bool
    /// Whether this is a result's own list in which null stands for elements that upstream returned
    /// an error for: it is stored only where no complete list is.
    package let isPartial: Bool

    package init(name: String, range: Range<Int>, merges: Bool, isPartial: Bool = false) {
      self.name = name
      self.range = range
      self.merges = merges
      self.isPartial = isPartial
    }
  }

  package struct Entity: Sendable {
    package let key: EntityKey
    package var fields: [Field]

    package init(key: EntityKey, fields: [Field]) {
      self.key = key
      self.fields = fields
    }
  }

  /// A lookup by key that upstream answered with null and no error.
  package struct Absence: Hashable, Sendable {
    package let key: EntityKey
    /// Whether one null is enough; otherwise a null of a second, later call is needed before the
    /// entity counts as deleted.
    package let isAuthoritative: Bool

    package init(key: EntityKey, isAuthoritative: Bool) {
      self.key = key
      self.isAuthoritative = isAuthoritative
    }
  }

  /// The entities whose copies in other scopes become due.
  package enum CopyMarking: Sendable {
    case none
    /// Those of which the response changed something.
    case changed
    /// All that the response shows or deletes.
    case all
  }

  package var call: CallNumber
  /// The oldest call still in flight, this one included. Nothing older can arrive any more, so
  /// rows kept only for late arrivals can be removed.
  package var horizon: CallNumber
  /// Set for the response of a mutation only.
  package var span: MutationSpan?
  package let received: Timestamp
  package let scope: Scope
  package var bytes: [UInt8]
  package var entities: [Entity]
  /// Nil for a mutation.
  package var result: ResultWrite?
  /// Declared deletions: each leaves a tombstone in ``scope``.
  package var deletions: [EntityKey]
  package var absences: [Absence]
  /// Targets that become due for a refetch in ``scope`` and in all shared scopes.
  package var invalidations: [InvalidationTarget]
  /// Whether to mark the shared copies of all ``entities`` as due (for a mutation whose scope is not
  /// the public one).
  package var marksPublicCopies: Bool
  /// Which copies in all scopes but this and the public one become due: what upstream reports to the
  /// service itself is news for everyone.
  package var otherCopies = CopyMarking.none

  package init(
    call: CallNumber,
    horizon: CallNumber,
    received: Timestamp,
    scope: Scope,
    bytes: [UInt8] = [],
    entities: [Entity] = [],
    result: ResultWrite? = nil,
    deletions: [EntityKey] = [],
    absences: [Absence] = [],
    invalidations: [InvalidationTarget] = [],
    marksPublicCopies: Bool = false
  ) {
    self.call = call
    self.horizon = horizon
    self.received = received
    self.scope = scope
    self.bytes = bytes
    self.entities = entities
    self.result = result
    self.deletions = deletions
    self.absences = absences
    self.invalidations = invalidations
    self.marksPublicCopies = marksPublicCopies
  }
}

/// The result part of a ``NormalisedResponse``: the root fields of one query, and its dependencies
/// other than the entities it refers to.
package struct ResultWrite: Sendable {
  /// A page of a paginated list, found anywhere in the response.
  package struct PageList: Hashable, Sendable {
    /// The entity that owns the list; nil for the query root.
    package let owner: EntityKey?
    package let page: SelectedField.Page
    /// Digest of the page's stored bytes: when that of a first page changes, results that hold later
    /// pages of the same family become due.
    package let digest: UInt64

    package init(owner: EntityKey?, page: SelectedField.Page, digest: UInt64) {
      self.owner = owner
      self.page = page
      self.digest = digest
    }
  }

  package let key: ResultKey
  /// The root fields, by storage name, as ranges of the response's bytes. A field whose value is
  /// unknown because of an error is absent or partial; an older value under the same result stays.
  package let root: [NormalisedResponse.Field]
  /// Types of which the response holds an entity or a (possibly empty) list.
  package let types: [String]
  package let pages: [PageList]
  /// Tags of the operation, for invalidation by tag.
  package let tags: [String]
  /// Upstream's `errors` as JSON text; nil if there are none. A result with errors is due at once.
  package let errors: [UInt8]?

  package init(
    key: ResultKey,
    root: [NormalisedResponse.Field],
    types: [String],
    pages: [PageList] = [],
    tags: [String] = [],
    errors: [UInt8]? = nil
  ) {
    self.key = key
    self.root = root
    self.types = types
    self.pages = pages
    self.tags = tags
    self.errors = errors
  }
}

/// The storage format of a field's value in an entity or a result: JSON text in which every leaf
/// keeps the bytes that upstream sent.
///
/// | value | text |
/// |---|---|
/// | leaf (scalar, enum, a custom scalar's whole value) | as upstream sent it |
/// | null | `null` |
/// | list | `[…]`, holes kept as `null` |
/// | entity | `{"$ref":["Film","9"]}`: concrete type and ``EntityKey/key`` |
/// | embedded object | `{"__typename":"Poster","url":…}`: concrete type, then fields by storage name |
///
/// A **storage name** is the schema name of a field, followed by its arguments in canonical form
/// where it has any: `title`, `poster({"size":"L"})`; never an alias. `$` cannot begin a GraphQL
/// name, so a reference is never mistaken for an embedded object. A custom scalar can hold any JSON:
/// the ``FieldSelection`` that reads a value, not its text, determines the kind of the value.
package enum StoredForm {
  package static let referenceMember = "$ref"
  package static let typenameMember = "__typename"
  /// In the overlay of an entity: the ids of the mutations that changed it.
  package static let pendingMember = "$pending"
  /// In the last layer of an entity that upstream deleted, and that is shown for its local fields.
  package static let deletedMember = "$deleted"

  /// Returns the storage name of a field.
  ///
  /// - Parameter arguments: the canonical JSON object of the arguments (defaults applied, keys
  ///   sorted); nil if the field takes none.
  package static func storageName(of field: String, arguments: String?) -> String {
    guard let arguments else { return field }
    return "\(field)(\(arguments))"
  }
}
