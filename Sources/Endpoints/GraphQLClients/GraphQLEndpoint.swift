import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// `/v1/graphql`: the registered operations for GraphQL clients, over HTTP and server-sent events.
struct GraphQLEndpoint: Sendable {
  let context: EndpointContext
  let operations: GraphQLOperations
  let reads: ReadResponseWriter
  let cors: CORSPolicy

  /// Runs a query, or streams a live query or a subscription, with its parameters in the query string;
  /// or switches to WebSocket.
  func get(_ request: ServerRequest) async -> ServerResponse {
    if request.asksForWebSocket { return await socket(request) }
    return await respond(to: request) { accept throws(GraphQLRefusal) in
      let asked = try DocumentRequest(
        parameters: try await GraphQLRefusal.converting { () throws(Failure) in
          try request.queryParameters()
        })
      let match = try operations.match(asked)
      guard match.kind != .mutation else {
        throw GraphQLRefusal(
          Failure(.methodNotAllowed, "The document is a mutation; send it with POST."))
      }
      return try await run(asked, match, accept: accept, request: request)
    }
  }

  /// Runs an operation with its parameters in a JSON body.
  func post(_ request: ServerRequest) async -> ServerResponse {
    await respond(to: request) { accept throws(GraphQLRefusal) in
      try Self.refuseTicket(request)
      let body = try await GraphQLRefusal.converting { () async throws(Failure) in
        try await context.json(of: request)
      }
      let asked = try DocumentRequest(body: body)
      return try await run(
        asked, try operations.match(asked), accept: accept, request: request, content: body)
    }
  }

  private func respond(
    to request: ServerRequest,
    _ body: (GraphQLAccept) async throws(GraphQLRefusal) -> ServerResponse
  ) async -> ServerResponse {
    let accept = GraphQLAccept(request.head.fields.joined("accept"))
    do throws(GraphQLRefusal) {
      return try await body(accept)
    } catch {
      context.note(error.failure, requestID: request.id)
      // GraphQL over SSE reports what is wrong with the request in the stream.
      guard accept.single == .events, error.kind != .other else {
        return .refusal(error, accept: accept, request: request)
      }
      return events(.single(error.body(requestID: request.id)))
    }
  }

  private func run(
    _ asked: DocumentRequest, _ match: DocumentMatch, accept: GraphQLAccept,
    request: ServerRequest, content: [UInt8] = []
  ) async throws(GraphQLRefusal) -> ServerResponse {
    let isEndless = match.kind == .subscription || asked.isLive
    if isEndless || accept.single == .events {
      guard accept.takesEvents else {
        throw GraphQLRefusal(
          Failure(
            .notAcceptable,
            "A subscription or a live query is a stream: accept text/event-stream, or connect by "
              + "WebSocket."))
      }
      if request.method != .get { try Self.refuseTicket(request) }
      return try await stream(asked, match, request: request)
    }
    try Self.refuseTicket(request)
    let form: ReadForm
    switch accept.single {
    case .graphQL: form = .graphQL
    case .json: form = .graphQLAsJSON
    case .events, nil:
      throw GraphQLRefusal(
        Failure(
          .notAcceptable,
          "Accept must allow application/graphql-response+json or application/json."))
    }
    return try await GraphQLRefusal.converting { () async throws(Failure) in
      try await single(asked, match, form: form, request: request, content: content)
    }
  }

  /// A ticket is only for the streams of `GET`: it never runs a mutation.
  private static func refuseTicket(_ request: ServerRequest) throws(GraphQLRefusal) {
    do throws(Failure) {
      try request.refuseTicket()
    } catch {
      throw GraphQLRefusal(error)
    }
  }

  /// Runs an operation with one result.
  private func single(
    _ asked: DocumentRequest, _ match: DocumentMatch, form: ReadForm, request: ServerRequest,
    content: [UInt8]
  ) async throws(Failure) -> ServerResponse {
    let epoch = reads.epoch
    let caller = try await context.caller(of: request)
    switch match {
    case .unregistered(let document):
      let began = request.elapsed
      let body: [UInt8]
      do throws(Failure) {
        body = try await operations.unregistered.run(
          document, variables: asked.variables, caller: caller)
      } catch {
        request.note(error, since: began)
        throw error
      }
      let waited = request.elapsed - began
      request.note { $0.upstreamNanoseconds = waited.wholeNanoseconds }
      return DirectMutations.Outcome(body: body).response(as: form.contentType)
    case .operation(let operation) where operation.kind == .mutation:
      context.note(operation, of: request)
      return try await operations.mutations.respond(
        to: request, operation, input: asked.input, caller: caller,
        key: request.field("idempotency-key") ?? asked.idempotencyKey, as: form.contentType)
    case .operation(let operation):
      context.note(operation, of: request)
      let draft = reads.begin(
        request, content: content, caller: caller, epoch: epoch, form: form)
      let read = try await operations.operations.read(
        operation, input: asked.input,
        context: OperationService.Context(
          caller: caller, directives: request.directives, noteFailure: request.failedReadObserver))
      return reads.response(to: draft, read: read)
    }
  }

  /// Runs an operation as a stream of events.
  private func stream(
    _ asked: DocumentRequest, _ match: DocumentMatch, request: ServerRequest
  ) async throws(GraphQLRefusal) -> ServerResponse {
    let stream = try await GraphQLRefusal.converting { () async throws(Failure) in
      try await context.streamCaller(of: request)
    }
    let results = try await operations.begin(
      asked, match, caller: stream.caller,
      key: request.field("idempotency-key") ?? asked.idempotencyKey)
    return events(results, holding: stream.lease)
  }

  private func events(
    _ results: GraphQLOperations.Results, holding lease: StreamLease? = nil
  ) -> ServerResponse {
    .eventStream(stallMax: context.streamStallMax, holding: lease) { [operations] in
      GraphQLEvents(results, by: operations)
    }
  }
}
