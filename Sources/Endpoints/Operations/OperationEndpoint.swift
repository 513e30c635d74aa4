import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// `GET` and `POST /v1/operations/{name}`, and the paths of `@route` under `/api`.
struct OperationEndpoint: Sendable {
  let context: EndpointContext
  let operations: OperationService
  let queue: SyncQueue
  let reads: ReadResponseWriter

  /// Runs a query with its variables in the path and the query string.
  ///
  /// - Parameter routed: the operation of the route; nil for a path that contains its name.
  func get(_ request: ServerRequest, of routed: ServedOperation? = nil) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let call = try OperationCall(request, of: routed, in: operations.directory)
      switch call.operation.kind {
      case .query: break
      case .mutation: return Self.onlyPost(call.operation.name, request: request)
      case .subscription: throw Self.subscriptionsAreNotServed(call.operation.name)
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
      let operation = call.operation
      if operation.kind == .subscription {
        throw Self.subscriptionsAreNotServed(operation.name)
      }
      let epoch = reads.epoch
      let caller = try await context.caller(of: request)
      let input = VariableInput.body(
        try await context.json(of: request), path: call.pathParameters)
      if operation.kind == .query {
        return try await read(
          operation, input: input, caller: caller, epoch: epoch, request: request)
      }
      if caller.device != nil { return try await force(operation, input, caller: caller, request) }
      let body = try await operations.mutate(
        operation, input: input,
        context: OperationService.Context(caller: caller, traceparent: request.traceparent))
      return .json(body)
    }
  }

  /// Sends a device's mutation through its queue as a force, ahead of the mutations it does not conflict
  /// with.
  private func force(
    _ operation: ServedOperation, _ input: VariableInput, caller: Caller,
    _ request: ServerRequest
  ) async throws(Failure) -> ServerResponse {
    let key = try request.field("idempotency-key").map { text throws(Failure) in
      try IdempotencyKey.read(text)
    }
    let forced = try await queue.force(
      try operations.forced(operation, input: input), key: key, by: caller)
    // A response with data and errors is returned; a refusal without data is a failure.
    if let refusal = forced.refusal, forced.response?["data"]?.isNull ?? true { throw refusal }
    var members = forced.response?.members ?? []
    if !members.contains(where: { $0.name == "data" }) {
      members.insert(JSONMember("data", .null), at: 0)
    }
    var response = ServerResponse.json(JSONValue.object(members).bytes)
    if forced.isReplay { response.fields[.idempotencyReplayed] = "true" }
    return response
  }

  /// Streams a live query: its response, sent again whenever the data in it changes.
  ///
  /// - Parameter routed: the operation of the route; nil for a path that contains its name.
  func stream(_ request: ServerRequest, of routed: ServedOperation? = nil) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let call = try OperationCall(request, of: routed, in: operations.directory)
      switch call.operation.kind {
      case .query: break
      case .mutation:
        throw Failure(
          .malformedRequest, "\(call.operation.name) is a mutation and has no stream.")
      case .subscription: throw Self.subscriptionsAreNotServed(call.operation.name)
      }
      let caller = try await context.streamCaller(of: request)
      let variables = try query(request).filter { $0.name != "ticket" }
      let start = try await operations.streamStart(
        call.operation,
        input: .parameters(path: call.pathParameters, query: variables),
        context: OperationService.Context(
          caller: caller, directives: request.directives, traceparent: request.traceparent),
        knownTag: request.field("last-event-id"))
      return .eventStream(stallMax: context.streamStallMax) { [operations] in
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
        caller: caller, directives: request.directives, traceparent: request.traceparent))
    return reads.response(to: draft, read: read)
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

  private static func subscriptionsAreNotServed(_ name: String) -> Failure {
    Failure(.notImplemented, "\(name) is a subscription; subscriptions are not supported.")
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
