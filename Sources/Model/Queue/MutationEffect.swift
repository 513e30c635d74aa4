/// What a mutation does to its object.
package enum MutationEffect: String, Hashable, Sendable, CaseIterable {
  /// Brings it into being, under a temporary id its footprint creates.
  case create
  case update
  case delete
}
