import Model

extension SettingTable {
  static let upstreams = SettingSection(
    "upstreams",
    "Several upstreams instead of `upstream`, each under a name of your choice and with all settings "
      + "of `upstream`. Operations are then in the folder `operations/NAME`, the schema in "
      + "`schemas/NAME.graphql`.",
    upstream.keys.map(\.ofEachUpstream) + upstreamTypes)

  private static let upstreamTypes: [SettingKey] = [
    .ofUpstreamType(
      "as", \.storedName, .optional(.graphQLName), example: "Disc",
      doc: "The name that entities of the type are stored and served under, in place of the type's "
        + "own. Documents sent upstream and `__typename` in responses keep the type's name."),
    .ofUpstreamType(
      "shared", \.isShared, .one(.boolean), example: "true",
      doc:
        "Declares that the type's entities are the same as those of another upstream that stores "
        + "them under the same name; each of them must declare it. The key fields must be equal."),
  ]

  static let links = SettingSection(
    "links",
    "Relationships between entities of different upstreams, joined from the stored data: "
      + "`Film.offers` is served as `/v1/entities/Film/{id}/offers`.",
    [
      SettingKey(
        "links.<link>.type", membersOf: \.links, named: .linkName, fresh: LinkSettings(), \.type,
        .optional(.graphQLName), example: "Offer", doc: "Entity type of the members."),
      SettingKey(
        "links.<link>.field", membersOf: \.links, named: .linkName, fresh: LinkSettings(), \.field,
        .optional(.graphQLName), example: "filmId",
        doc: "Field of the members that holds the key of the entity they belong to."),
    ])
}

extension SettingKey {
  private static let section = "upstreams.<upstream>"

  /// The row of `upstream` as a row of each of several upstreams.
  fileprivate var ofEachUpstream: SettingKey {
    let rest = components.dropFirst()
    return SettingKey(
      name: ([Self.section] + rest.map(String.init)).joined(separator: "."), noun: noun,
      doc: "As `\(name)`, for this upstream.",
      example: isSecret && rest.last?.hasPrefix("<") == true
        ? Self.sectionExample(rest, example) : example,
      isSecret: isSecret,
      components: Self.section.split(separator: ".") + rest,
      memberForms: [.upstreamName] + memberForms,
      assign: { raw, members, reader, settings in
        guard let upstream = members.first else { return }
        var alone = settings
        alone.upstream = settings.upstreams[upstream] ?? UpstreamSettings()
        assign(raw, Array(members.dropFirst()), &reader, &alone)
        settings.upstreams[upstream] = alone.upstream
      },
      show: { settings in
        settings.upstreams.sorted { $0.key < $1.key }.flatMap { upstream, values in
          var alone = settings
          alone.upstream = values
          return show(alone).map {
            Shown(path: ["upstreams", upstream] + $0.path.dropFirst(), text: $0.text)
          }
        }
      })
  }

  /// The value of an open row as YAML of the whole open section, which is what its variable holds.
  private static func sectionExample(_ rest: ArraySlice<Substring>, _ example: String) -> String {
    let names = ["shop"] + rest.filter { !$0.hasPrefix("<") }
    return names.reversed().reduce(example) { "{\($1): \($0)}" }
  }

  /// A row of a type of one of several upstreams.
  fileprivate static func ofUpstreamType<Value>(
    _ last: String, _ field: SettingPath<UpstreamTypeSettings, Value>,
    _ shape: SettingShape<Value>, example: String, doc: String
  ) -> SettingKey {
    let name = "\(section).types.<Type>.\(last)"
    return SettingKey(
      name: name, noun: shape.noun, doc: doc, example: example, isSecret: shape.isSecret,
      components: name.split(separator: "."), memberForms: [.upstreamName, .graphQLName],
      assign: { raw, members, reader, settings in
        guard members.count == 2, let value = shape.read(raw, &reader) else { return }
        settings.upstreams[members[0], default: UpstreamSettings()]
          .types[members[1], default: UpstreamTypeSettings()][keyPath: field] = value
      },
      show: { settings in
        settings.upstreams.sorted { $0.key < $1.key }.flatMap { upstream, values in
          values.types.sorted { $0.key < $1.key }.map { type, value in
            Shown(
              path: ["upstreams", upstream, "types", type, last],
              text: shape.show(value[keyPath: field]))
          }
        }
      })
  }
}

extension TextForm where Value == String {
  /// The name of an upstream: also that of a folder, a file and a value in metrics.
  fileprivate static var upstreamName: Self {
    Self(
      noun: "a name of at most 40 lower-case letters, digits, - and _, such as films",
      parse: { text, _ throws(ValueRefusal) in
        let isValid = text.utf8.enumerated().allSatisfy { index, byte in
          (0x61...0x7A).contains(byte)
            || index > 0 && ((0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F)
        }
        guard isValid, (1...40).contains(text.utf8.count) else { throw ValueRefusal() }
        guard text != UpstreamName.sole.text else {
          throw ValueRefusal("`\(text)` is the name of the upstream in the section `upstream`")
        }
        return text
      },
      print: { $0 })
  }

  fileprivate static var linkName: Self {
    Self(
      noun: "a type and the name of the relationship, such as Film.offers",
      parse: { text, folder throws(ValueRefusal) in
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { throw ValueRefusal() }
        for part in parts { _ = try TextForm.graphQLName.parse(part, folder) }
        return text
      },
      print: { $0 })
  }
}
