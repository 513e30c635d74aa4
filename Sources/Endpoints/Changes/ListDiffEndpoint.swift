import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// `GET` and `POST` of `diff`: below an operation's path and its `@route`, below the path of a type's
/// entities, and below that of a relationship to many.
///
/// `GET /v1/entities/{Type}/diff` is the diff of the type's list, not an entity whose id is `diff`. Such
/// an entity can be read with a filter on the key; its relationships and writes keep their paths.
struct ListDiffEndpoint: Sendable {
  let context: EndpointContext
  let operations: OperationService
  let lists: ListDiffer

  /// A request for a diff: the list's parameters, and the version that the client has.
  private struct DiffRequest {
    let caller: Caller
    /// The parameters of the list, without `from`.
    let parameters: [QueryString.Parameter]
    let base: ListDiffer.Base

    var collection: [CollectionRequest.Parameter] { parameters.map { .init($0.name, $0.value) } }
  }

  /// Diffs the first list in a query's response.
  ///
  /// - Parameter routed: the operation of the route; nil for a path that contains its name.
  func operation(
    _ request: ServerRequest, of routed: ServedOperation? = nil
  ) async -> ServerResponse {
    await respond(to: request) { diffRequest async throws(Failure) in
      let call = try OperationCall(request, of: routed, in: operations.directory)
      return try await diff(call, request, diffRequest)
    }
  }

  /// Diffs a page of a type's entities.
  func collection(_ request: ServerRequest) async -> ServerResponse {
    await respond(to: request) { diffRequest async throws(Failure) in
      try await lists.diff(
        ofType: request.parameters["type"] ?? "", parameters: diffRequest.collection,
        caller: diffRequest.caller, from: diffRequest.base)
    }
  }

  /// Diffs a page of the entities that a relationship references.
  func relationship(_ request: ServerRequest) async -> ServerResponse {
    let key = EntityKey(
      type: request.parameters["type"] ?? "", key: request.parameters["id"] ?? "")
    return await respond(to: request) { diffRequest async throws(Failure) in
      try await lists.diff(
        ofRelationship: request.parameters["relationship"] ?? "", of: key,
        parameters: diffRequest.collection, caller: diffRequest.caller, from: diffRequest.base)
    }
  }

  private func diff(
    _ call: OperationCall, _ request: ServerRequest, _ diffRequest: DiffRequest
  ) async throws(Failure) -> ListDiffer.Outcome {
    guard call.operation.kind == .query else {
      throw Failure(
        .malformedRequest, "\(call.operation.name) is not a query; only queries have diffs.")
    }
    return try await operations.diff(
      call.operation,
      input: .parameters(
        path: call.pathParameters,
        query: diffRequest.parameters.map { .init($0.name, $0.value) }),
      context: OperationService.Context(
        caller: diffRequest.caller, directives: request.directives,
        noteFailure: request.failedReadObserver),
      from: diffRequest.base)
  }

  private func respond(
    to request: ServerRequest, _ diff: (DiffRequest) async throws(Failure) -> ListDiffer.Outcome
  ) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      switch try await diff(try await diffRequest(request)) {
      case .unchanged(let tag):
        return ServerResponse(
          status: .notModified,
          fields: [.eTag: EntityTag(tag).text, .cacheControl: "no-store"])
      case .body(let bytes, let tag):
        var response = ServerResponse.json(bytes)
        response.fields[.eTag] = EntityTag(tag).text
        return response
      }
    }
  }

  /// Reads a request: `GET` names the client's list by its entity tag, `POST` contains the list itself.
  private func diffRequest(_ request: ServerRequest) async throws(Failure) -> DiffRequest {
    let parameters = try request.queryParameters()
    if request.method == .post {
      let have = try DiffBaseDocument.vector(try await context.json(of: request))
      return DiffRequest(
        caller: try await context.caller(of: request), parameters: parameters, base: .rows(have))
    }
    let from = parameters.first { $0.name == "from" }?.value
    return DiffRequest(
      caller: try await context.caller(of: request),
      parameters: parameters.filter { $0.name != "from" },
      base: from.map { ListDiffer.Base.tag(Self.opaque($0)) } ?? .nothing)
  }

  /// The tag of the rendered response that a client's entity tag belongs to, with or without its quotes.
  static func opaque(_ text: String) -> String {
    ResponseSharing.renderedTag(EntityTag(parsing: text)?.uncoded.opaque ?? text)
  }
}

/// The request body of `POST …/diff`: `{"have":[["Film/9","<rev>"], …]}`.
enum DiffBaseDocument {
  /// The maximum number of rows. With more, clients must fetch the whole list.
  static let rowsMax = 100_000

  static func vector(_ bytes: [UInt8]) throws(Failure) -> ListVector {
    let body: JSONValue
    do throws(JSONParseError) {
      body = try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
    guard let have = body["have"]?.array, have.count <= rowsMax else {
      throw invalid([fault("/have", "must be an array of at most \(rowsMax) pairs")])
    }
    var faults: [Failure.Detail] = []
    var rows: [ListVector.Row] = []
    rows.reserveCapacity(have.count)
    for (index, element) in have.enumerated() {
      guard let pair = element.array, pair.count == 2, let id = pair[0].string,
        let revision = pair[1].string
      else {
        if faults.count < Failure.Detail.countMax {
          faults.append(fault("/have/\(index)", "must be [\"Type/id\", \"revision\"]"))
        }
        continue
      }
      rows.append(ListVector.Row(id: id, revision: revision))
    }
    guard faults.isEmpty else { throw invalid(faults) }
    return ListVector(rows: rows)
  }

  private static func fault(_ pointer: String, _ detail: String) -> Failure.Detail {
    Failure.Detail(place: .pointer(pointer), detail: detail)
  }

  private static func invalid(_ faults: [Failure.Detail]) -> Failure {
    Failure(.malformedRequest, "The list is invalid.", details: faults)
  }
}
