import LosslessJSON
import Model
import Storage
import Upstream

/// What the caller of a forced mutation is told.
struct ForcedOutcome {
  private let record: MutationRecord
  private let receipt: MutationReceipt
  private let cursor: [UInt8]

  init(_ record: MutationRecord, receipt: MutationReceipt, cursor: [UInt8]) {
    self.record = record
    self.receipt = receipt
    self.cursor = cursor
  }

  func answer() throws(Failure) -> ForcedStatus {
    let result = record.result.flatMap { try? JSONValue(checked: $0) }
    switch record.mutation.state {
    case .applied: return forced(response: result)
    case .rejected:
      if record.mutation.reason == .dependency {
        throw Failure(
          .dependencyRejected, "A mutation that this one depends on was rejected; it was not sent.",
          retry: .newKey)
      }
      let code = result?["code"]?.string.flatMap(Failure.Code.init) ?? .upstreamRejected
      let refusal = Failure(
        code, result?["detail"]?.string ?? "The upstream API refused the mutation.", retry: .newKey)
      guard let response = result?["response"] else { throw refusal }
      return forced(
        response: response, refusal: Self.isApplicationError(code, response) ? nil : refusal)
    case .expired where record.mutation.reason == .authRequired:
      throw Failure(
        .upstreamUnauthenticated, "The upstream API does not accept the credential.",
        retry: .sameKey)
    case .parked where record.mutation.reason == .operationChanged:
      throw Failure(
        .outcomeUnknown,
        result?["detail"]?.string ?? "The operation \(record.mutation.operation) has changed.",
        retry: .sameKey)
    case .expired:
      throw Failure(
        .notSent, "The mutation could not be sent in time, and does not go by itself.",
        retry: .sameKey, retryAfter: .seconds(1))
    case .queued where !record.mutation.everSent:
      throw Failure(
        .notSent, "The mutation was not sent yet.", retry: .sameKey, retryAfter: .seconds(1))
    case .queued, .inflight, .parked:
      throw Failure(
        .outcomeUnknown,
        "The mutation was sent and no answer came: it may or may not have taken effect.",
        retry: .sameKey)
    case .superseded, .annihilated, .cancelled, .discarded: return forced(response: nil)
    }
  }

  /// Upstream executed the mutation, or would not for reasons of its own, and its errors say why:
  /// that is a response like any other. What it refused as invalid input is a failure.
  private static func isApplicationError(_ code: Failure.Code, _ response: JSONValue) -> Bool {
    guard code == .upstreamRejected, let document = try? JSONDocument(checked: response.bytes),
      let answer = UpstreamResponse(document: document)
    else { return false }
    return answer.inputFaults == nil
  }

  private func forced(response: JSONValue?, refusal: Failure? = nil) -> ForcedStatus {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("id")
    writer.string(record.mutation.id.value)
    writer.name("state")
    writer.string(record.mutation.state.rawValue)
    if let response {
      writer.name("response")
      writer.value(response)
    }
    writer.name("promoted")
    writer.beginArray()
    for id in receipt.promoted { writer.string(id.value) }
    writer.endArray()
    writer.name("cursor")
    writer.string(String(decoding: cursor, as: UTF8.self))
    writer.endObject()
    return ForcedStatus(
      answer: MutationStatus(
        id: record.mutation.id, body: writer.bytes, isReplay: receipt.isReplay),
      response: response, refusal: refusal)
  }
}
