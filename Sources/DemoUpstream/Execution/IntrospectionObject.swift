import GraphQL

/// A thing introspection tells about, of the types whose names begin with two underscores.
enum IntrospectionObject {
  case schema
  /// A named type, or a list or non-null wrapping.
  case type(TypeReference)
  case field(SchemaField)
  case inputValue(InputValue)
  case enumValue(EnumValue)
  case directive(SchemaDirective)

  var typeName: String {
    switch self {
    case .schema: "__Schema"
    case .type: "__Type"
    case .field: "__Field"
    case .inputValue: "__InputValue"
    case .enumValue: "__EnumValue"
    case .directive: "__Directive"
    }
  }
}
