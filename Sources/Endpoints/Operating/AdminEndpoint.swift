import Gateway
import HTTPServer
import LosslessJSON
import Model

/// `/v1/admin/…`: what only the holder of the admin token may do.
struct AdminEndpoint: Sendable {
  let context: EndpointContext
  let operations: OperationService
  let purger: Purger

  func purge(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      try await context.requireAdmin(request)
      let targets = try PurgeDocument.targets(try await context.json(of: request))
      let count = try await purger.purge(targets)
      let body: JSONValue = ["purged": .number(JSONNumber(count))]
      return .json(body.bytes)
    }
  }

  /// Takes `{"operation", "variables"?}` and tells what an anonymous read of it would do.
  func explain(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      try await context.requireAdmin(request)
      let (name, variables) = try Self.question(try await context.json(of: request))
      let explanation = try await operations.explain(
        name, input: .body(variables, path: []),
        context: OperationService.Context(caller: .anonymous))
      return .json(ExplanationDocument.bytes(explanation))
    }
  }

  private static func question(
    _ bytes: [UInt8]
  ) throws(Failure) -> (operation: String, variables: [UInt8]) {
    let body: JSONValue
    do throws(JSONParseError) {
      body = try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
    guard let name = body["operation"]?.string else {
      throw Failure(
        .malformedRequest, "The body names no operation.",
        details: [.init(place: .pointer("/operation"), detail: "is a string")])
    }
    return (name, body["variables"]?.bytes ?? Array("{}".utf8))
  }
}
