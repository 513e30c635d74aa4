package import Model

/// Why a list of mutations was not taken: nothing of it is stored.
package enum ArrivalRefusal: Error, Hashable, Sendable {
  /// The key was used for another payload.
  case keyReused(index: Int)
  case refused(EnqueueRefusal, index: Int)
  /// The device would have more stored than it may.
  case overQuota(DataQuota.Excess, index: Int)
  /// The device is gone.
  case deviceGone

  /// Nothing of the list was written before it.
  var isOfTheFirst: Bool {
    switch self {
    case .keyReused(let index), .refused(_, let index), .overQuota(_, let index): index == 0
    case .deviceGone: true
    }
  }
}
