/// Why a client's or operator's word about one mutation does not apply; nothing changes.
package enum CommandRefusal: Error, Hashable, Sendable {
  /// The queue does not hold it any more: it is finished, or was never there.
  case notHeld
  /// It may have reached upstream: it can no longer be taken back.
  case alreadySent
  /// Only what is parked can be discarded, only what waits can be tried again.
  case wrongState(MutationState)
  /// The whole queue waits for a credential: nothing but one would let it go on.
  case needsCredential
}
