import Gateway
import HTTPServer
import LosslessJSON
import Model

/// `GET /v1/admin/devices`: the registered devices, for operators.
struct OperatedDevicesEndpoint: Sendable {
  let context: EndpointContext
  let devices: DeviceRegistry

  func list(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let parameters = try ConsoleParameters(request, own: ["user"])
      let page = try await devices.page(
        after: parameters.after ?? "", user: parameters["user"], limit: parameters.limit + 1)
      return ConsolePage.response(page, limit: parameters.limit, id: \.id, value: Self.value)
    }
  }

  func show(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      .json(Self.value(try await devices.device(request.parameters["device"] ?? "")).bytes)
    }
  }

  /// Of the push token only whether there is one: who has it can send notifications.
  private static func value(_ device: Device) -> JSONValue {
    var value: JSONValue = ["id": .string(device.id), "platform": .string(device.platform)]
    if let name = device.name { value["name"] = .string(name) }
    if let user = device.user { value["userId"] = .string(user) }
    value["access"] = .string(device.access.rawValue)
    value["registeredAt"] = ConsolePage.time(device.registered)
    value["lastUsedAt"] = ConsolePage.time(device.lastUsed)
    value["hasPushToken"] = .bool(device.pushToken != nil)
    return value
  }
}
