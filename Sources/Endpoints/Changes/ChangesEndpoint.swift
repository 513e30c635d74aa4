import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON
import Model

/// `GET /v1/changes` and `GET /v1/changes/stream`.
struct ChangesEndpoint: Sendable {
  let context: EndpointContext
  let feed: ChangeFeed
  let deltas: DeltaResponseCache

  func page(_ request: ServerRequest) async -> ServerResponse {
    await answer(request) {
      let caller = try await context.caller(of: request)
      let query = try ChangesQuery(request, types: feed.types)
      try feed.admit(caller, types: query.filter.types)
      // Noted before the page is read, so that it is never of a later head.
      let head = deltas.head
      let page = try await feed.page(
        caller: caller, filter: query.filter, since: query.since, limit: query.limit,
        wait: query.wait)
      let body = Self.body(of: page, queue: try await feed.queue(of: caller.viewer))
      // With a condition the store has to hear that it is still asked for.
      if page.elements.isEmpty, page.isComplete, query.wait == .zero, !caller.mayEnd,
        query.filter.condition == nil
      {
        deltas.keep(body, for: request, at: head)
      }
      return .json(body)
    }
  }

  func stream(_ request: ServerRequest) async -> ServerResponse {
    await answer(request) {
      let caller = try await context.streamCaller(of: request)
      var query = try ChangesQuery(request, types: feed.types)
      try feed.admit(caller, types: query.filter.types)
      if let last = request.field("last-event-id"), !last.isEmpty { query.since = .cursor(last) }
      let start = try await feed.streamStart(
        caller: caller, filter: query.filter, since: query.since)
      return .eventStream(stallMax: context.streamStallMax) { [feed] in feed.open(start) }
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

  // MARK: Faults

  private func answer(
    _ request: ServerRequest, _ body: () async throws -> ServerResponse
  ) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      do {
        return try await body()
      } catch let fault as CursorFault {
        return try Self.response(to: fault, request)
      } catch let failure as Failure {
        throw failure
      } catch {
        throw Failure(.internal, "The changes cannot be read.", cause: "\(error)")
      }
    }
  }

  private static func response(
    to fault: CursorFault, _ request: ServerRequest
  ) throws(Failure) -> ServerResponse {
    switch fault {
    case .malformed: throw parameterFault("is not a cursor of this service")
    case .otherFilter: throw parameterFault("was made with another filter")
    case .otherCaller: throw Failure(.forbidden, "The cursor was made for another caller.")
    case .gone(let reason): return .cursorGone(reason, restart: request.path, request: request)
    }
  }

  private static func parameterFault(_ detail: String) -> Failure {
    Failure(
      .malformedRequest, "The cursor cannot be used.",
      details: [Failure.Detail(place: .parameter("since"), detail: detail)])
  }
}
