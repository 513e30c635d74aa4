/// Whether a setting holds one value, perhaps none, or a list, each written in a ``TextForm``.
struct SettingShape<Value: Sendable>: Sendable {
  let noun: String
  let isSecret: Bool
  /// Nil after the reader has been told of a fault.
  let read: @Sendable (RawValue, inout ValueReader) -> Value?
  /// As YAML, secrets masked; nil where nothing is set.
  let show: @Sendable (Value) -> String?

  static func one(_ form: TextForm<Value>) -> Self {
    Self(
      noun: form.noun, isSecret: form.isSecret,
      read: { raw, reader in reader.one(raw, form) },
      show: { YAMLText.scalar(form.print($0)) })
  }

  static func optional<Wrapped>(_ form: TextForm<Wrapped>) -> Self where Value == Wrapped? {
    Self(
      noun: form.noun, isSecret: form.isSecret,
      read: { raw, reader in reader.one(raw, form).map(Optional.some) },
      show: { $0.map { YAMLText.scalar(form.print($0)) } })
  }

  /// One value alone stands for a list of one. - Parameter countMin: 0 lets the list be empty.
  static func list<Element>(
    _ form: TextForm<Element>, countMin: Int = 0
  ) -> Self where Value == [Element], Element: Hashable {
    Self(
      noun: "a list, each \(form.noun)", isSecret: form.isSecret,
      read: { raw, reader in reader.list(raw, form, countMin: countMin) },
      show: { $0.count < countMin ? nil : YAMLText.list($0.map(form.print)) })
  }
}
