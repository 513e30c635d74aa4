/// What a client or an operator asks of a queue.
package enum QueueCommand: Hashable, Sendable {
  case pause
  case resume
  /// Ends debounce and back-off.
  case flush
  case cancel(MutationID)
  case retry(MutationID)
  case discard(MutationID)
  case signOut(SignOutPolicy)
}
