package import Model

/// What came of settling an attempt.
package struct SettledMutation: Sendable {
  /// As it stands; nil where the claim no longer held, and nothing was done.
  package var mutation: Mutation?
  /// The answer did not say all that was expected: this stays over it for a while.
  package var lingers = false
  /// The device's next, taken in the same commit.
  package var next: ClaimedMutation?
}
