import HTTPServer
import HTTPTypes
import LosslessJSON

/// What a server in trouble sends.
enum FaultyResponses {
  /// Thrown to cut an answer short.
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

  /// - Parameter bytes: a good answer, of which the end is left out.
  static func brokenJSON(_ bytes: [UInt8], mediaType: String) -> ServerResponse {
    ServerResponse(contentType: mediaType, bytes: Array(bytes.dropLast(max(1, bytes.count / 2))))
  }

  static func halfBody(_ bytes: [UInt8], mediaType: String) -> ServerResponse {
    stream(length: bytes.count, mediaType: mediaType) { writer in
      try await writer.write(Array(bytes.prefix(bytes.count / 2)))
      throw Cut()
    }
  }

  static func oversize(_ count: Int, mediaType: String) -> ServerResponse {
    let head = Array(#"{"data":{"film":{"synopsis":""#.utf8)
    let tail = Array(#""}}}"#.utf8)
    let padding = max(0, count - head.count - tail.count)
    return stream(length: head.count + padding + tail.count, mediaType: mediaType) { writer in
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

  static func graphQLErrors(mediaType: String) -> ServerResponse {
    let body: JSONValue = [
      "errors": [
        ["message": "The library is closed.", "extensions": ["code": "INTERNAL_SERVER_ERROR"]]
      ],
      "data": .null,
    ]
    return ServerResponse(contentType: mediaType, bytes: body.bytes)
  }

  private static func stream(
    length: Int, mediaType: String,
    write: @escaping @Sendable (inout ResponseWriter) async throws -> Void
  ) -> ServerResponse {
    var response = ServerResponse(body: .stream(length: length, write: write))
    response.fields[.contentType] = mediaType
    return response
  }
}
