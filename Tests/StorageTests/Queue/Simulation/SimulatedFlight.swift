import LosslessJSON
import Model
import Storage

/// A request under way. It outlives the process that sent it.
struct SimulatedFlight {
  /// What the network and upstream do with it.
  enum Fate: CaseIterable {
    case answered
    case lostRequest
    case lostAnswer
    case failed
    case failedAfterEffect
    case duplicated
    case notSent
    case unauthorised
  }

  /// What it came to: made once, and settled again and again until the store takes it.
  struct Attempt {
    let settlement: MutationSettlement
    /// What the answer says of a film; nil where it is none.
    var said: ExpectedDevice.Said?
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
