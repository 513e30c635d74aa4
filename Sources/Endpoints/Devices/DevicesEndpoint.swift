import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON
import Model

/// `/v1/devices`: registers devices, and shows, changes and removes the calling one.
struct DevicesEndpoint: Sendable {
  let context: EndpointContext
  let devices: DeviceRegistry

  func register(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      let registration = try DeviceDocument.registration(try await context.json(of: request))
      let registered = try await devices.register(
        registration, by: caller, from: request.network)
      var response = ServerResponse.json(
        DeviceDocument.bytes(id: registered.device.id, token: registered.token), status: .created)
      response.fields[.location] = "/v1/devices/me"
      return response
    }
  }

  func show(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let device = try await device(of: request)
      return .json(DeviceDocument.bytes(try await devices.find(device.tokenDigest)))
    }
  }

  func change(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let device = try await device(of: request)
      let change = try DeviceDocument.change(try await context.json(of: request))
      return .json(DeviceDocument.bytes(try await devices.change(device, change)))
    }
  }

  func remove(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      try await devices.remove(try await device(of: request))
      return ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
    }
  }

  func rotate(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let device = try await device(of: request)
      let token = try await devices.rotate(device)
      return .json(DeviceDocument.bytes(id: device.id, token: token))
    }
  }

  private func device(of request: ServerRequest) async throws(Failure) -> Caller.Device {
    guard let device = try await context.caller(of: request).device else {
      throw Failure(.unauthenticated, "This route requires a device token in Device-Token.")
    }
    return device
  }
}

/// `POST /v1/stream-tickets`: issues a ticket that identifies the caller once, in a stream's query.
struct StreamTicketsEndpoint: Sendable {
  let context: EndpointContext

  func issue(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let caller = try await context.caller(of: request)
      // The body is not used; reading it refuses other media types, and so a post without a preflight.
      _ = try await context.json(of: request)
      let body: JSONValue = [
        "ticket": .string(try context.callers.tickets.issue(to: caller, from: request.network)),
        "expiresIn": .number(JSONNumber(StreamTickets.lifetime.wholeSeconds)),
      ]
      return .json(body.bytes, status: .created)
    }
  }
}
