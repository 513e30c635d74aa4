import HTTPServer
import LosslessJSON
import Model

/// A setting in force.
package struct SettingInForce: Sendable {
  /// With the operator's names in place of angle brackets.
  package let name: String
  /// As YAML, secrets masked; nil if it is not set.
  package let value: String?
  /// The place it was read from; nil for a default.
  package let origin: String?
  package let isSecret: Bool
  package let doc: String

  package init(name: String, value: String?, origin: String?, isSecret: Bool, doc: String) {
    self.name = name
    self.value = value
    self.origin = origin
    self.isSecret = isSecret
    self.doc = doc
  }
}

/// `GET /v1/admin/settings`: the settings in force, each with its origin.
struct SettingsEndpoint: Sendable {
  let context: EndpointContext
  let settings: [SettingInForce]
  let version: String

  func list(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let body: JSONValue = [
        "version": .string(version), "items": .array(settings.map(Self.value)),
      ]
      return .json(body.bytes)
    }
  }

  private static func value(_ setting: SettingInForce) -> JSONValue {
    [
      "name": .string(setting.name), "value": setting.value.map(JSONValue.string) ?? .null,
      "origin": .string(setting.origin ?? "default"), "isDefault": .bool(setting.origin == nil),
      "isSecret": .bool(setting.isSecret), "doc": .string(setting.doc),
    ]
  }
}
