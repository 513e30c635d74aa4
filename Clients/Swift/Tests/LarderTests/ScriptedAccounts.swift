@testable import Larder

/// Devices and users as Larder has them: each device belongs to one user at most.
final class ScriptedAccounts: Sendable {
  private struct State {
    /// The users of devices, by the device's token; the empty text stands for none.
    var devices: [String: String] = [:]
    var count = 0
  }

  private let state = Locked(State())

  /// Forgets all devices, as after their removal.
  func removeDevices() {
    state.withLock { $0.devices = [:] }
  }

  /// The response to requests about devices and sessions; nil for others. `alias@example.com` is an address of
  /// the same user as `ada@example.com`.
  func answer(_ request: HTTPRequest) throws -> (status: Int, body: JSONValue)? {
    let token = request.headers["Device-Token"] ?? ""
    switch request.path {
    case "/v1/devices":
      let number = state.withLock { state in
        state.count += 1
        state.devices["token\(state.count)"] = ""
        return state.count
      }
      return (201, ["id": .string("d\(number)"), "deviceToken": .string("token\(number)")])
    case "/v1/auth/sign-out": return (204, [:])
    case "/v1/auth/sign-in":
      let email = try JSONValue(parsing: request.body ?? .init())["email"]?.string ?? ""
      let name = email.lowercased().split { "@ ".contains($0) }.first.map(String.init) ?? ""
      let user = name == "alias" ? "ada" : name
      let owner = state.withLock { state in
        if state.devices[token] == "" { state.devices[token] = user }
        return state.devices[token]
      }
      guard let owner else { return Self.unknownDevice }
      guard owner == user else { return (403, ["code": "device_of_another_user"]) }
      return (
        200,
        [
          "accessToken": .string("access of \(token)"),
          "refreshToken": .string("refresh of \(token)"), "expiresIn": 900,
          "userId": .string(user),
        ]
      )
    default:
      return state.withLock { $0.devices[token] == nil } ? Self.unknownDevice : nil
    }
  }

  private static let unknownDevice: (status: Int, body: JSONValue) = (
    401, ["code": "unauthenticated", "detail": "The device token is unknown."]
  )
}

extension Larder {
  @discardableResult
  func signIn(as name: String) async throws -> String {
    try await signIn(email: "\(name)@example.com", password: "secret")
  }
}
