/// What the next attempt of a mutation does.
package enum MutationStep: String, Hashable, Sendable, CaseIterable {
  case send
  /// Asks with its `verify` query whether the last attempt took effect.
  case verify
}
