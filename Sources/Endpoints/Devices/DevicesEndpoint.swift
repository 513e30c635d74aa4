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

  func reset(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let device = try await device(of: request)
      _ = try await context.json(of: request)
      try await devices.reset(device)
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

  /// Removes any device; requires the admin token.
  func removeForOperator(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      guard try await devices.remove(id: request.parameters["device"] ?? "") else {
        throw Failure(.notFound, "No device has this id.")
      }
      return ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
    }
  }

  // MARK: Tokens that only read

  func issueToken(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let device = try await device(of: request)
      let lifetime = try DeviceTokenDocument.lifetime(try await context.json(of: request))
      let issued = try await devices.issueReadToken(to: device, lifetime: lifetime)
      return .json(
        DeviceTokenDocument.bytes(issued.token, text: issued.text), status: .created)
    }
  }

  func listTokens(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let device = try await device(of: request)
      return .json(DeviceTokenDocument.bytes(try await devices.readTokens(of: device)))
    }
  }

  func removeToken(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let device = try await device(of: request)
      try await devices.removeReadToken(request.parameters["id"] ?? "", of: device)
      return ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
    }
  }

  private func device(of request: ServerRequest) async throws(Failure) -> Caller.Device {
    guard let device = try await context.caller(of: request).device else {
      throw Failure(.unauthenticated, "This route requires a device token in Device-Token.")
    }
    return device
  }
}
