import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON
import Model

/// `GET` and `POST /v1/operations/{name}/diff`.
struct ListDiffEndpoint: Sendable {
  let context: EndpointContext
  let operations: OperationService

  /// From a list that was given before, by its entity tag.
  func get(_ request: ServerRequest, operation name: String) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      let parameters = try request.queryParameters()
      let from = parameters.first { $0.name == "from" }?.value
      return try await answer(
        request, name, parameters.filter { $0.name != "from" },
        base: from.map { ListDiffer.Base.tag(Self.opaque($0)) } ?? .nothing)
    }
  }

  /// From a list that the client tells.
  func post(_ request: ServerRequest, operation name: String) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      let have = try ListHaveDocument.vector(try await context.json(of: request))
      return try await answer(
        request, name, try request.queryParameters(), base: .rows(have))
    }
  }

  private func answer(
    _ request: ServerRequest, _ name: String, _ parameters: [QueryString.Parameter],
    base: ListDiffer.Base
  ) async throws(Failure) -> ServerResponse {
    guard try operations.kind(of: name) == .query else {
      throw Failure(.malformedRequest, "\(name) is not a query and shows no list.")
    }
    let caller = try await context.caller(of: request)
    let outcome = try await operations.diff(
      name,
      input: .parameters(path: [], query: parameters.map { .init($0.name, $0.value) }),
      context: OperationService.Context(
        caller: caller, directives: request.directives, traceparent: request.traceparent),
      from: base)
    switch outcome {
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

  /// A tag as it was received, quotes and all, or without them.
  private static func opaque(_ text: String) -> String {
    EntityTag(parsing: text)?.uncoded.opaque ?? text
  }
}
