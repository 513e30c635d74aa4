import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// `GET` and `POST /v1/operations/{name}`, and the paths of `@route` under `/api`.
struct OperationEndpoint: Sendable {
  let context: EndpointContext
  let operations: OperationService
  let subscriptions: SubscriptionHub
  let mutations: DirectMutations
  let reads: ReadResponseWriter

  /// Runs a query with its variables in the path and the query string.
  ///
  /// - Parameter routed: the operation of the route; nil for a path that contains its name.
  func get(_ request: ServerRequest, of routed: ServedOperation? = nil) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let call = try OperationCall(request, of: routed, in: operations.directory)
      context.note(call.operation, of: request)
      switch call.operation.kind {
      case .query: break
      case .mutation: return Self.onlyPost(call.operation.name, request: request)
      case .subscription: throw Self.onlyStreamed(call.operation.name)
      }
      let epoch = reads.epoch
      let caller = try await context.caller(of: request)
      return try await read(
        call.operation,
        input: .parameters(path: call.pathParameters, query: query(request)),
        caller: caller, epoch: epoch, request: request)
    }
  }

  /// Runs a mutation, or a query with its variables in a JSON body.
  ///
  /// - Parameter routed: the operation of the route; nil for a path that contains its name.
  func post(_ request: ServerRequest, of routed: ServedOperation? = nil) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let call = try OperationCall(request, of: routed, in: operations.directory)
      context.note(call.operation, of: request)
      let operation = call.operation
      if operation.kind == .subscription {
        throw Self.onlyStreamed(operation.name)
      }
      let epoch = reads.epoch
      let caller = try await context.caller(of: request)
      let input = VariableInput.body(
        try await context.json(of: request), path: call.pathParameters)
      if operation.kind == .query {
        return try await read(
          operation, input: input, caller: caller, epoch: epoch, request: request)
      }
      return try await mutations.respond(
        to: request, operation, input: input, caller: caller,
        key: request.field("idempotency-key"), as: "application/json")
    }
  }

  /// Streams a live query: its response, sent again whenever the data in it changes; or a subscription:
  /// its events.
  ///
  /// - Parameter routed: the operation of the route; nil for a path that contains its name.
  func stream(_ request: ServerRequest, of routed: ServedOperation? = nil) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let call = try OperationCall(request, of: routed, in: operations.directory)
      context.note(call.operation, of: request)
      switch call.operation.kind {
      case .query: break
      case .mutation:
        throw Failure(
          .malformedRequest, "\(call.operation.name) is a mutation and has no stream.")
      case .subscription: break
      }
      let caller = try await context.streamCaller(of: request)
      let variables = try query(request).filter { $0.name != ServerRequest.ticketName }
      let input = VariableInput.parameters(path: call.pathParameters, query: variables)
      let callContext = OperationService.Context(
        caller: caller.caller, directives: request.directives)
      if call.operation.kind == .subscription {
        return try await events(
          of: call.operation, input: input, callContext, request, lease: caller.lease)
      }
      let start = try await operations.streamStart(
        call.operation, input: input, context: callContext,
        knownTag: request.field("last-event-id"))
      return .eventStream(
        stallMax: context.streamStallMax, holding: caller.lease
      ) { [operations] in
        operations.open(start)
      }
    }
  }

  private func read(
    _ operation: ServedOperation, input: VariableInput, caller: Caller, epoch: Int,
    request: ServerRequest
  ) async throws(Failure) -> ServerResponse {
    let draft = reads.begin(request, caller: caller, epoch: epoch)
    let read = try await operations.read(
      operation, input: input,
      context: OperationService.Context(
        caller: caller, directives: request.directives, noteFailure: request.failedReadObserver))
    return reads.response(to: draft, read: read)
  }

  /// Whether an operation exists and has a variable.
  func hasVariable(_ variable: String, operation name: String) -> Bool {
    let operation = try? operations.directory.operation(named: name)
    return operation?.description.variables.contains { $0.name == variable } ?? false
  }

  private func query(
    _ request: ServerRequest
  ) throws(Failure) -> [VariableInput.Parameter] {
    try request.queryParameters().map { .init($0.name, $0.value) }
  }

  /// Refuses a method at `/v1/operations/{name}`; `Allow` has the methods of this operation.
  func refuseMethod(_ request: ServerRequest) -> ServerResponse {
    var response = ServerResponse.problem(.methodNotAllowed, for: request)
    let name = request.head.path.split(separator: UInt8(ascii: "/")).last ?? []
    switch try? operations.directory.operation(named: PercentCoding.decode(name) ?? "").kind {
    case .query: response.fields[.allow] = Router.allow([.get, .post])
    case .mutation: response.fields[.allow] = Router.allow([.post])
    case .subscription, nil: break
    }
    return response
  }

  private static func onlyPost(_ name: String, request: ServerRequest) -> ServerResponse {
    var response = ServerResponse.failure(
      Failure(.methodNotAllowed, "\(name) is a mutation; send it with POST."), request: request)
    response.fields[.allow] = Router.allow([.post])
    return response
  }

  private static func onlyStreamed(_ name: String) -> Failure {
    Failure(
      .malformedRequest,
      "\(name) is a subscription; open its stream: GET /v1/operations/\(name)/stream.")
  }
}

/// An operation as a request's path selects it, with the variables in that path.
struct OperationCall {
  let operation: ServedOperation
  /// The path parameters of a `@route`, by the names of the operation's variables. The operation's own
  /// path contains only its name, in a parameter `name`, which a variable can be called too.
  let pathParameters: [VariableInput.Parameter]

  /// - Parameter routed: the operation of the route; nil for a path that contains its name.
  /// - Throws: ``Model/Failure/Code/unknownOperation`` with the nearest names.
  init(
    _ request: ServerRequest, of routed: ServedOperation?, in directory: OperationDirectory
  ) throws(Failure) {
    guard let routed else {
      operation = try directory.operation(named: request.parameters["name"] ?? "")
      pathParameters = []
      return
    }
    operation = routed
    pathParameters = routed.description.variables.compactMap { variable in
      request.parameters[variable.name].map { .init(variable.name, $0) }
    }
  }
}
