/// One upstream answer taken apart for the store: what one transaction writes.
///
/// Values are ranges of ``bytes`` in the form of ``StoredForm``, so an answer of thousands of
/// fields costs one buffer. An entity that stands at several places of the answer is here once,
/// its fields united in the order of their first appearance.
///
/// The order rule: a stored field keeps the number of the call that wrote it, and is overwritten
/// only by a call with a number at least as high. Together with the numbers of deletions and
/// invalidations this makes every arrival order of the same answers end in the same store.
package struct NormalisedResponse: Sendable {
  package struct Field: Sendable {
    /// The storage name.
    package let name: String
    package let range: Range<Int>
    /// The value holds an embedded object: it is merged with the stored one field by field, in
    /// call order, unless a scalar common to both differs, in which case the later one replaces
    /// the earlier. Lists of equal length merge element by element by the same rule.
    package let merges: Bool
    /// A list of a result's own in which null stands for elements that upstream answered with an error
    /// only: it is stored where no whole list is.
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

  /// A lookup by key that was answered null without an error.
  package struct Absence: Hashable, Sendable {
    package let key: EntityKey
    /// Once is enough; otherwise a second answer of a later call is needed before the entity
    /// counts as deleted.
    package let isAuthoritative: Bool

    package init(key: EntityKey, isAuthoritative: Bool) {
      self.key = key
      self.isAuthoritative = isAuthoritative
    }
  }

  package var call: CallNumber
  /// The oldest call still in flight, this one included. Nothing older can arrive any more, so
  /// what is kept only for the sake of late arrivals may go.
  package var horizon: CallNumber
  /// Of a mutation's response alone.
  package var span: MutationSpan?
  package let received: Timestamp
  package let scope: Scope
  package var bytes: [UInt8]
  package var entities: [Entity]
  /// Absent for a mutation.
  package var result: ResultWrite?
  /// Declared deletions: each leaves a tombstone in ``scope``.
  package var deletions: [EntityKey]
  package var absences: [Absence]
  /// Due for refetch in ``scope`` and in all that several callers share.
  package var invalidations: [InvalidationTarget]
  /// Mark the copies of all entities above that several callers share as due (a mutation whose
  /// scope is not the public one).
  package var marksPublicCopies: Bool

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
