import Endpoints
import LosslessJSON

extension SettingsDump {
  /// Returns the settings for `GET /v1/admin/settings`, in the order of the reference.
  static func inForce(_ loaded: LoadedSettings) -> [SettingInForce] {
    keys(of: loaded).flatMap { key in
      key.show(loaded.settings).map { shown in
        SettingInForce(
          name: shown.name, value: shown.text, origin: loaded.places[shown.name]?.description,
          isSecret: key.isSecret, doc: key.doc)
      }
    }
  }

  /// Returns the settings for programs: `{"items": [{"name", "value", "origin", "isDefault", "isSecret"}]}`.
  /// `value` is YAML, and null if the setting is not set; secrets are masked.
  package static func json(_ loaded: LoadedSettings) -> String {
    JSONValue.object([JSONMember("items", items(loaded))]).text
  }

  /// Returns the array of ``json(_:)``.
  static func items(_ loaded: LoadedSettings) -> JSONValue {
    .array(
      inForce(loaded).map { setting in
        [
          "name": .string(setting.name),
          "value": setting.value.map(JSONValue.string) ?? .null,
          "origin": .string(setting.origin ?? "default"),
          "isDefault": .bool(setting.origin == nil),
          "isSecret": .bool(setting.isSecret),
        ]
      })
  }
}
