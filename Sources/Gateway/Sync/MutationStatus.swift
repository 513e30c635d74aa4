package import LosslessJSON
package import Model
import Storage
import SyncScheduler
import Upstream

/// The status of a submitted mutation, for its client.
package struct MutationStatus: Sendable {
  package let id: MutationID
  /// As JSON.
  package let body: [UInt8]
  /// Whether the key was known and nothing was stored.
  package let isReplay: Bool
  /// Upstream's response to a forced mutation, in the form that a client of the operation reads.
  package private(set) var response: JSONValue?
  /// The reason that a forced mutation was not applied, for clients that read only the response; nil
  /// if it was.
  package private(set) var refusal: Failure?
}

extension MutationStatus {
  /// The status of a mutation that was enqueued.
  init(_ receipt: MutationReceipt, cursor: [UInt8]) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("id")
    writer.string(receipt.mutation.id.value)
    writer.name("state")
    writer.string(receipt.mutation.state.rawValue)
    writer.name("mode")
    writer.string(receipt.mutation.mode.rawValue)
    if let other = receipt.supersedes {
      writer.name("supersedes")
      writer.string(other.value)
    }
    writer.name("cursor")
    writer.string(String(decoding: cursor, as: UTF8.self))
    writer.endObject()
    self.init(id: receipt.mutation.id, body: writer.bytes, isReplay: receipt.isReplay)
  }

  /// The status of a forced mutation at the end of its caller's wait; throws if it was not applied.
  init(_ record: MutationRecord, _ receipt: MutationReceipt, cursor: [UInt8]) throws(Failure) {
    let result = record.result.flatMap { try? JSONValue(checked: $0) }
    switch record.mutation.state {
    case .applied: self.init(record, receipt, cursor: cursor, response: result)
    case .rejected:
      if record.mutation.reason == .dependency {
        throw Failure(
          .dependencyRejected, "A mutation that this one depends on was rejected; it was not sent.",
          retry: .newKey)
      }
      let code = result?["code"]?.string.flatMap(Failure.Code.init) ?? .upstreamRejected
      let refusal = Failure(
        code, result?["detail"]?.string ?? "The upstream API refused the mutation.", retry: .newKey,
        details: result.map(MutationRecord.errors) ?? [])
      guard let response = result?["response"] else { throw refusal }
      self.init(
        record, receipt, cursor: cursor, response: response,
        refusal: Self.isApplicationError(code, response) ? nil : refusal)
    case .expired where record.mutation.reason == .authRequired:
      throw Failure(
        result?["code"]?.string.flatMap(Failure.Code.init) ?? .upstreamUnauthenticated,
        result?["detail"]?.string ?? "The upstream API does not accept the credential.",
        retry: .sameKey)
    case .parked where record.mutation.reason == .operationChanged:
      throw Failure(
        .outcomeUnknown,
        result?["detail"]?.string ?? "The operation \(record.mutation.operation) has changed.",
        retry: .sameKey)
    case .expired:
      throw Failure(
        .notSent, "The mutation could not be sent in time and will not be sent automatically.",
        retry: .sameKey, retryAfter: .seconds(1))
    case .queued where !record.mutation.everSent:
      throw Failure(
        .notSent, "The mutation has not been sent yet.", retry: .sameKey, retryAfter: .seconds(1))
    case .queued, .inflight, .parked:
      throw Failure(
        .outcomeUnknown,
        "The mutation was sent, but no response came: it may or may not have taken effect.",
        retry: .sameKey)
    case .superseded, .annihilated, .cancelled, .discarded:
      self.init(record, receipt, cursor: cursor, response: nil)
    }
  }

  /// Returns whether upstream executed the mutation or refused it for application reasons, which its
  /// errors state: that is a response like any other. Rejected input is a failure instead.
  private static func isApplicationError(_ code: Failure.Code, _ response: JSONValue) -> Bool {
    guard code == .upstreamRejected, let document = try? JSONDocument(checked: response.bytes),
      let upstreamResponse = UpstreamResponse(document: document)
    else { return false }
    return upstreamResponse.inputFaults == nil
  }

  private init(
    _ record: MutationRecord, _ receipt: MutationReceipt, cursor: [UInt8], response: JSONValue?,
    refusal: Failure? = nil
  ) {
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
    self.init(
      id: record.mutation.id, body: writer.bytes, isReplay: receipt.isReplay, response: response,
      refusal: refusal)
  }
}

extension Failure {
  /// The failure for mutations that the queue refused.
  ///
  /// - Parameter pointers: the JSON pointers of the list's mutations; empty for a single mutation.
  init(_ refusal: ArrivalRefusal, pointers: [String]) {
    func details(_ index: Int, _ detail: String) -> [Detail] {
      let pointer = pointers[index]
      return pointer.isEmpty ? [] : [Detail(place: .pointer(pointer), detail: detail)]
    }
    switch refusal {
    case .keyReused(let index):
      self.init(
        .idempotencyKeyReused, "The Idempotency-Key was used for another mutation.", retry: .newKey,
        details: details(index, "was submitted with different content under the same key"))
    case .refused(.objectDeleted(let other), let index):
      self.init(
        .objectDeleted, "The queued mutation \(other) deletes the object.",
        details: details(index, "targets an object that \(other) deletes"))
    case .refused(.queueFull(let itemsMax), let index):
      self.init(
        .queueFull,
        "The device's queue is full: it has \(itemsMax) unfinished mutations. Retry later.",
        retry: .after, retryAfter: .seconds(5),
        details: details(index, "exceeds the queue's limit"))
    case .overQuota(let excess, let index):
      self.init(
        .queueFull, excess.message, retry: .after, retryAfter: .seconds(60),
        details: details(index, "exceeds the storage quota"))
    case .deviceGone:
      self.init(.unauthenticated, "The device token is unknown: the device was removed.")
    }
  }

  /// The failure for a refused command.
  init(_ refusal: CommandRefusal) {
    switch refusal {
    case .notHeld:
      self.init(.mutationFinished, "The mutation has ended and can no longer be changed.")
    case .alreadySent:
      self.init(
        .mutationSent, "The mutation may have reached upstream and can no longer be cancelled.")
    case .wrongState(let state):
      self.init(.mutationNotParked, "The mutation is \(state.rawValue), not parked.")
    case .needsCredential:
      self.init(
        .authRequired,
        "The queue is in auth_required: upstream refused the credential of its mutations. Send any "
          + "request with this Device-Token and a newer Authorization of the same user; the queue "
          + "then resumes.")
    }
  }
}
