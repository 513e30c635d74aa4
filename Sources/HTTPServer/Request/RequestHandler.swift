package import HTTPWire

/// What answers requests.
package protocol RequestHandler: Sendable {
  /// A first look, on the loop and before anything is allocated for the request.
  ///
  /// Asked only where the answer's bytes can be the whole truth: an HTTP/1.1 request without
  /// content on a connection that goes on. The implementation writes the complete response, head
  /// and body, also for HEAD and 304; the server adds nothing. `stamp` writes the fields that every
  /// response carries. It must be quick and must not wait.
  ///
  /// - Returns: Whether it answered. If not, it has appended nothing, and `respond(to:)` is next.
  func answerAtOnce(
    _ head: borrowing RequestHead, stamp: ResponseStamp, into output: inout [UInt8]
  ) -> Bool

  /// How the content of a request is taken. Asked before it is read, of requests that announce one.
  func contentRule(for head: borrowing RequestHead) -> ContentRule

  /// Adds to an answer that the server gives in the handler's place to a request that could be
  /// read, such as 429: what lets a page of another origin see it.
  func decorate(_ response: inout ServerResponse, for request: ServerRequest)

  /// The words of a refusal that the server gives in the handler's place to a request that could not
  /// be read; `nil` for problem details.
  ///
  /// - Parameter path: percent-encoded; empty where it could not be read either.
  func refusal(
    of error: RequestError, path: ArraySlice<UInt8>, requestID: String
  ) -> RefusalContent?

  /// Whether `respond(to:)` computes so little between its waits that it can run on the connection's
  /// loop. Requests with long content run on the shared threads in any case.
  var isQuick: Bool { get }

  /// Answers a request. Where it runs on the connection's loop it must neither block nor compute for
  /// long. Cancelled when the connection is gone.
  func respond(to request: ServerRequest) async -> ServerResponse
}

extension RequestHandler {
  package func answerAtOnce(
    _ head: borrowing RequestHead, stamp: ResponseStamp, into output: inout [UInt8]
  ) -> Bool { false }

  package var isQuick: Bool { true }

  package func contentRule(for head: borrowing RequestHead) -> ContentRule { ContentRule() }

  package func decorate(_ response: inout ServerResponse, for request: ServerRequest) {}

  package func refusal(
    of error: RequestError, path: ArraySlice<UInt8>, requestID: String
  ) -> RefusalContent? { nil }
}
