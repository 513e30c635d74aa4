import Gateway
import Model

extension SettingShape where Value == [OutgoingHookSettings] {
  /// A list of sections, each `{on: Trip insert, when: before|after, url: …, secret?: …, timeout?: 2s,
  /// onTimeout?: refuse|allow, name?: …}`.
  static var outgoingHooks: Self {
    Self(
      noun: "a list of hooks", isSecret: true,
      read: { raw, reader in
        guard let items = reader.sections(raw) else { return nil }
        guard items.count <= OutgoingHookForm.countMax else {
          reader.refuse(
            raw, "`\(reader.name)` has more than \(OutgoingHookForm.countMax) elements")
          return nil
        }
        var hooks: [OutgoingHookSettings] = []
        for item in items {
          guard let hook = OutgoingHookForm.read(item, &reader) else { continue }
          if hooks.contains(where: { $0.name == hook.name }) {
            reader.refuse(
              item,
              "`\(reader.name)` has two hooks called `\(hook.name)`; give them a `name` each")
          }
          hooks.append(hook)
        }
        return reader.faults.isEmpty ? hooks : nil
      },
      show: { "[\($0.map(OutgoingHookForm.print).joined(separator: ", "))]" })
  }
}

/// The written form of one hook out.
private enum OutgoingHookForm {
  /// The maximum number of hooks: each has an outbox of its own.
  static let countMax = 64
  private static let required = ["on", "when", "url"]
  private static let optional = ["secret", "timeout", "onTimeout", "name"]
  private static let timeouts = Duration.milliseconds(100)...Duration.seconds(30)

  static func read(_ item: RawValue, _ reader: inout ValueReader) -> OutgoingHookSettings? {
    let countBefore = reader.faults.count
    guard
      let values = reader.members(
        of: item, "a hook", required: required, optional: optional,
        example: "{on: Trip insert, when: after, url: https://api.example.com/trips}")
    else { return nil }
    let trigger = values["on"].flatMap { Self.trigger($0, &reader) }
    let moment: OutgoingHook.Moment? = values["when"].flatMap { one($0, "when", .choice, &reader) }
    let url = values["url"].flatMap { one($0, "url", .url("http", "https"), &reader) }
    let secrets = values["secret"].map { Self.secrets(in: $0, &reader) } ?? []
    let timeout = values["timeout"].flatMap { one($0, "timeout", .duration(timeouts), &reader) }
    let unanswered: OutgoingHook.Unanswered? = values["onTimeout"].flatMap {
      one($0, "onTimeout", .choice, &reader)
    }
    let name = values["name"].flatMap { one($0, "name", .hookName, &reader) }
    guard let trigger, let moment, let url, reader.faults.count == countBefore else { return nil }
    return OutgoingHookSettings(
      name: name ?? OutgoingHookSettings.defaultName(trigger, moment), trigger: trigger,
      moment: moment, url: url, secrets: secrets,
      timeout: timeout ?? OutgoingHookSettings.timeoutDefault,
      unanswered: unanswered, places: MemberPlaces(item))
  }

  private static func trigger(_ raw: RawValue, _ reader: inout ValueReader) -> HookTrigger? {
    if case .text(let text) = raw.form, let trigger = HookTrigger(parsing: text) { return trigger }
    let writes = LocalChange.Operation.allCases.map(\.rawValue).joined(separator: "|")
    let outcomes = SettledOutcome.State.allCases.map(\.rawValue).joined(separator: "|")
    reader.refuse(
      raw, "`on` must be `<Type> \(writes)` or `mutation <Operation> \(outcomes)`")
    return nil
  }

  /// Reads a member. Messages do not repeat its text: the setting has secrets.
  private static func one<Value>(
    _ raw: RawValue, _ name: String, _ form: TextForm<Value>, _ reader: inout ValueReader
  ) -> Value? {
    guard case .text(let text) = raw.form else {
      reader.refuse(raw, "`\(name)` of a hook must be \(form.noun)")
      return nil
    }
    do throws(ValueRefusal) {
      return try form.parse(text, reader.folder)
    } catch {
      let reason = error.reason.map { "; \($0)" } ?? ""
      reader.refuse(raw, "`\(name)` of a hook must be \(form.noun)\(reason)")
      return nil
    }
  }

  private static func secrets(in raw: RawValue, _ reader: inout ValueReader) -> [Secret] {
    var items = [raw]
    if case .list(let elements) = raw.form { items = elements }
    if items.isEmpty { reader.refuse(raw, "`secret` of a hook needs at least 1 element") }
    return items.compactMap { one($0, "secret", .secret("a secret of one line"), &reader) }
  }

  static func print(_ hook: OutgoingHookSettings) -> String {
    let isNamed = hook.name != OutgoingHookSettings.defaultName(hook.trigger, hook.moment)
    let members: [(name: String, value: String?)] = [
      ("name", isNamed ? hook.name : nil), ("on", hook.trigger.text),
      ("when", hook.moment.rawValue), ("url", hook.url.text),
      ("secret", hook.secrets.isEmpty ? nil : Secret.mask),
      ("timeout", DurationText.print(hook.timeout)), ("onTimeout", hook.unanswered?.rawValue),
    ]
    let texts = members.compactMap { name, value in
      value.map { "\(YAMLText.scalar(name)): \(YAMLText.scalar($0))" }
    }
    return "{\(texts.joined(separator: ", "))}"
  }
}
