/// What every schema has without saying so: five scalars, the introspection types, the directives
/// of the specification and the meta fields.
enum BuiltIns {
  static let typenameField = SchemaField(name: "__typename", type: .nonNull(.named("String")))
  static let schemaField = SchemaField(name: "__schema", type: .nonNull(.named("__Schema")))
  static let typeField = SchemaField(
    name: "__type",
    arguments: NamedList([InputValue(name: "name", type: .nonNull(.named("String")))]),
    type: .named("__Type"))

  static let types: [NamedType] = []
  static let directives: [SchemaDirective] = []

  static func types(missingIn declared: [NamedType]) -> [NamedType] {
    let names = Set(declared.map(\.name))
    return types.filter { !names.contains($0.name) }
  }

  static func directives(missingIn declared: [SchemaDirective]) -> [SchemaDirective] {
    let names = Set(declared.map(\.name))
    return directives.filter { !names.contains($0.name) }
  }
}
