import Model

/// A request under way. It outlives a crash of the server that sent it.
struct SimulatedFlight {
  /// What the network and upstream do with it.
  enum Fate: Hashable, CaseIterable {
    case answered, lostRequest, lostAnswer, failed, failedAfterEffect, duplicated
  }

  let device: String
  let claim: MutationClaim
  let turn: SendRotation.Turn
  let step: MutationStep
  let body: SimulatedUpstream.Body
  let fate: Fate
  /// When upstream has it.
  let arrival: Duration
  /// When the server hears of it.
  let end: Duration
  var hasArrived = false
  var outcome: SendOutcome?
  var answer: SimulatedUpstream.Answer?
}
