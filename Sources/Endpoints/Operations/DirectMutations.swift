import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON
import Model

/// Sends mutations whose client waits for the response: through the device's queue as a force, or
/// directly for a caller without a device.
struct DirectMutations: Sendable {
  let operations: OperationService
  let queue: SyncQueue

  /// The response to a mutation.
  struct Outcome: Sendable {
    /// `{"data":…}`, with upstream's `errors` if there are any.
    let body: [UInt8]
    /// Whether it is the stored response to an earlier request with the same key.
    var isReplay = false
  }

  /// Responds to a request that waits for the response of its mutation.
  func respond(
    to request: ServerRequest, _ operation: ServedOperation, input: VariableInput, caller: Caller,
    key: String?, as contentType: String
  ) async throws(Failure) -> ServerResponse {
    let began = request.elapsed
    let outcome: Outcome
    do throws(Failure) {
      outcome = try await send(operation, input: input, caller: caller, key: key)
    } catch {
      request.note(error, since: began)
      throw error
    }
    var response = outcome.response(as: contentType)
    guard !outcome.isReplay else { return response }
    // With a device this includes the wait for conflicting mutations ahead of it.
    let upstream = request.elapsed - began
    request.note { $0.upstreamNanoseconds = upstream.wholeNanoseconds }
    response.fields[.serverTiming] = "upstream;dur=\(upstream.shownMilliseconds)"
    return response
  }

  /// Sends a mutation and returns upstream's response.
  ///
  /// - Parameter key: the client's idempotency key, not yet checked; nil without one.
  func send(
    _ operation: ServedOperation, input: VariableInput, caller: Caller, key: String?
  ) async throws(Failure) -> Outcome {
    try caller.admitWriting()
    if let leader = operations.leader { throw leader.need() }
    guard caller.device != nil else {
      return Outcome(
        body: try await operations.mutate(
          operation, input: input,
          context: OperationService.Context(caller: caller)))
    }
    let key = try key.map { text throws(Failure) in try IdempotencyKey.read(text) }
    // Ahead of the queued mutations that it does not conflict with.
    let forced = try await queue.force(
      try operations.forced(operation, input: input), key: key, by: caller)
    // A response with data and errors is returned; a refusal without data is a failure.
    if let refusal = forced.refusal, forced.response?["data"]?.isNull ?? true { throw refusal }
    var members = forced.response?.members ?? []
    if !members.contains(where: { $0.name == "data" }) {
      members.insert(JSONMember("data", .null), at: 0)
    }
    return Outcome(body: JSONValue.object(members).bytes, isReplay: forced.isReplay)
  }
}

extension ServerRequest {
  /// Notes for the access log how long a request waited for upstream before it failed; nothing for a
  /// failure that is not upstream's.
  func note(_ failure: Failure, since began: Duration) {
    guard failure.code.concernsUpstream else { return }
    let waited = elapsed - began
    note { $0.upstreamNanoseconds = waited.wholeNanoseconds }
  }
}

extension Failure.Code {
  /// Whether upstream was called, or could not be.
  fileprivate var concernsUpstream: Bool {
    switch self {
    case .upstreamUnauthenticated, .upstreamForbidden, .upstreamUnreachable, .upstreamTimeout,
      .upstreamMalformed, .upstreamTooLarge, .upstreamFailed, .upstreamRejected, .upstreamBusy,
      .outcomeUnknown, .notSent:
      true
    default: false
    }
  }
}

extension DirectMutations.Outcome {
  /// The outcome as a response that no cache stores.
  func response(as contentType: String) -> ServerResponse {
    var response = ServerResponse.json(body)
    response.fields[.contentType] = contentType
    if isReplay { response.fields[.idempotencyReplayed] = "true" }
    return response
  }
}
