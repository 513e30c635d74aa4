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
      carriesUserCredential: scope.kind != .public,
      traceparent: traceparent)
  }
}

extension RenderedAnswer.Dependencies {
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
  /// Errors and no data, or data that the operation's policy does not take with errors.
  ///
  /// Upstream's own messages are told: they are what its client would have read.
  static func upstreamErrors(of answer: UpstreamAnswer) -> Failure {
    let messages = answer.errors?.elements.compactMap { $0["message"]?.string } ?? []
    return Failure(
      .upstreamRejected,
      "The upstream API answered with errors"
        + (messages.isEmpty ? "." : ": " + messages.prefix(messagesMax).joined(separator: "; ")),
      retry: .after, cause: "status \(answer.status), \(messages.count) errors")
  }

  /// Enough to see what is wrong.
  private static let messagesMax = 5
}
