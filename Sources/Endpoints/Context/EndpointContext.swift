import Gateway
import HTTPServer
import HTTPWire
import Logging
import Model

/// The services that every endpoint needs to handle a request: its caller, body and failures.
struct EndpointContext: Sendable {
  private static let jsonType = "application/json"
  /// The media types of a `PATCH`: JSON, or a merge patch (RFC 7396).
  static let patchTypes = [jsonType, "application/merge-patch+json"]

  let callers: CallerIdentifier
  let queue: SyncQueue
  let bodyBytesMax: Int
  /// A stream whose client reads nothing for this long ends; the client resumes by its last event's id.
  let streamStallMax: Duration
  let logger: Logger

  /// Runs an endpoint and turns its failure into a problem document. Internal errors are logged.
  func respond(
    to request: ServerRequest, _ body: () async throws(Failure) -> ServerResponse
  ) async -> ServerResponse {
    do throws(Failure) {
      return try await body()
    } catch {
      if error.code == .internal {
        logger.error(
          "request failed",
          metadata: ["request_id": "\(request.id)", "cause": "\(error.cause ?? error.message)"])
      } else if let cause = error.cause {
        logger.debug(
          "request refused",
          metadata: [
            "request_id": "\(request.id)", "code": "\(error.code.rawValue)", "cause": "\(cause)",
          ])
      }
      return .failure(error, request: request)
    }
  }

  func caller(of request: ServerRequest) async throws(Failure) -> Caller {
    let caller = try await callers.caller { request.field($0) }
    request.noteVerified(
      authorization: caller.isAdmin || caller.user != nil,
      deviceToken: caller.device != nil && !caller.isOpenDevice)
    queue.notePresence(of: caller)
    return caller
  }

  /// The caller of a stream: the one that `?ticket=` was issued to, otherwise the same as ``caller(of:)``.
  func streamCaller(of request: ServerRequest) async throws(Failure) -> Caller {
    guard let ticket = (try? request.query())?.parameters.first(where: { $0.name == "ticket" })
    else { return try await caller(of: request) }
    return try await callers.caller(ticket: ticket.value)
  }

  func requireAdmin(_ request: ServerRequest) async throws(Failure) {
    guard callers.isAdminOn else {
      throw Failure(
        .adminOff, "Administration is off. Set admin.token in the settings to enable it.")
    }
    guard try await caller(of: request).isAdmin else {
      throw Failure(.unauthenticated, "This route requires the admin token in Authorization.")
    }
  }

  /// The body of a request that carries JSON; empty without a body.
  ///
  /// Other media types are refused, so that no page of another origin can post without a preflight.
  func json(of request: ServerRequest) async throws(Failure) -> [UInt8] {
    guard request.head.hasBody else { return [] }
    try Self.checkType(request.field("content-type") ?? "", method: request.method)
    do throws(BodyReadError) {
      return try await request.body.collect(upTo: bodyBytesMax)
    } catch {
      switch error {
      case .tooLarge(let bytesMax):
        throw Failure(.bodyTooLarge, "The body exceeds the limit of \(bytesMax) bytes.")
      case .incomplete:
        throw Failure(.bodyIncomplete, "The body ended before it was complete.", retry: .sameKey)
      case .refused, .disconnected, .cancelled:
        throw Failure(.malformedRequest, "The body was not received completely.")
      }
    }
  }

  private static func checkType(_ type: String, method: RequestMethod) throws(Failure) {
    if type == jsonType { return }
    let accepted = method == .patch ? patchTypes : [jsonType]
    let essence = type.split(separator: ";").first ?? ""
    guard accepted.contains(essence.trimmingBlanks.lowercased()) else {
      throw Failure(
        .unsupportedMediaType, "The Content-Type must be \(accepted.joined(separator: " or ")).")
    }
  }
}

extension Substring {
  fileprivate var trimmingBlanks: Substring {
    var text = drop { $0 == " " || $0 == "\t" }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}
