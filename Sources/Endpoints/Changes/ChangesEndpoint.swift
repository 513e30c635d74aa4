import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON
import Model
import SyncScheduler

/// `GET /v1/changes` and `GET /v1/changes/stream`: pages and a stream of the change log.
struct ChangesEndpoint: Sendable {
  let context: EndpointContext
  let feed: ChangeFeed
  let deltas: DeltaResponseCache

  func page(_ request: ServerRequest) async -> ServerResponse {
    await respond(to: request) {
      let caller = try await context.caller(of: request)
      let query = try ChangesQuery(try request.queryParameters(), of: feed)
      try feed.admit(caller, to: query.filter)
      // Recorded before the page is read, so that it is never later than the page.
      let head = deltas.head
      let page = try await feed.page(
        caller: caller, filter: query.filter, since: query.since, limit: query.limit,
        wait: query.wait)
      let body = Self.body(of: page, queue: try await feed.queue(of: caller.viewer))
      // With a condition the feed must see each request, to know that it is still in use.
      if page.elements.isEmpty, page.isComplete, query.wait == .zero, !caller.isRevocable,
        query.filter.condition == nil
      {
        deltas.keep(body, for: request, at: head)
      }
      return .json(body)
    }
  }

  func stream(_ request: ServerRequest) async -> ServerResponse {
    await respond(to: request) {
      let stream = try await context.streamCaller(of: request)
      let caller = stream.caller
      var query = try ChangesQuery(try request.queryParameters(), of: feed)
      try feed.admit(caller, to: query.filter)
      if let last = request.field("last-event-id"), !last.isEmpty { query.since = .cursor(last) }
      let start = try await feed.streamStart(
        caller: caller, filter: query.filter, since: query.since)
      return .eventStream(stallMax: context.streamStallMax, holding: stream.lease) { [feed] in
        feed.open(start)
      }
    }
  }

  private static func body(of page: RenderedChanges, queue: QueueStatus?) -> [UInt8] {
    var writer = JSONWriter()
    writer.reserve(page.elements.reduce(256) { $0 + $1.json.count + 1 })
    writer.beginObject()
    writer.member("cursor", page.cursor)
    writer.name("complete")
    writer.bool(page.isComplete)
    writer.name("changes")
    writer.beginArray()
    for element in page.elements { element.json.withUnsafeBufferPointer { writer.raw($0) } }
    writer.endArray()
    if let queue {
      writer.name("queue")
      writer.value(queue.json)
    }
    writer.endObject()
    return writer.bytes
  }

  // MARK: Failures

  private func respond(
    to request: ServerRequest, _ body: () async throws -> ServerResponse
  ) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      do {
        return try await body()
      } catch let fault as CursorFault {
        return try Self.response(to: fault, request)
      } catch let failure as Failure {
        throw failure
      } catch {
        throw Failure(.internal, "The changes could not be read.", cause: "\(error)")
      }
    }
  }

  private static func response(
    to fault: CursorFault, _ request: ServerRequest
  ) throws(Failure) -> ServerResponse {
    guard case .gone(let reason) = fault else { throw failure(of: fault) }
    return .cursorGone(reason, restart: request.path, request: request)
  }

  /// The failure of a cursor that cannot be continued.
  static func failure(of fault: CursorFault) -> Failure {
    switch fault {
    case .malformed: parameterFault("is not a cursor of this service")
    case .otherFilter: parameterFault("was issued for another filter")
    case .withoutTime:
      parameterFault(
        "was not issued with this filter: one with now() continues only cursors of changes with the same "
          + "filter; start without a cursor")
    case .otherCaller: Failure(.forbidden, "The cursor was issued to another caller.")
    case .gone: Failure(.cursorGone, "The changes since the cursor are no longer known.")
    }
  }

  private static func parameterFault(_ detail: String) -> Failure {
    Failure(
      .malformedRequest, "The cursor is invalid.",
      details: [Failure.Detail(place: .parameter("since"), detail: detail)])
  }
}

extension ServerResponse {
  /// A stream of server-sent events. It ends with the source, when the client disconnects, or when the
  /// client reads nothing for `stallMax`.
  ///
  /// - Parameter lease: held until the stream ends.
  static func eventStream(
    stallMax: Duration, holding lease: StreamLease? = nil,
    _ open: @escaping @Sendable () -> any EventSource
  ) -> ServerResponse {
    ServerResponse(
      fields: [
        .contentType: "text/event-stream", .cacheControl: "no-store",
        .accelBuffering: "no",
      ],
      body: .stream { writer in
        writer.streamEvents(stallMax: stallMax)
        let source = open()
        while let bytes = try await source.next() { try await writer.write(bytes) }
        withExtendedLifetime(lease) {}
      })
  }

  /// A 410: the changes since the cursor are no longer known.
  ///
  /// - Parameter restart: the path to start again from.
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
    case .expired:
      "The cursor has expired; deletions since then are no longer known. Start again without it."
    case .segment:
      "The store was replaced or lost changes since the cursor was issued. Start again without it."
    case .schema:
      "The schema of changes differs since the cursor was issued. Start again without it."
    case .scope:
      "The caller's scope differs since the cursor was issued. Start again without it."
    }
  }
}

extension HTTPField.Name {
  /// Disables nginx's buffering, so that it passes each event on at once.
  fileprivate static let accelBuffering = Self("X-Accel-Buffering")!
}
