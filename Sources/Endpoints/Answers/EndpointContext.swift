import Gateway
import HTTPServer
import HTTPWire
import Logging
import Model

/// What every endpoint needs of a request: who asks, with which directives and body.
struct EndpointContext: Sendable {
  private static let jsonType = "application/json"
  /// What a `PATCH` takes: also a merge patch (RFC 7396).
  static let patchTypes = [jsonType, "application/merge-patch+json"]

  let callers: CallerIdentifier
  let queue: SyncQueue
  let bodyBytesMax: Int
  /// A client of a stream that takes nothing for this long comes back with its last event's id.
  let streamStallMax: Duration
  let logger: Logger

  /// Runs an endpoint and turns its failure into a problem document; the unknown is logged.
  func answer(
    _ request: ServerRequest, _ body: () async throws(Failure) -> ServerResponse
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

  /// Who asks for a stream: the caller a `?ticket=` was given to, else as everywhere.
  func streamCaller(of request: ServerRequest) async throws(Failure) -> Caller {
    guard let ticket = (try? request.query())?.parameters.first(where: { $0.name == "ticket" })
    else { return try await caller(of: request) }
    return try await callers.caller(ticket: ticket.value)
  }

  func requireAdmin(_ request: ServerRequest) async throws(Failure) {
    guard callers.isAdminOn else {
      throw Failure(.adminOff, "Administration is off: settings hold no admin.token.")
    }
    guard try await caller(of: request).isAdmin else {
      throw Failure(.unauthenticated, "This route takes the admin token.")
    }
  }

  /// The body of a request that carries JSON; empty for none.
  ///
  /// Other media types are refused, so that no page can post here without a preflight.
  func json(of request: ServerRequest) async throws(Failure) -> [UInt8] {
    guard request.head.hasBody else { return [] }
    try Self.checkType(request.field("content-type") ?? "", method: request.method)
    do throws(BodyReadError) {
      return try await request.body.collect(upTo: bodyBytesMax)
    } catch {
      switch error {
      case .tooLarge(let bytesMax):
        throw Failure(.bodyTooLarge, "The body is larger than \(bytesMax) bytes.")
      case .incomplete:
        throw Failure(.bodyIncomplete, "The body ended before it was whole.", retry: .sameKey)
      case .refused, .disconnected, .cancelled:
        throw Failure(.malformedRequest, "The body did not arrive whole.")
      }
    }
  }

  private static func checkType(_ type: String, method: RequestMethod) throws(Failure) {
    if type == jsonType { return }
    let accepted = method == .patch ? patchTypes : [jsonType]
    let essence = type.split(separator: ";").first ?? ""
    guard accepted.contains(essence.trimmingBlanks.lowercased()) else {
      throw Failure(
        .unsupportedMediaType, "The body is \(accepted.joined(separator: " or ")).")
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
