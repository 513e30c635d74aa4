import HTTPServer
import HTTPTypes
import HTTPWire
import LosslessJSON

/// Reads GraphQL parameters out of an HTTP request ("GraphQL over HTTP", sections 5 and 6).
enum RequestReading {
  /// Why an HTTP request is no GraphQL request; ends up as the status of the answer.
  enum Refusal: Error {
    case unsupportedMediaType
    case tooLarge
    case malformed(String)
    /// The client is gone, or the server answers by itself.
    case lost
  }

  static let bodyBytesMax = 1 << 20

  static func read(_ request: ServerRequest) async throws(Refusal) -> GraphQLRequest {
    let json =
      request.method == .get || request.method == .head
      ? try parameters(request) : try await content(request)
    guard let parsed = GraphQLRequest(json) else {
      throw .malformed("The request needs a query, and variables must be an object.")
    }
    return parsed
  }

  static func json(_ request: ServerRequest) async throws(Refusal) -> JSONValue {
    try await content(request)
  }

  private static func content(_ request: ServerRequest) async throws(Refusal) -> JSONValue {
    guard GraphQLMediaType.isJSON(request.fields[.contentType]) else {
      throw .unsupportedMediaType
    }
    let bytes: [UInt8]
    do throws(BodyReadError) {
      bytes = try await request.body.collect(upTo: bodyBytesMax)
    } catch {
      if case .tooLarge = error { throw .tooLarge }
      throw .lost
    }
    return try parse(bytes)
  }

  private static func parse(_ bytes: [UInt8]) throws(Refusal) -> JSONValue {
    do throws(JSONParseError) {
      return try JSONValue(parsing: bytes)
    } catch {
      throw .malformed("The body is no JSON: \(error)")
    }
  }

  /// Empty parameters count as absent.
  private static func parameters(_ request: ServerRequest) throws(Refusal) -> JSONValue {
    guard let query = try? request.query() else { throw .malformed("The query string is broken.") }
    var members: [JSONMember] = []
    for parameter in query.parameters where !parameter.value.isEmpty {
      switch parameter.name {
      case "query", "operationName":
        members.append(JSONMember(parameter.name, .string(parameter.value)))
      case "variables", "extensions":
        members.append(JSONMember(parameter.name, try parse(Array(parameter.value.utf8))))
      default: break
      }
    }
    return .object(members)
  }
}
