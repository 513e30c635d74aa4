import GraphQL
import Model

/// Reads the keys and the unique fields of local types: `@key(fields: "country year")`, on the type or on
/// an interface that it implements, and `@unique` on fields, or `@unique(fields: "a b")` on the type.
struct LocalKeyReader {
  private let type: TypeDefinition
  private let fields: [LocalField]
  private(set) var findings: [Finding] = []

  /// - Parameter fields: those of the type.
  init(type: TypeDefinition, fields: [LocalField]) {
    self.type = type
    self.fields = fields
  }

  private mutating func fault(_ message: String, at location: Location) {
    findings.append(Finding(.fault, message, at: location))
  }

  private func definition(of field: String) -> FieldDefinition? {
    type.fields.first { $0.name.value == field }
  }

  // MARK: Keys

  /// - Parameter inherited: the definitions of the interfaces that the type implements.
  mutating func key(inherited: [TypeDefinition]) -> [String] {
    let declared = ([type] + inherited).lazy
      .compactMap { $0.directives.directive(named: LocalDirectives.key) }.first
    guard let declared else {
      checkDefaultKey()
      return [LocalType.keyField]
    }
    guard let text = DirectiveArguments(declared).string("fields") else {
      return [LocalType.keyField]
    }
    let names = Self.names(in: text)
    guard !names.isEmpty, Set(names).count == names.count else {
      fault("@key(fields:) must name each field of the key once.", at: declared.location)
      return [LocalType.keyField]
    }
    for name in names {
      guard let field = definition(of: name) else {
        fault(
          "The key of \(type.name.value) names the unknown field \(name)."
            + NearestNames.didYouMean(name, among: type.fields.map(\.name.value)),
          at: declared.location)
        continue
      }
      check(field, inKeyOf: names.count)
    }
    return names
  }

  private mutating func checkDefaultKey() {
    guard let key = definition(of: LocalType.keyField) else {
      return fault(
        "\(type.name.value) must have the field id: ID!, or name its key: @key(fields: \"…\").",
        at: type.name.location)
    }
    if key.type.description != "ID!" {
      fault(
        "The type of id must be ID!; for another key write @key(fields: \"id\").",
        at: key.type.location)
    }
    for directive in key.directives {
      fault("The field id cannot have directives.", at: directive.location)
    }
  }

  private mutating func check(_ definition: FieldDefinition, inKeyOf count: Int) {
    let name = definition.name.value
    guard let field = fields.first(where: { $0.name == name }) else { return }
    let isLeaf =
      switch field.kind {
      case .scalar, .enumeration: field.listDepth == 0
      case .object, .entity: false
      }
    if !isLeaf {
      fault(
        "A key field must be a scalar or an enum: \(name) is not.", at: definition.type.location)
    } else if !field.isRequired {
      fault(
        "A key field must be non-null: write \(name): \(definition.type)!",
        at: definition.type.location)
    }
    let refused =
      [LocalDirectives.fallback, LocalDirectives.inverse]
      + (count == 1 ? [LocalDirectives.unique] : [])
    for directive in definition.directives where refused.contains(directive.name.value) {
      fault(
        directive.name.value == LocalDirectives.unique
          ? "\(name) is the key, which is unique already."
          : "@\(directive.name.value) cannot be applied to a key field.", at: directive.location)
    }
  }

  // MARK: Unique fields

  /// Returns the lists of fields whose values together are unique.
  ///
  /// - Parameter key: the type's key.
  mutating func uniques(key: [String]) -> [[String]] {
    var found: [[String]] = []
    for definition in type.fields {
      let directive = definition.directives.directive(named: LocalDirectives.unique)
      guard let directive else { continue }
      let name = definition.name.value
      if check(uniqueField: name, at: directive.location) { found.append([name]) }
    }
    for directive in type.directives where directive.name.value == LocalDirectives.unique {
      guard let text = DirectiveArguments(directive).string("fields") else { continue }
      let names = Self.names(in: text)
      guard !names.isEmpty, Set(names).count == names.count else {
        fault("@unique(fields:) must name each field once.", at: directive.location)
        continue
      }
      if Set(names) == Set(key) {
        fault("\(text) is the key, which is unique already.", at: directive.location)
      } else if found.contains(where: { Set($0) == Set(names) }) {
        fault("\(text) is declared unique twice.", at: directive.location)
      }
      let isSound = names.map { check(uniqueField: $0, at: directive.location) }
      if isSound.allSatisfy({ $0 }) { found.append(names) }
    }
    return found
  }

  private mutating func check(uniqueField name: String, at location: Location) -> Bool {
    guard definition(of: name) != nil else {
      fault(
        "@unique names the unknown field \(name)."
          + NearestNames.didYouMean(name, among: type.fields.map(\.name.value)), at: location)
      return false
    }
    guard let field = fields.first(where: { $0.name == name }) else { return false }
    let isSingle =
      switch field.kind {
      case .scalar, .enumeration: field.listDepth == 0
      case .entity: field.listDepth == 0 && field.possibleTypes.isEmpty
      case .object: false
      }
    if !isSingle {
      fault(
        "@unique applies to scalars, enums and relationships to one entity of one type: \(name) is "
          + "none of these.", at: location)
    }
    return isSingle
  }

  private static func names(in text: String) -> [String] {
    text.split { " ,\t\n".contains($0) }.map(String.init)
  }
}
