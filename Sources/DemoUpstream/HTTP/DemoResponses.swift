import HTTPServer
import HTTPTypes
import LosslessJSON

/// HTTP responses with GraphQL bodies, with the statuses that most deployed servers use: 200 once
/// something was executed, 400 for what could not be.
enum DemoResponses {
  static func graphQL(_ result: DemoResponse, _ mediaType: String) -> ServerResponse {
    var response = ServerResponse(contentType: mediaType, bytes: result.bytes)
    switch result.outcome {
    case .executed: break
    case .rejected: response.status = .badRequest
    case .keyConflict: response.status = .unprocessableContent
    case .needsPost:
      response.status = .methodNotAllowed
      response.fields[.allow] = "POST"
    }
    if result.isReplay, let name = HTTPField.Name.idempotencyReplayed {
      response.fields[name] = "true"
    }
    response.fields[.cacheControl] = "no-store"
    return response
  }

  static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> ServerResponse {
    var response = ServerResponse(
      status: status, contentType: "application/json", bytes: value.bytes)
    response.fields[.cacheControl] = "no-store"
    return response
  }

  static func error(_ message: String, status: HTTPResponse.Status) -> ServerResponse {
    json(["errors": [["message": .string(message)]]], status: status)
  }

  static func methodNotAllowed(_ allowed: String) -> ServerResponse {
    var response = error("Use \(allowed).", status: .methodNotAllowed)
    response.fields[.allow] = allowed
    return response
  }

  static func refusal(_ refusal: RequestReading.Refusal) -> ServerResponse {
    switch refusal {
    case .unsupportedMediaType: error("Send application/json.", status: .unsupportedMediaType)
    case .tooLarge: error("The body is too large.", status: .contentTooLarge)
    case .malformed(let message): error(message, status: .badRequest)
    case .lost: error("The request did not arrive.", status: .badRequest)
    }
  }
}

/// The responses of a failing server.
enum FaultyResponses {
  /// Thrown to truncate a response.
  private struct Cut: Error {}

  private static let pieceBytes = 64 * 1024

  static func status(_ status: Int) -> ServerResponse {
    var response = DemoResponses.json(
      ["error": "out of order"], status: HTTPResponse.Status(code: status))
    if status == 429 || status == 503 { response.fields[.retryAfter] = "1" }
    return response
  }

  static func html() -> ServerResponse {
    let page = "<!doctype html><title>502 Bad Gateway</title><h1>Bad Gateway</h1>\n"
    return ServerResponse(
      status: .badGateway, contentType: "text/html; charset=utf-8", bytes: Array(page.utf8))
  }

  /// - Parameter bytes: a valid response, of which the end is omitted.
  static func brokenJSON(_ bytes: [UInt8], _ mediaType: String) -> ServerResponse {
    ServerResponse(contentType: mediaType, bytes: Array(bytes.dropLast(max(1, bytes.count / 2))))
  }

  static func halfBody(_ bytes: [UInt8], _ mediaType: String) -> ServerResponse {
    stream(bytes.count, mediaType) { writer in
      try await writer.write(Array(bytes.prefix(bytes.count / 2)))
      throw Cut()
    }
  }

  static func oversize(_ count: Int, _ mediaType: String) -> ServerResponse {
    let head = Array(#"{"data":{"film":{"synopsis":""#.utf8)
    let tail = Array(#""}}}"#.utf8)
    let padding = max(0, count - head.count - tail.count)
    return stream(head.count + padding + tail.count, mediaType) { writer in
      try await writer.write(head)
      var rest = padding
      while rest > 0 {
        let piece = min(rest, pieceBytes)
        try await writer.write([UInt8](repeating: UInt8(ascii: "x"), count: piece))
        rest -= piece
      }
      try await writer.write(tail)
    }
  }

  static func graphQLErrors(_ mediaType: String) -> ServerResponse {
    let body: JSONValue = [
      "errors": [
        ["message": "The library is closed.", "extensions": ["code": "INTERNAL_SERVER_ERROR"]]
      ],
      "data": .null,
    ]
    return ServerResponse(contentType: mediaType, bytes: body.bytes)
  }

  private static func stream(
    _ length: Int, _ mediaType: String,
    write: @escaping @Sendable (inout ResponseWriter) async throws -> Void
  ) -> ServerResponse {
    var response = ServerResponse(body: .stream(length: length, write: write))
    response.fields[.contentType] = mediaType
    return response
  }
}

extension HTTPField.Name {
  /// Nil only if the text were no field name, which it is.
  static let idempotencyKey = HTTPField.Name("Idempotency-Key")
  static let idempotencyReplayed = HTTPField.Name("Idempotency-Replayed")
}
