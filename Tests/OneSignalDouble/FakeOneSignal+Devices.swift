import HTTPClient
import HTTPTypes
import LosslessJSON
import Model
import Synchronization

extension FakeOneSignal {
  private static let types: Set<String> = [
    "iOSPush", "AndroidPush", "FireOSPush", "HuaweiPush", "ChromePush", "FirefoxPush", "SafariPush",
    "SafariLegacyPush", "WindowsPush", "macOSPush", "ChromeExtensionPush", "Email", "SMS",
  ]
  private static let deviceTypes: Set<Int64> = [0, 1, 2, 5, 6, 7, 8, 9, 11, 13, 14]

  // MARK: Current API

  /// - Parameter path: the path after the application's.
  func users(
    _ method: HTTPRequest.Method, _ path: [String], _ body: JSONValue
  ) -> HTTPClientResponse {
    switch (method, path.first, path.count) {
    case (.post, "users", 1): return addUser(body)
    case (.delete, "subscriptions", 2):
      return removeSubscription(path[1]) ?? Self.refusal(404, "Subscription not found")
    case (.patch, "subscriptions_by_token", 3): return change(path[1], path[2], body)
    default: return Self.refusal(404, "not found")
    }
  }

  private func addUser(_ body: JSONValue) -> HTTPClientResponse {
    let known: Set<String> = ["identity", "properties", "subscriptions"]
    let unknown =
      Self.unknown(in: body, but: known)
      + Self.unknown(in: body["identity"] ?? [:], but: ["external_id"])
    guard unknown.isEmpty else { return Self.refusal(400, "Unknown fields: \(unknown)") }
    guard let user = body["identity"]?["external_id"]?.string, !user.isEmpty else {
      return Self.refusal(400, "identity needs an alias")
    }
    let subscriptions = body["subscriptions"]?.array ?? []
    for subscription in subscriptions {
      if let fault = fault(of: subscription) { return Self.refusal(400, fault) }
    }
    return state.withLock { state in
      let isKnown = state.subscriptions.contains { $0.user == user }
      for subscription in subscriptions {
        put(
          subscription["type"]?.string ?? "", subscription["token"]?.string ?? "", of: user,
          isEnabled: subscription["enabled"]?.bool ?? true, &state)
      }
      let own = state.subscriptions.filter { $0.user == user }.map { own -> JSONValue in
        [
          "id": .string(own.id), "type": .string(own.type), "token": .string(own.token),
          "enabled": .bool(own.isEnabled),
        ]
      }
      return Self.answer(
        [
          "identity": ["external_id": .string(user), "onesignal_id": .string(fresh(&state))],
          "properties": [:], "subscriptions": .array(own),
        ], status: isKnown ? 202 : 201)
    }
  }

  private func fault(of subscription: JSONValue) -> String? {
    let known: Set<String> = [
      "type", "token", "enabled", "notification_types", "app_version", "device_model",
      "device_os", "sdk", "test_type",
    ]
    let unknown = Self.unknown(in: subscription, but: known)
    if !unknown.isEmpty { return "Unknown fields: \(unknown)" }
    guard Self.types.contains(subscription["type"]?.string ?? "") else {
      return "type is not one of the known"
    }
    return subscription["token"]?.string?.isEmpty == false ? nil : "token is missing"
  }

  private func change(_ type: String, _ token: String, _ body: JSONValue) -> HTTPClientResponse {
    guard Self.unknown(in: body, but: ["subscription"]).isEmpty,
      let subscription = body["subscription"],
      Self.unknown(in: subscription, but: ["token", "enabled", "notification_types"]).isEmpty
    else { return Self.refusal(400, "Unknown fields") }
    return state.withLock { state in
      guard
        let place = state.subscriptions.firstIndex(where: { $0.type == type && $0.token == token })
      else { return Self.refusal(404, "Subscription not found") }
      state.subscriptions[place].isEnabled =
        subscription["enabled"]?.bool ?? state.subscriptions[place].isEnabled
      return Self.answer([:], status: 202)
    }
  }

  // MARK: Legacy API

  func addPlayer(_ body: JSONValue) -> HTTPClientResponse {
    let known: Set<String> = [
      "app_id", "device_type", "identifier", "external_user_id", "language", "tags", "test_type",
    ]
    let unknown = Self.unknown(in: body, but: known)
    guard unknown.isEmpty, body["app_id"]?.string == Self.appID else {
      return Self.refusal(400, "Unknown fields: \(unknown), or no app_id")
    }
    guard let type = body["device_type"]?.int64, Self.deviceTypes.contains(type),
      let token = body["identifier"]?.string, !token.isEmpty
    else { return Self.refusal(400, "device_type and identifier are needed") }
    return state.withLock { state in
      let user = body["external_user_id"]?.string ?? ""
      put("\(type)", token, of: user, isEnabled: true, &state)
      let id = state.subscriptions.first { $0.token == token }?.id ?? ""
      return Self.answer(["success": true, "id": .string(id)])
    }
  }

  // MARK: Both APIs

  /// A token that another user had moves.
  private func put(
    _ type: String, _ token: String, of user: String, isEnabled: Bool, _ state: inout State
  ) {
    if let place = state.subscriptions.firstIndex(where: { $0.type == type && $0.token == token }) {
      state.subscriptions[place].user = user
      state.subscriptions[place].isEnabled = isEnabled
    } else {
      state.subscriptions.append(
        Subscription(
          id: fresh(&state), type: type, token: token, user: user, isEnabled: isEnabled))
    }
  }

  /// - Returns: nil where there is none of that id.
  func removeSubscription(_ id: String) -> HTTPClientResponse? {
    state.withLock { state in
      guard let place = state.subscriptions.firstIndex(where: { $0.id == id }) else { return nil }
      state.subscriptions.remove(at: place)
      return Self.answer(["success": true], status: form == .current ? 202 : 200)
    }
  }
}
