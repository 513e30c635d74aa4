import Model
import SyncScheduler

/// The payload of a simulated device, with ids as the device knows them.
struct SimulatedPayload: Hashable {
  var operation: String
  var mode: MutationMode
  var effect: MutationEffect
  var rule: UnknownOutcomeRule
  var object: EntityKey
  /// Another film it refers to, which must exist.
  var link: String?
  /// Distinguishes payloads.
  var value: Int
  var overtakesAll = false

  var footprint: Footprint {
    let own = TemporaryID(object.key)
    return Footprint(
      object: object,
      mentions: [link].compactMap { $0.flatMap(TemporaryID.init) },
      creates: effect == .create
        ? own.map { [TemporaryEntity(id: $0, type: object.type)] } ?? [] : []
    )
    .adding(link.map { EntityKey(type: object.type, key: $0) })
  }

  var fingerprint: PayloadFingerprint { .test(UInt8(truncatingIfNeeded: value)) }

  /// The body, with resolved ids substituted.
  func body(_ known: [TemporaryID: EntityKey]) -> SimulatedUpstream.Body {
    func real(_ text: String) -> String {
      TemporaryID(text).flatMap { known[$0]?.key } ?? text
    }
    return SimulatedUpstream.Body(
      operation: operation, effect: effect, object: real(object.key), link: link.map(real),
      value: value)
  }
}

extension SimulatedPayload: CustomStringConvertible {
  var description: String {
    let link = link.map { " with \($0)" } ?? ""
    return "\(mode) \(operation) \(object.key)\(link), value \(value)"
      + (overtakesAll ? ", ahead of all" : "")
  }
}

extension Footprint {
  fileprivate func adding(_ key: EntityKey?) -> Footprint {
    Footprint(tokens: tokens + (key.map { [Token($0)] } ?? []), creates: creates)
  }
}

/// A request in flight. It outlives a crash of the server that sent it.
struct SimulatedFlight {
  /// The behaviour of the network and upstream.
  enum Fate: Hashable, CaseIterable {
    case answered, lostRequest, lostAnswer, failed, failedAfterEffect, duplicated
  }

  let device: String
  let claim: MutationClaim
  let turn: SendRotation.Turn
  let step: MutationStep
  let body: SimulatedUpstream.Body
  let fate: Fate
  /// When upstream receives it.
  var arrival: Duration
  /// When the server receives the response.
  var end: Duration
  var hasArrived = false
  var outcome: SendOutcome?
  var answer: SimulatedUpstream.Answer?
}
