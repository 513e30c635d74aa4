import Endpoints

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
}
