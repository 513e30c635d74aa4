import Model

/// Types of the store's own, whose rows only a device's queue writes.
package enum QueueTypes {
  /// What became of a mutation; `$` begins no GraphQL name.
  package static let outcome = "$mutation"

  static let all = [EntityType(name: outcome, keyFields: ["id"], columns: [])]
}
