import Gateway
import HTTPServer
import HTTPTypes
import Model

extension ServerResponse {
  /// Server-sent events, until the source ends, or the client is gone or takes nothing for too long.
  static func eventStream(
    stallMax: Duration, _ open: @escaping @Sendable () -> any EventSource
  ) -> ServerResponse {
    ServerResponse(
      fields: [
        .contentType: "text/event-stream", .cacheControl: "no-store",
        .accelBuffering: "no",
      ],
      body: .stream { writer in
        writer.limitStall(to: stallMax)
        let source = open()
        while let bytes = try await source.next() { try await writer.write(bytes) }
      })
  }

  /// 410: what was changed since cannot be told any more.
  ///
  /// - Parameter restart: the path to begin anew at.
  static func cursorGone(
    _ reason: CursorFault.Reason, restart: String, request: ServerRequest
  ) -> ServerResponse {
    var problem = ProblemDocument(
      Failure(.cursorGone, text(of: reason)), instance: request.path, requestID: request.id)
    problem.extensions = [("reason", reason.rawValue), ("restart", restart)]
    return ServerResponse(
      status: HTTPResponse.Status(code: problem.status),
      fields: [.contentType: ProblemDocument.mediaType, .cacheControl: "no-store"],
      body: .bytes(problem.bytes()), isCompressible: true)
  }

  private static func text(of reason: CursorFault.Reason) -> String {
    switch reason {
    case .expired: "Deletions behind the cursor are no longer known."
    case .segment: "The cursor is of a store that has since been replaced or has lost its end."
    case .schema: "What a change shows has another form since the cursor was made."
    case .scope: "The caller sees more or less than when the cursor was made."
    }
  }
}

extension HTTPField.Name {
  /// Has nginx hand events on as they come.
  fileprivate static let accelBuffering = Self("X-Accel-Buffering")!
}
