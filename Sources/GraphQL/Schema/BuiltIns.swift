/// The built-in definitions of every schema: five scalars, the introspection types, the directives of
/// the specification and the meta fields.
enum BuiltIns {
  static let typenameField = SchemaField(name: "__typename", type: .nonNull(.named("String")))
  static let schemaField = SchemaField(name: "__schema", type: .nonNull(.named("__Schema")))
  static let typeField = SchemaField(
    name: "__type",
    arguments: NamedList([InputValue(name: "name", type: .nonNull(.named("String")))]),
    type: .named("__Type"))

  static let types: [NamedType] = parts.types
  static let directives: [SchemaDirective] = parts.directives

  static func types(missingIn declared: [NamedType]) -> [NamedType] {
    let names = Set(declared.map(\.name))
    return types.filter { !names.contains($0.name) }
  }

  static func directives(missingIn declared: [SchemaDirective]) -> [SchemaDirective] {
    let names = Set(declared.map(\.name))
    return directives.filter { !names.contains($0.name) }
  }

  static func isBuiltIn(type name: String) -> Bool { typeNames.contains(name) }
  static func isBuiltIn(directive name: String) -> Bool { directiveNames.contains(name) }

  private static let typeNames = Set(types.map(\.name))
  private static let directiveNames = Set(directives.map(\.name))

  private static let parts: (types: [NamedType], directives: [SchemaDirective]) = {
    let (document, faults) = Parser.parseRecovering(Source(name: "built-in types", body: sdl))
    assert(faults.isEmpty, "the built-in types do not parse")
    let parts = SchemaParts([document], extending: nil)
    return (parts.types, parts.directives)
  }()

  /// Specification 3.5, 3.13 and 4.2. Its locations would be misleading, but no fault refers to them.
  private static let sdl = """
    scalar String
    scalar Int
    scalar Float
    scalar Boolean
    scalar ID

    directive @include(if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
    directive @skip(if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
    directive @deprecated(reason: String = "No longer supported")
      on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION | ENUM_VALUE
    directive @specifiedBy(url: String!) on SCALAR
    directive @oneOf on INPUT_OBJECT

    type __Schema {
      description: String
      types: [__Type!]!
      queryType: __Type!
      mutationType: __Type
      subscriptionType: __Type
      directives: [__Directive!]!
    }

    type __Type {
      kind: __TypeKind!
      name: String
      description: String
      specifiedByURL: String
      fields(includeDeprecated: Boolean = false): [__Field!]
      interfaces: [__Type!]
      possibleTypes: [__Type!]
      enumValues(includeDeprecated: Boolean = false): [__EnumValue!]
      inputFields(includeDeprecated: Boolean = false): [__InputValue!]
      ofType: __Type
      isOneOf: Boolean
    }

    enum __TypeKind { SCALAR OBJECT INTERFACE UNION ENUM INPUT_OBJECT LIST NON_NULL }

    type __Field {
      name: String!
      description: String
      args(includeDeprecated: Boolean = false): [__InputValue!]!
      type: __Type!
      isDeprecated: Boolean!
      deprecationReason: String
    }

    type __InputValue {
      name: String!
      description: String
      type: __Type!
      defaultValue: String
      isDeprecated: Boolean!
      deprecationReason: String
    }

    type __EnumValue {
      name: String!
      description: String
      isDeprecated: Boolean!
      deprecationReason: String
    }

    type __Directive {
      name: String!
      description: String
      isRepeatable: Boolean!
      locations: [__DirectiveLocation!]!
      args(includeDeprecated: Boolean = false): [__InputValue!]!
    }

    enum __DirectiveLocation {
      QUERY MUTATION SUBSCRIPTION FIELD FRAGMENT_DEFINITION FRAGMENT_SPREAD INLINE_FRAGMENT
      VARIABLE_DEFINITION SCHEMA SCALAR OBJECT FIELD_DEFINITION ARGUMENT_DEFINITION INTERFACE
      UNION ENUM ENUM_VALUE INPUT_OBJECT INPUT_FIELD_DEFINITION
    }
    """
}
