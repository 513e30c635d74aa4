import GraphQL
import Model

/// Determines the key of every object type: settings first, then `@key` on the type or one of its
/// interfaces, then a field called `id`.
struct EntityKeyReader {
  let schema: Schema
  let settings: RegistrySettings
  private(set) var findings: [Finding] = []

  init(schema: Schema, settings: RegistrySettings) {
    self.schema = schema
    self.settings = settings
  }

  mutating func read() -> EntityKeys {
    let roots = Set(OperationType.allCases.compactMap { schema.rootName(for: $0) })
    var rules: [String: EntityKeyRule] = [:]
    for type in schema.types
    where type.kind == .object && !roots.contains(type.name) && !type.name.hasPrefix("__") {
      if let rule = rule(for: type) { rules[type.name] = rule }
    }
    return EntityKeys(rules)
  }

  /// Where a key is declared.
  private enum Origin {
    case schema(Location)
    case settings(name: String)
  }

  private mutating func fault(_ message: String, at origin: Origin) {
    switch origin {
    case .schema(let location): findings.append(Finding(.fault, message, at: location))
    case .settings(let name):
      // Several upstreams can have a type that one setting is for.
      let place = settings.upstream == .sole ? "" : " (upstream \(settings.upstream))"
      findings.append(Finding(.fault, "`\(name)`\(place): \(message)", setting: name))
    }
  }

  private mutating func rule(for type: NamedType) -> EntityKeyRule? {
    let owners = [type] + type.interfaces.compactMap { schema.type(named: $0) }
    for owner in owners {
      let stored = settings.storedTypes[owner.name]
      if let fields = settings.keys[stored] {
        return rule(for: type, fields: fields, at: .settings(name: "types.\(stored).key"))
      }
    }
    for owner in owners {
      if let directive = owner.directives.directive(named: ClientDirectives.key),
        let text = directive.argument(named: "fields")?.stringText
      {
        return rule(for: type, fields: fields(in: text), at: .schema(directive.location))
      }
    }
    guard let id = type.fields[Self.defaultField], isUsable(id) else { return nil }
    return EntityKeyRule(type: settings.storedTypes[type.name], parts: [part(id)])
  }

  /// The key of a type without another one.
  private static let defaultField = "id"

  private func fields(in text: String) -> [String] {
    text.split { $0 == " " || $0 == "," || $0.isNewline || $0 == "\t" }.map(String.init)
  }

  private mutating func rule(
    for type: NamedType, fields: [String], at origin: Origin
  ) -> EntityKeyRule? {
    guard !fields.isEmpty, Set(fields).count == fields.count else {
      fault("The key of \(type.name) must name one or more different fields.", at: origin)
      return nil
    }
    var parts: [EntityKeyRule.Part] = []
    for name in fields {
      guard let field = type.fields[name] else {
        let hint = NearestNames.didYouMean(name, among: type.fields.names)
        fault(
          "The key of \(type.name) names the unknown field \"\(name)\".\(hint)",
          at: origin)
        return nil
      }
      guard isUsable(field) else {
        fault(
          "\"\(name)\" cannot be part of the key of \(type.name): a key field must be a scalar or "
            + "an enum without arguments.", at: origin)
        return nil
      }
      parts.append(part(field))
    }
    return EntityKeyRule(type: settings.storedTypes[type.name], parts: parts)
  }

  private func isUsable(_ field: SchemaField) -> Bool {
    field.type.item == nil && schema.type(of: field.type)?.isLeaf == true
      && field.arguments.isEmpty
  }

  private func part(_ field: SchemaField) -> EntityKeyRule.Part {
    let type = field.type.name.value
    let isInteger = type == "Int" || settings.scalarNumbers[type] == .integer
    return EntityKeyRule.Part(field: field.name, canonical: isInteger ? .integer : .text)
  }
}
