/// A row of the table of known settings: everything needed to read, validate, show and document the
/// setting. A component in angle brackets, as in `types.<Type>.key`, stands for a name that the
/// operator chooses.
package struct SettingKey: Sendable {
  package struct Shown: Sendable {
    package let path: [String]
    /// The value as YAML, secrets masked; nil if not set.
    package let text: String?

    package var name: String { path.joined(separator: ".") }
  }

  package let name: String
  /// The noun phrase that completes "must be …".
  package let noun: String
  package let doc: String
  /// A value as written in the settings file.
  package let example: String
  package let isSecret: Bool

  let components: [Substring]
  /// The forms of the components in angle brackets, in order.
  let memberForms: [TextForm<String>]
  /// Assigns the value, or reports a fault to the reader. `members` are the names in place of the
  /// angle brackets.
  let assign:
    @Sendable (_ raw: RawValue, _ members: [String], inout ValueReader, inout Settings) -> Void
  package let show: @Sendable (Settings) -> [Shown]

  /// The form of the first component in angle brackets.
  var memberForm: TextForm<String>? { memberForms.first }

  /// The components before the first angle brackets: a section whose names are open.
  var openSection: [Substring]? {
    memberForm == nil ? nil : Array(components.prefix { !$0.hasPrefix("<") })
  }

  /// The form of the names directly under a path, if the operator chooses them.
  func memberForm(under path: [String]) -> TextForm<String>? {
    guard path.count < components.count, components[path.count].hasPrefix("<"),
      leads(from: path)
    else { return nil }
    return memberForms[components.prefix(path.count).count { $0.hasPrefix("<") }]
  }

  /// Whether a path, or a prefix of one, leads to this row.
  func leads(from path: [String]) -> Bool {
    path.count <= components.count
      && zip(path, components).allSatisfy { $0 == $1 || $1.hasPrefix("<") }
  }

  init<Value>(
    _ name: String, _ target: SettingPath<Settings, Value>,
    _ shape: SettingShape<Value>, example: String, doc: String
  ) {
    let components = name.split(separator: ".")
    self.init(
      name: name, noun: shape.noun, doc: doc, example: example, isSecret: shape.isSecret,
      components: components, memberForms: [],
      assign: { raw, _, reader, settings in
        if let value = shape.read(raw, &reader) { settings[keyPath: target] = value }
      },
      show: { [Shown(path: components.map(String.init), text: shape.show($0[keyPath: target]))] })
  }

  /// A row of an open section. `fresh` is a member with its defaults.
  init<Member: Sendable, Value>(
    _ name: String, membersOf target: SettingPath<Settings, [String: Member]>,
    named memberForm: TextForm<String>, fresh: Member,
    _ field: SettingPath<Member, Value>, _ shape: SettingShape<Value>,
    example: String, doc: String
  ) {
    let components = name.split(separator: ".")
    self.init(
      name: name, noun: shape.noun, doc: doc, example: example, isSecret: shape.isSecret,
      components: components, memberForms: [memberForm],
      assign: { raw, members, reader, settings in
        if let member = members.first, let value = shape.read(raw, &reader) {
          settings[keyPath: target][member, default: fresh][keyPath: field] = value
        }
      },
      show: { settings in
        settings[keyPath: target].sorted { $0.key < $1.key }.map { member, value in
          Shown(
            path: components.map { $0.hasPrefix("<") ? member : String($0) },
            text: shape.show(value[keyPath: field]))
        }
      })
  }

  init(
    name: String, noun: String, doc: String, example: String, isSecret: Bool,
    components: [Substring], memberForms: [TextForm<String>],
    assign:
      @escaping @Sendable (RawValue, [String], inout ValueReader, inout Settings) -> Void,
    show: @escaping @Sendable (Settings) -> [Shown]
  ) {
    self.name = name
    self.noun = noun
    self.doc = doc
    self.example = example
    self.isSecret = isSecret
    self.components = components
    self.memberForms = memberForms
    self.assign = assign
    self.show = show
  }
}

extension SettingKey {
  /// The member of a section that switches the section's part of the service off. Its value can be
  /// written as the value of the section: `push: off` is `push: {enabled: false}`.
  static let switchMember = "enabled"

  /// The values that such a setting can have.
  static let switchWords = ["true", "on", "false", "off"]

  static func `switch`(
    _ section: String, _ target: SettingPath<Settings, Bool>, doc: String
  ) -> SettingKey {
    SettingKey(
      "\(section).\(switchMember)", target, .one(.onOrOff), example: "false",
      doc: doc + " `\(section): off` is short for `false`.")
  }
}

/// The key path that a row's value is assigned to.
typealias SettingPath<Root, Value> = any WritableKeyPath<Root, Value> & Sendable

/// A section of the settings with its rows, in the order in which they are shown.
package struct SettingSection: Sendable {
  /// Empty for the settings outside any section.
  package let name: String
  package let doc: String
  package let keys: [SettingKey]

  init(_ name: String, _ doc: String, _ keys: [SettingKey]) {
    self.name = name
    self.doc = doc
    self.keys = keys
  }
}

/// The shape of a setting: one value, an optional value or a list, each written in a ``TextForm``.
struct SettingShape<Value: Sendable>: Sendable {
  let noun: String
  let isSecret: Bool
  /// Nil after a fault was reported to the reader.
  let read: @Sendable (RawValue, inout ValueReader) -> Value?
  /// The value as YAML, secrets masked; nil if not set.
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

  /// A list; a single value counts as a list of one.
  ///
  /// - Parameter countMin: the minimum number of elements; 0 allows an empty list.
  static func list<Element>(
    _ form: TextForm<Element>, countMin: Int = 0
  ) -> Self where Value == [Element], Element: Hashable {
    Self(
      noun: "a list, each \(form.noun)", isSecret: form.isSecret,
      read: { raw, reader in reader.list(raw, form, countMin: countMin) },
      show: { $0.count < countMin ? nil : YAMLText.list($0.map(form.print)) })
  }
}
