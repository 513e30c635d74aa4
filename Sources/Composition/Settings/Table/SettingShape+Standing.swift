import Gateway
import Model

extension SettingShape where Value == [StandingSettings] {
  /// A list of sections, each `{operation: Name, variables?: {…}, catchUp?: {operation, variable,
  /// field}}`.
  static var standing: Self {
    Self(
      noun: "a list of subscriptions", isSecret: false,
      read: { raw, reader in
        StandingForm.list(raw, &reader) { item, reader in
          StandingForm.standing(item, &reader).map {
            StandingSettings(rule: $0, places: MemberPlaces(item))
          }
        }
      },
      show: { "[\($0.map { StandingForm.print($0.rule) }.joined(separator: ", "))]" })
  }
}

extension SettingShape where Value == [PollSettings] {
  /// A list of sections, each `{operation: Name, every: 30s, variables?: {…}, since?: {variable,
  /// field}}`.
  static var polls: Self {
    Self(
      noun: "a list of queries", isSecret: false,
      read: { raw, reader in
        StandingForm.list(raw, &reader) { item, reader in
          StandingForm.poll(item, &reader).map {
            PollSettings(rule: $0, places: MemberPlaces(item))
          }
        }
      },
      show: { "[\($0.map { StandingForm.print($0.rule) }.joined(separator: ", "))]" })
  }
}

/// The written forms of standing subscriptions and polls.
private enum StandingForm {
  private static let everyRange = Duration.seconds(1)...Duration.seconds(86_400)
  /// The maximum number of elements in one list.
  private static let countMax = 1_000

  static func list<Element>(
    _ raw: RawValue, _ reader: inout ValueReader,
    _ read: (RawValue, inout ValueReader) -> Element?
  ) -> [Element]? {
    guard let items = reader.sections(raw) else { return nil }
    guard items.count <= countMax else {
      reader.refuse(raw, "`\(reader.name)` has more than \(countMax) elements")
      return nil
    }
    let elements = items.compactMap { read($0, &reader) }
    return reader.faults.isEmpty ? elements : nil
  }

  static func standing(_ item: RawValue, _ reader: inout ValueReader) -> StandingRule? {
    let countBefore = reader.faults.count
    let values = reader.members(
      of: item, "a subscription", required: ["operation"], optional: ["variables", "catchUp"],
      example: "{operation: FilmChanged}")
    let operation = values?["operation"].flatMap { reader.one($0, .graphQLName) }
    let variables = values?["variables"].flatMap { parameters(in: $0, &reader) } ?? []
    var catchUp: CatchUpRule?
    if let raw = values?["catchUp"],
      let parts = names(
        ["operation", "variable", "field"], in: raw, "`catchUp`",
        example: "{operation: FilmsSince, variable: since, field: updatedAt}", &reader)
    {
      catchUp = CatchUpRule(operation: parts[0], variable: parts[1], field: parts[2])
    }
    guard let operation, reader.faults.count == countBefore else { return nil }
    return StandingRule(operation: operation, variables: variables, catchUp: catchUp)
  }

  static func poll(_ item: RawValue, _ reader: inout ValueReader) -> PollRule? {
    let countBefore = reader.faults.count
    let values = reader.members(
      of: item, "a poll", required: ["operation", "every"], optional: ["variables", "since"],
      example: "{operation: Films, every: 30s}")
    let operation = values?["operation"].flatMap { reader.one($0, .graphQLName) }
    let every = values?["every"].flatMap { reader.one($0, .duration(everyRange)) }
    let variables = values?["variables"].flatMap { parameters(in: $0, &reader) } ?? []
    var since: PollRule.Since?
    if let raw = values?["since"],
      let parts = names(
        ["variable", "field"], in: raw, "`since`",
        example: "{variable: since, field: updatedAt}", &reader)
    {
      since = PollRule.Since(variable: parts[0], field: parts[1])
    }
    guard let operation, let every, reader.faults.count == countBefore else { return nil }
    return PollRule(operation: operation, every: every, variables: variables, since: since)
  }

  // MARK: Parts

  /// Reads a section of which every member is a name; nil after a fault.
  private static func names(
    _ members: [String], in raw: RawValue, _ noun: String, example: String,
    _ reader: inout ValueReader
  ) -> [String]? {
    let values = reader.members(
      of: raw, noun, required: members, optional: [], example: example)
    let names = members.compactMap { name in
      values?[name].flatMap { reader.one($0, .graphQLName) }
    }
    return names.count == members.count ? names : nil
  }

  /// Reads variables as they would stand in a query string: a list repeats the name, a section names its
  /// members.
  private static func parameters(
    in raw: RawValue, _ reader: inout ValueReader
  ) -> [VariableInput.Parameter]? {
    guard case .map(let entries) = raw.form else {
      reader.refuse(
        raw, "`variables` must be a section such as {studio: s1}, not \(raw.shape)")
      return nil
    }
    return entries.flatMap { parameters(named: $0.name, $0.value, &reader) }
  }

  private static func parameters(
    named name: String, _ raw: RawValue, _ reader: inout ValueReader
  ) -> [VariableInput.Parameter] {
    switch raw.form {
    case .empty: return [.init(name, "null")]
    case .text(let text): return [.init(name, text)]
    case .map(let entries):
      return entries.flatMap { parameters(named: "\(name).\($0.name)", $0.value, &reader) }
    case .list(let items):
      return items.compactMap { item in
        guard case .text(let text) = item.form else {
          reader.refuse(
            item, "write a list of sections or lists as JSON text, such as '[{\"id\": 1}]'")
          return nil
        }
        return .init(name, text)
      }
    }
  }

  // MARK: Printing

  static func print(_ rule: StandingRule) -> String {
    let catchUp = rule.catchUp.map {
      section([("operation", $0.operation), ("variable", $0.variable), ("field", $0.field)])
    }
    return print([
      ("operation", YAMLText.scalar(rule.operation)), ("variables", print(rule.variables)),
      ("catchUp", catchUp),
    ])
  }

  static func print(_ rule: PollRule) -> String {
    let since = rule.since.map { section([("variable", $0.variable), ("field", $0.field)]) }
    return print([
      ("operation", YAMLText.scalar(rule.operation)), ("every", DurationText.print(rule.every)),
      ("variables", print(rule.variables)), ("since", since),
    ])
  }

  private static func print(_ parameters: [VariableInput.Parameter]) -> String? {
    guard !parameters.isEmpty else { return nil }
    var names: [String] = []
    for parameter in parameters where !names.contains(parameter.name) {
      names.append(parameter.name)
    }
    return print(
      names.map { name in
        let texts = parameters.filter { $0.name == name }.map(\.value)
        return (name, texts.count == 1 ? YAMLText.scalar(texts[0]) : YAMLText.list(texts))
      })
  }

  private static func section(_ members: [(name: String, value: String)]) -> String {
    print(members.map { ($0.name, YAMLText.scalar($0.value)) })
  }

  private static func print(_ members: [(name: String, value: String?)]) -> String {
    let texts = members.compactMap { name, value in
      value.map { "\(YAMLText.scalar(name)): \($0)" }
    }
    return "{\(texts.joined(separator: ", "))}"
  }
}
