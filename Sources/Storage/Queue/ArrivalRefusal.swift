package import Model

/// Why a list of mutations was not taken: nothing of it is stored.
package enum ArrivalRefusal: Error, Hashable, Sendable {
  /// The key was used for another payload.
  case keyReused(index: Int)
  case refused(EnqueueRefusal, index: Int)
  /// The device is gone.
  case deviceGone
}
