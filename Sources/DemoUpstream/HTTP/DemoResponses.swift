import HTTPServer
import HTTPTypes
import LosslessJSON

/// HTTP answers around GraphQL bodies, with the statuses that most deployed servers use: 200 once
/// something was executed, 400 for what could not be.
enum DemoResponses {
  static func graphQL(_ answer: DemoResponse, mediaType: String) -> ServerResponse {
    var response = ServerResponse(contentType: mediaType, bytes: answer.bytes)
    switch answer.outcome {
    case .executed: break
    case .rejected: response.status = .badRequest
    case .keyConflict: response.status = .unprocessableContent
    case .needsPost:
      response.status = .methodNotAllowed
      response.fields[.allow] = "POST"
    }
    if answer.isReplay, let name = HTTPField.Name.idempotencyReplayed {
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
