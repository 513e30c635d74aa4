/// A row of the table of known settings: all that reading, refusing, showing and documenting it
/// need. A component in angle brackets, as in `types.<Type>.key`, stands for a name of the
/// writer's choice.
package struct SettingKey: Sendable {
  package struct Shown: Sendable {
    package let path: [String]
    /// As YAML, secrets masked; nil where nothing is set.
    package let text: String?

    package var name: String { path.joined(separator: ".") }
  }

  package let name: String
  /// Completes "must be …".
  package let noun: String
  package let doc: String
  /// A value as it would stand in the file.
  package let example: String
  package let isSecret: Bool
  /// False: read and checked, so that files written for later versions load, but without effect.
  package private(set) var isInUse = true

  let components: [Substring]
  /// How the component in angle brackets may be spelled.
  let memberForm: TextForm<String>?
  /// Takes the value, or tells the reader why not. `member` stands for the angle brackets.
  let assign:
    @Sendable (_ raw: RawValue, _ member: String, inout ValueReader, inout Settings) -> Void
  package let show: @Sendable (Settings) -> [Shown]

  /// The same row for a setting that has no effect yet.
  var reserved: SettingKey {
    var key = self
    key.isInUse = false
    return key
  }

  /// What stands before the angle brackets: a section whose names are open.
  var openSection: [Substring]? {
    memberForm == nil ? nil : Array(components.prefix { !$0.hasPrefix("<") })
  }

  /// Whether a written name, or the beginning of one, leads to this row.
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
      components: components, memberForm: nil,
      assign: { raw, _, reader, settings in
        if let value = shape.read(raw, &reader) { settings[keyPath: target] = value }
      },
      show: { [Shown(path: components.map(String.init), text: shape.show($0[keyPath: target]))] })
  }

  /// A row of an open section. `fresh` is what a member is before anything is said of it.
  init<Member: Sendable, Value>(
    _ name: String, membersOf target: SettingPath<Settings, [String: Member]>,
    named memberForm: TextForm<String>, fresh: Member,
    _ field: SettingPath<Member, Value>, _ shape: SettingShape<Value>,
    example: String, doc: String
  ) {
    let components = name.split(separator: ".")
    self.init(
      name: name, noun: shape.noun, doc: doc, example: example, isSecret: shape.isSecret,
      components: components, memberForm: memberForm,
      assign: { raw, member, reader, settings in
        if let value = shape.read(raw, &reader) {
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

  private init(
    name: String, noun: String, doc: String, example: String, isSecret: Bool,
    components: [Substring], memberForm: TextForm<String>?,
    assign:
      @escaping @Sendable (RawValue, String, inout ValueReader, inout Settings) -> Void,
    show: @escaping @Sendable (Settings) -> [Shown]
  ) {
    self.name = name
    self.noun = noun
    self.doc = doc
    self.example = example
    self.isSecret = isSecret
    self.components = components
    self.memberForm = memberForm
    self.assign = assign
    self.show = show
  }
}

/// Where a row's value goes.
typealias SettingPath<Root, Value> = any WritableKeyPath<Root, Value> & Sendable
