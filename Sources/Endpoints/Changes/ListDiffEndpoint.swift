import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// `GET` and `POST` of `diff`: below an operation's path and its `@route`, below the path of a type's
/// entities, and below that of a relationship to many.
///
/// An entity whose id is `diff` gives way at `GET /v1/entities/{Type}/diff`, which is its list's; a
/// filter on the key reads it. Its relationships are where they are, and writes go to it.
struct ListDiffEndpoint: Sendable {
  let context: EndpointContext
  let operations: OperationService
  let lists: ListDiffer

  /// What is asked: of which list, and what the client has of it.
  private struct Question {
    let caller: Caller
    /// Without `from`, which is the diff's own.
    let parameters: [QueryString.Parameter]
    let base: ListDiffer.Base

    var collection: [CollectionRequest.Parameter] { parameters.map { .init($0.name, $0.value) } }
  }

  /// The first list of a query's answer.
  func operation(
    _ request: ServerRequest, named name: String, by path: OperationEndpoint.Path
  ) async -> ServerResponse {
    await answer(request) { question async throws(Failure) in
      try await diff(request, of: name, by: path, question)
    }
  }

  /// A page of a type's entities.
  func collection(_ request: ServerRequest) async -> ServerResponse {
    await answer(request) { question async throws(Failure) in
      try await lists.diff(
        ofType: request.parameters["type"] ?? "", parameters: question.collection,
        caller: question.caller, from: question.base)
    }
  }

  /// A page of what a relationship leads to.
  func relationship(_ request: ServerRequest) async -> ServerResponse {
    let key = EntityKey(
      type: request.parameters["type"] ?? "", key: request.parameters["id"] ?? "")
    return await answer(request) { question async throws(Failure) in
      try await lists.diff(
        ofRelationship: request.parameters["relationship"] ?? "", of: key,
        parameters: question.collection, caller: question.caller, from: question.base)
    }
  }

  private func diff(
    _ request: ServerRequest, of name: String, by path: OperationEndpoint.Path,
    _ question: Question
  ) async throws(Failure) -> ListDiffer.Outcome {
    guard try operations.kind(of: name) == .query else {
      throw Failure(.malformedRequest, "\(name) is not a query and shows no list.")
    }
    return try await operations.diff(
      name,
      input: .parameters(
        path: path.parameters(request, of: name, operations),
        query: question.parameters.map { .init($0.name, $0.value) }),
      context: OperationService.Context(
        caller: question.caller, directives: request.directives,
        traceparent: request.traceparent),
      from: question.base)
  }

  private func answer(
    _ request: ServerRequest, _ diff: (Question) async throws(Failure) -> ListDiffer.Outcome
  ) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      switch try await diff(try await question(request)) {
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

  /// `GET` names a list that was given before by its entity tag; `POST` tells the list itself.
  private func question(_ request: ServerRequest) async throws(Failure) -> Question {
    let parameters = try request.queryParameters()
    if request.method == .post {
      let have = try DiffBaseDocument.vector(try await context.json(of: request))
      return Question(
        caller: try await context.caller(of: request), parameters: parameters, base: .rows(have))
    }
    let from = parameters.first { $0.name == "from" }?.value
    return Question(
      caller: try await context.caller(of: request),
      parameters: parameters.filter { $0.name != "from" },
      base: from.map { ListDiffer.Base.tag(Self.opaque($0)) } ?? .nothing)
  }

  /// A tag as it was received, quotes and all, or without them.
  private static func opaque(_ text: String) -> String {
    EntityTag(parsing: text)?.uncoded.opaque ?? text
  }
}
