import LosslessJSON
import Model
import Upstream

extension UpstreamCall {
  /// The headers that are sent upstream with a read.
  init(_ request: ReadRequest) {
    self.init(
      caller: request.caller.seen(by: request.operation.upstream), scope: request.scope)
  }

  init(caller: Caller, scope: Scope) {
    self.init(
      forwarded: caller.forwarded(for: scope).map { .init($0.name, $0.value) },
      carriesUserCredential: scope.kind == .user || scope.kind == .claim)
  }
}

extension RenderedResponse.Dependencies {
  init(_ operation: RegisteredOperation, entities: [EntityKey], device: String? = nil) {
    self.init(
      operation: operation.name, tags: operation.cache.tags,
      types: operation.entityTypes, entities: entities, device: device)
  }
}

extension CachePolicy {
  /// Whether some window lets a later read be served without calling upstream first.
  var isKept: Bool { maxAge > .zero || staleWhileRevalidate > .zero }
}

extension Failure {
  /// The failure for a request that upstream rejected as invalid input; nil for any other response.
  ///
  /// Upstream's own messages are passed on, since a direct client would have read them.
  static func invalidInput(in response: UpstreamResponse) -> Failure? {
    guard let faults = response.inputFaults else { return nil }
    return Failure(
      .upstreamRejected,
      "The upstream API refused the request: " + joined(faults.map(\.message)),
      retry: .never,
      details: faults.prefix(messagesMax).map { fault in
        Detail(
          place: .pointer(fault.variable.map { "/\($0)" } ?? ""), detail: fault.message)
      },
      cause: cause(response.status, faults.map(\.message)))
  }

  /// The failure for a response that has errors and no effect.
  static func upstreamErrors(of response: UpstreamResponse) -> Failure {
    let messages = response.errors?.elements.compactMap { $0["message"]?.string } ?? []
    return Failure(
      .upstreamRejected,
      "The upstream API responded with errors"
        + (messages.isEmpty ? "." : ": " + joined(messages)),
      retry: .never, cause: cause(response.status, messages))
  }

  private static func cause(_ status: Int, _ messages: [String]) -> String {
    let texts = String(joined(messages).prefix(causeCharactersMax))
    return "status \(status), \(messages.count.counted("error"))"
      + (texts.isEmpty ? "" : ": \(texts)")
  }

  /// The maximum length of upstream's messages in a cause, for the log.
  private static let causeCharactersMax = 500

  private static func joined(_ messages: [String]) -> String {
    messages.prefix(messagesMax).joined(separator: "; ")
  }

  /// The maximum number of upstream messages in one failure.
  private static let messagesMax = 5
}
