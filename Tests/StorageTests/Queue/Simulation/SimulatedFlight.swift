import LosslessJSON
import Model
import Storage

/// A request under way. It outlives the process that sent it.
struct SimulatedFlight {
  /// The fate of the request in the network and upstream.
  enum Fate: CaseIterable {
    case answered
    case lostRequest
    case lostResponse
    case failed
    case failedAfterEffect
    case duplicated
    case notSent
    case unauthorised
  }

  /// The end of the request: determined once, and settled repeatedly until the store accepts it.
  struct Attempt {
    let settlement: MutationSettlement
    /// The part of the response about a film; nil if there is none.
    var update: ExpectedDevice.FilmUpdate?
  }

  /// The phone's number.
  let phone: Int
  let claimed: ClaimedMutation
  let body: JSONValue
  let fate: Fate
  let sent: Timestamp
  var hasArrived = false
  var attempt: Attempt?

  var id: MutationID { claimed.claim.id }
}

/// A read of upstream under way: it returns the state at the time upstream responded, however late
/// it arrives.
struct SimulatedFetch {
  let call: Int64
  let film: String
  let fields: JSONValue
}
