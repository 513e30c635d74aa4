package import Model

/// A mutation as its client is told of it.
package struct MutationRecord: Sendable {
  package let mutation: Mutation
  /// Wall-clock time of its end; nil before.
  package let settled: Timestamp?
  /// Upstream's answer or what went wrong, as JSON; nil where there is none. Of a superseded one
  /// that of the one that went in its stead.
  package let result: [UInt8]?
  /// Where the one that went in its stead stands.
  package let sharedState: MutationState?
  /// What the temporary ids it created stand for.
  package let resolved: [TemporaryID: EntityKey]
}
