import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model

/// `/v1/push`: push registrations of devices, and notifications.
struct PushEndpoint: Sendable {
  private static let limitDefault = 50

  let context: EndpointContext
  let push: PushService

  // MARK: Registration

  func showRegistration(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      .json(try await push.registration(of: try await context.caller(of: request)))
    }
  }

  func register(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      // The body is not used; reading it refuses other media types, and so a request without a preflight.
      _ = try await context.json(of: request)
      return .json(try await push.register(caller))
    }
  }

  func unregister(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      try await push.unregister(try await context.caller(of: request))
      return ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
    }
  }

  // MARK: Notifications

  func send(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      try push.requireSender(caller)
      let key = try IdempotencyKey.read(request.field("idempotency-key"))
      let notification = try NotificationRequestDocument.request(
        try await context.json(of: request))
      let receipt = try await push.send(notification, key: key, by: caller)
      var response = ServerResponse.json(receipt.body, status: .accepted)
      if receipt.isReplay { response.fields[.idempotencyReplayed] = "true" }
      response.fields[.location] = "/v1/push/notifications/\(receipt.id)"
      return response
    }
  }

  func show(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      return .json(try await push.notification(request.parameters["id"] ?? "", by: caller))
    }
  }

  func list(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      var after: String?
      var limit = Self.limitDefault
      var faults: [Failure.Detail] = []
      for parameter in try request.queryParameters() {
        switch parameter.name {
        case "after": after = parameter.value
        case "limit":
          let number = Int(parameter.value)
            .flatMap { (1...PushService.pageMax).contains($0) ? $0 : nil }
          limit = number ?? limit
          if number == nil {
            faults.append(Self.fault("limit", "must be a number from 1 to \(PushService.pageMax)"))
          }
        default: faults.append(Self.fault(parameter.name, "is not a parameter of this path"))
        }
      }
      guard faults.isEmpty else {
        throw Failure(
          .malformedRequest, "Invalid query parameters (\(faults.count)).", details: faults)
      }
      return .json(try await push.notifications(after: after, limit: limit))
    }
  }

  private static func fault(_ parameter: String, _ detail: String) -> Failure.Detail {
    Failure.Detail(place: .parameter(parameter), detail: detail)
  }
}
