import Model
import Storage

extension Failure {
  /// - Parameter pointers: the places of the list's mutations; empty texts for one alone.
  init(_ refusal: ArrivalRefusal, pointers: [String]) {
    func details(_ index: Int, _ detail: String) -> [Detail] {
      let pointer = pointers[index]
      return pointer.isEmpty ? [] : [Detail(place: .pointer(pointer), detail: detail)]
    }
    switch refusal {
    case .keyReused(let index):
      self.init(
        .idempotencyKeyReused, "The Idempotency-Key was used for another mutation.", retry: .newKey,
        details: details(index, "was handed over with another content under the same key"))
    case .refused(.objectDeleted(let other), let index):
      self.init(
        .objectDeleted, "The object is deleted by \(other), which is queued.",
        details: details(index, "is about an object that \(other) deletes"))
    case .refused(.queueFull(let itemsMax), let index):
      self.init(
        .queueFull, "The device's queue holds \(itemsMax) unfinished mutations.", retry: .after,
        retryAfter: .seconds(5), details: details(index, "does not fit any more"))
    case .overQuota(let excess, let index):
      self.init(
        .queueFull, excess.message, retry: .after, retryAfter: .seconds(60),
        details: details(index, "does not fit any more"))
    case .deviceGone:
      self.init(.unauthenticated, "The device token is not known here.")
    }
  }

  init(_ refusal: CommandRefusal) {
    switch refusal {
    case .notHeld:
      self.init(.mutationFinished, "Nothing more can be done about the mutation: it has ended.")
    case .alreadySent:
      self.init(
        .mutationSent, "The mutation may have reached upstream and cannot be taken back any more.")
    case .wrongState(let state):
      self.init(.mutationNotParked, "The mutation is \(state.rawValue).")
    case .needsCredential:
      self.init(
        .authRequired,
        "The queue is in auth_required: upstream refused the credential of its mutations. Send any "
          + "request with this Device-Token and a newer Authorization of the same user; the queue "
          + "then goes on by itself.")
    }
  }
}
