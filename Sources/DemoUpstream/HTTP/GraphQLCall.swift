import HTTPServer
import HTTPTypes
import HTTPWire

/// A GraphQL request with all that HTTP said about it.
struct GraphQLCall {
  let request: GraphQLRequest
  let caller: DemoEngine.Caller
  let prepared: Result<PreparedOperation, RequestRejection>
  let record: RecordedRequest
  /// The type of the answer.
  let mediaType: String

  init(request: GraphQLRequest, http: ServerRequest, engine: DemoEngine) {
    self.request = request
    let fields = http.fields
    caller = DemoEngine.Caller(
      authorization: fields[.authorization],
      idempotencyKey: HTTPField.Name.idempotencyKey.flatMap { fields[$0] },
      isSafe: http.method == .get)
    prepared = engine.prepare(request)
    mediaType = GraphQLMediaType.negotiated(accept: fields[.accept])
    let name = request.operationName ?? (try? prepared.get())?.name ?? ""
    record = RecordedRequest(
      operationName: name, query: request.query, variables: request.variables,
      fields: fields.map { (name: $0.name.canonicalName, value: $0.value) })
  }

  func answer(by engine: DemoEngine, brokenFields: Set<String>) -> DemoResponse {
    switch prepared {
    case .success(let operation):
      engine.answer(operation, of: request, from: caller, brokenFields: brokenFields)
    case .failure(let rejection):
      DemoResponse(outcome: .rejected(rejection.reason), bytes: rejection.bytes)
    }
  }
}
