import LosslessJSON
import Model
import Upstream

extension UpstreamCall {
  /// What goes upstream with a read.
  init(_ request: ReadRequest) {
    self.init(caller: request.caller, scope: request.scope, traceparent: request.traceparent)
  }

  init(caller: Caller, scope: Scope, traceparent: String?) {
    self.init(
      forwarded: caller.forwarded(for: scope).map { .init($0.name, $0.value) },
      carriesUserCredential: scope.kind == .user || scope.kind == .claim,
      traceparent: traceparent)
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
  /// Some window lets a later read be answered without asking upstream first.
  var isKept: Bool { maxAge > .zero || staleWhileRevalidate > .zero }
}

extension Failure {
  /// Upstream refused the request as invalid; nil where it said anything else.
  ///
  /// Upstream's own messages are passed on: they are what its client would have read.
  static func invalidInput(in answer: UpstreamResponse) -> Failure? {
    guard let faults = answer.inputFaults else { return nil }
    return Failure(
      .upstreamRejected,
      "The upstream API refused the request: " + joined(faults.map(\.message)),
      retry: .never,
      details: faults.prefix(messagesMax).map { fault in
        Detail(
          place: .pointer(fault.variable.map { "/\($0)" } ?? ""), detail: fault.message)
      },
      cause: "status \(answer.status), \(faults.count) errors")
  }

  /// Errors and nothing that was done.
  static func upstreamErrors(of answer: UpstreamResponse) -> Failure {
    let messages = answer.errors?.elements.compactMap { $0["message"]?.string } ?? []
    return Failure(
      .upstreamRejected,
      "The upstream API responded with errors"
        + (messages.isEmpty ? "." : ": " + joined(messages)),
      retry: .never, cause: "status \(answer.status), \(messages.count) errors")
  }

  private static func joined(_ messages: [String]) -> String {
    messages.prefix(messagesMax).joined(separator: "; ")
  }

  /// Enough to see what is wrong.
  private static let messagesMax = 5
}
