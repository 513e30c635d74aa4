/// What clients are told of a queue as a whole.
package enum QueueState: String, Hashable, Sendable {
  case running
  case paused
  case authRequired = "auth_required"
}
