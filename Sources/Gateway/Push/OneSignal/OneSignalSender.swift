import HTTPTypes
import HTTPWire
import LosslessJSON
package import Model

/// Sends with OneSignal, addressing users by their own ids, which OneSignal calls external ids.
package struct OneSignalSender: PushSender {
  package static let name = "onesignal"

  private let settings: OneSignalSettings
  private let exchange: OneSignalExchange

  /// - Parameter clock: the clock that dates in responses are compared with.
  package init(
    _ settings: OneSignalSettings, clock: WallClock, send: @escaping OneSignalExchange.Send
  ) {
    self.settings = settings
    exchange = OneSignalExchange(settings: settings, clock: clock, send: send)
  }

  package var name: String { Self.name }
  /// The limit of both APIs; the current one's reference states more, its libraries the same.
  package var userIDsMax: Int { 2_000 }

  package func send(_ batch: PushBatch) async throws(PushFault) -> PushReceipt {
    let response = try await exchange.ask(.post, "/notifications", body(of: batch))
    let id = response["id"]?.string ?? ""
    let errors = response["errors"]
    // A response with status 200 but without an id means that nothing was sent.
    guard !id.isEmpty else { return PushReceipt(remoteID: nil, reachedNoDevice: true) }
    let invalid =
      errors?["invalid_aliases"]?["external_id"]?.array
      ?? errors?["invalid_external_user_ids"]?.array ?? []
    let asked = Set(batch.userIDs)
    return PushReceipt(
      remoteID: id, invalidIDs: invalid.compactMap(\.string).filter(asked.contains))
  }

  /// Requests the newest notification, which changes and sends nothing: checks that OneSignal
  /// responds, and accepts the key for the application.
  package func probe() async throws(PushFault) {
    let app = PercentCoding.encode(settings.appID)
    let response = try await exchange.ask(
      .get, "/notifications?app_id=\(app)&limit=1&offset=0", nil)
    guard response["notifications"]?.array != nil else {
      throw .unknown(reason: "the response contains no list of notifications")
    }
  }

  private func body(of batch: PushBatch) -> JSONValue {
    let message = batch.message
    let ids = JSONValue.array(batch.userIDs.map { .string($0) })
    var body: JSONValue = [
      "app_id": .string(settings.appID),
      // Given for any language: OneSignal requires an English text, and falls back to it.
      "contents": ["en": .string(message.text)], "data": message.data,
    ]
    if let heading = message.heading { body["headings"] = ["en": .string(heading)] }
    switch settings.api {
    case .current:
      body["include_aliases"] = ["external_id": ids]
      body["target_channel"] = "push"
      body["idempotency_key"] = .string(batch.key)
    case .legacy:
      body["include_external_user_ids"] = ids
      body["channel_for_external_user_ids"] = "push"
      // The key's old name, unrelated to users' external ids.
      body["external_id"] = .string(batch.key)
    }
    return body
  }

  // MARK: Devices

  package func register(_ device: PushDevice) async throws(PushFault) -> String? {
    let platform = try OneSignalPlatform.named(device.platform)
    switch settings.api {
    case .current:
      // Creates the user or adds the device to it, and moves a token that another user had.
      let response = try await exchange.ask(
        .post, "/apps/\(settings.appID)/users",
        [
          "identity": ["external_id": .string(device.userID)],
          "subscriptions": [
            [
              "type": .string(platform.type), "token": .string(device.token), "enabled": true,
              "notification_types": 1,
            ]
          ],
        ])
      let own = response["subscriptions"]?.array?.first { $0["token"]?.string == device.token }
      return own?["id"]?.string
    case .legacy:
      guard let type = platform.deviceType else {
        throw .permanent(
          reason: "OneSignal's legacy API does not support the platform \(device.platform)")
      }
      let response = try await exchange.ask(
        .post, "/players",
        [
          "app_id": .string(settings.appID), "device_type": .number(.init(type)),
          "identifier": .string(device.token), "external_user_id": .string(device.userID),
        ])
      return response["id"]?.string
    }
  }

  package func unregister(_ device: PushDevice, remoteID: String?) async throws(PushFault) {
    switch (settings.api, remoteID) {
    case (.current, let id?):
      _ = try await exchange.ask(
        .delete, "/apps/\(settings.appID)/subscriptions/\(id)", nil, known: [404])
    case (.current, nil):
      // It is unknown whether OneSignal has the device: it is muted by its token, which needs no
      // id.
      let type = try OneSignalPlatform.named(device.platform).type
      let token = PercentCoding.encode(device.token)
      _ = try await exchange.ask(
        .patch, "/apps/\(settings.appID)/subscriptions_by_token/\(type)/\(token)",
        ["subscription": ["enabled": false]], known: [404])
    case (.legacy, let id?):
      _ = try await exchange.ask(
        .delete, "/players/\(id)?app_id=\(settings.appID)", nil, known: [404])
    case (.legacy, nil):
      // A player can be found by its token only by registering it again.
      if let id = try await register(device) { try await unregister(device, remoteID: id) }
    }
  }
}
