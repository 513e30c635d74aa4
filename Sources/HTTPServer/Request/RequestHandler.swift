package import HTTPWire

/// A handler of requests.
package protocol RequestHandler: Sendable {
  /// Responds immediately if possible, on the loop and before anything is allocated for the request.
  ///
  /// Called only for an HTTP/1.1 request on a connection that stays open, without content or with a little
  /// that has arrived already. The implementation writes the complete response, head and body, also for HEAD
  /// and 304; the server adds nothing. `stamp` writes the fields that every response carries. It must be quick
  /// and must not wait.
  ///
  /// - Parameter content: the whole content as it was sent: not decoded, and no longer than its route allows
  ///   only if the implementation sees to that.
  /// - Returns: Whether it responded. If not, it has appended nothing, and `respond(to:)` is called.
  func answerAtOnce(
    _ head: borrowing RequestHead, content: UnsafeRawBufferPointer, stamp: ResponseStamp,
    into output: inout [UInt8]
  ) -> Bool

  /// Returns how to accept the content of a request, and the route that decides it. Called before the
  /// content is read, for requests that announce some.
  func contentRoute(for head: borrowing RequestHead) -> ContentRoute

  /// Adds fields to a response that the server makes in place of the handler for a valid request, such
  /// as 429: those that allow a page of another origin to read it.
  func decorate(_ response: inout ServerResponse, for request: ServerRequest)

  /// Returns the content of the server's refusal of a malformed request; `nil` for problem details.
  ///
  /// - Parameter path: percent-encoded; empty if it could not be read.
  func refusal(
    of error: RequestError, path: ArraySlice<UInt8>, requestID: String
  ) -> RefusalContent?

  /// The names of the routes and operations that its ``RequestFacts`` refer to.
  var names: RequestNames { get }

  /// Whether `respond(to:)` computes so little between its waits that it can run on the connection's
  /// loop. Requests with long content run on the shared threads in any case.
  var isQuick: Bool { get }

  /// Responds to a request. On the connection's loop it must neither block nor compute for long.
  /// Cancelled when the connection closes.
  func respond(to request: ServerRequest) async -> ServerResponse
}

extension RequestHandler {
  package func answerAtOnce(
    _ head: borrowing RequestHead, content: UnsafeRawBufferPointer, stamp: ResponseStamp,
    into output: inout [UInt8]
  ) -> Bool { false }

  package var names: RequestNames { RequestNames() }

  package var isQuick: Bool { true }

  package func contentRoute(for head: borrowing RequestHead) -> ContentRoute { ContentRoute() }

  package func decorate(_ response: inout ServerResponse, for request: ServerRequest) {}

  package func refusal(
    of error: RequestError, path: ArraySlice<UInt8>, requestID: String
  ) -> RefusalContent? { nil }
}
