import Gateway

extension SettingShape where Value == [PushRuleSettings] {
  /// A list of sections, each `{on: Type insert, to: field, text: …, heading?: …, chatId?: field}`.
  static var pushRules: Self {
    Self(
      noun: "a list of rules", isSecret: false,
      read: { raw, reader in
        guard let items = reader.sections(raw) else { return nil }
        var rules: [PushRuleSettings] = []
        for item in items {
          guard let rule = PushRuleForm.read(item, &reader) else { continue }
          if rules.contains(where: { $0.rule.name == rule.name }) {
            reader.refuse(item, "`\(reader.name)` has a rule for `\(rule.name)` twice")
          }
          rules.append(PushRuleSettings(rule: rule, place: item.place))
        }
        return reader.faults.isEmpty ? rules : nil
      },
      show: { "[\($0.map { PushRuleForm.print($0.rule) }.joined(separator: ", "))]" })
  }
}

/// The written form of one push rule.
private enum PushRuleForm {
  private static let required = ["on", "to", "text"]
  private static let optional = ["heading", "chatId"]

  static func read(_ item: RawValue, _ reader: inout ValueReader) -> PushRule? {
    let countBefore = reader.faults.count
    guard
      let values = reader.members(
        of: item, "a rule", required: required, optional: optional,
        example: "{on: Message insert, to: recipientIds, text: New message}")
    else { return nil }
    let on = values["on"].flatMap { event($0, &reader) }
    let recipients = values["to"].flatMap { reader.one($0, .graphQLName) }
    let chat = values["chatId"].flatMap { reader.one($0, .graphQLName) }
    let text = values["text"].flatMap { template($0, &reader) }
    let heading = values["heading"].flatMap { template($0, &reader) }
    guard let on, let recipients, let text, reader.faults.count == countBefore else { return nil }
    return PushRule(
      type: on.type, event: on.event, recipients: recipients, chat: chat, text: text,
      heading: heading)
  }

  private static func event(
    _ raw: RawValue, _ reader: inout ValueReader
  ) -> (type: String, event: PushRule.Event)? {
    if case .text(let text) = raw.form {
      let words = text.split(separator: " ")
      if words.count == 2, let event = PushRule.Event(rawValue: String(words[1])) {
        return (String(words[0]), event)
      }
    }
    let events = PushRule.Event.allCases.map(\.rawValue).joined(separator: " or ")
    reader.refuse(raw, "`on` must be a type and \(events), not \(raw.shape)")
    return nil
  }

  private static func template(_ raw: RawValue, _ reader: inout ValueReader) -> PushTemplate? {
    guard case .text(let text) = raw.form else {
      reader.refuse(raw, "a rule's text must be a text, not \(raw.shape)")
      return nil
    }
    do throws(PushTemplate.Fault) {
      return try PushTemplate(text)
    } catch {
      reader.refuse(
        raw, "a brace must enclose a field name, as in {title}; write two for a literal brace")
      return nil
    }
  }

  static func print(_ rule: PushRule) -> String {
    let members: [(name: String, value: String?)] = [
      ("on", "\(rule.type) \(rule.event.rawValue)"), ("to", rule.recipients),
      ("text", rule.text.source), ("heading", rule.heading?.source), ("chatId", rule.chat),
    ]
    let texts = members.compactMap { name, value in
      value.map { "\(YAMLText.scalar(name)): \(YAMLText.scalar($0))" }
    }
    return "{\(texts.joined(separator: ", "))}"
  }
}
