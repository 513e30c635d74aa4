import GraphQL
import LosslessJSON

/// An introspection object, of a type whose name begins with two underscores.
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

/// Resolves the fields of the introspection types (specification 4.2) from the schema.
struct Introspection<Object> {
  let schema: Schema

  func type(named name: String?) -> Resolved<Object> {
    name.flatMap(schema.type(named:)).map { .introspected(.type(.named($0.name))) } ?? .null
  }

  func resolve(
    _ field: String, of object: IntrospectionObject, arguments: JSONValue
  ) -> Resolved<Object> {
    let all = arguments["includeDeprecated"]?.bool ?? false
    switch (object, field) {
    case (.schema, "description"): return .text(schema.description)
    case (.schema, "types"): return types(schema.types.map(\.name))
    case (.schema, "queryType"): return type(named: schema.rootName(for: .query))
    case (.schema, "mutationType"): return type(named: schema.rootName(for: .mutation))
    case (.schema, "subscriptionType"): return type(named: schema.rootName(for: .subscription))
    case (.schema, "directives"): return list(schema.directives) { .directive($0) }
    case (.type(.named(let name)), _):
      return schema.type(named: name.value).map { resolve(field, of: $0, all: all) } ?? .null
    case (.type(let wrapper), "kind"): return .text(wrapper.isNonNull ? "NON_NULL" : "LIST")
    case (.type(let wrapper), "ofType"):
      return .introspected(.type(wrapper.isNonNull ? wrapper.nullable : wrapper.item ?? wrapper))
    case (.field(let member), "args"): return inputs(member.arguments, all: all)
    case (.field(let member), "type"): return .introspected(.type(member.type))
    case (.field(let member), _):
      return shared(field, member.name, member.description, member.deprecationReason)
    case (.inputValue(let value), "type"): return .introspected(.type(value.type))
    case (.inputValue(let value), "defaultValue"):
      return .text(value.defaultValue.map { Printer.print($0) })
    case (.inputValue(let value), _):
      return shared(field, value.name, value.description, value.deprecationReason)
    case (.enumValue(let value), _):
      return shared(field, value.name, value.description, value.deprecationReason)
    case (.directive(let directive), "isRepeatable"): return .value(.bool(directive.isRepeatable))
    case (.directive(let directive), "locations"):
      return .list(
        DirectiveLocation.allCases.filter(directive.locations.contains).map { .text($0.rawValue) })
    case (.directive(let directive), "args"): return inputs(directive.arguments, all: all)
    case (.directive(let directive), _):
      return shared(field, directive.name, directive.description, nil)
    default: return .null
    }
  }

  private func resolve(_ field: String, of type: NamedType, all: Bool) -> Resolved<Object> {
    let hasFields = type.kind == .object || type.kind == .interface
    return switch field {
    case "kind": .text(type.kind.rawValue)
    case "name": .text(type.name)
    case "description": .text(type.description)
    case "specifiedByURL": .text(type.specifiedByURL)
    case "isOneOf": type.kind == .inputObject ? .value(.bool(type.isOneOf)) : .null
    case "fields" where hasFields:
      list(type.fields.filter { all || $0.deprecationReason == nil }) { .field($0) }
    case "interfaces" where hasFields: types(type.interfaces)
    case "possibleTypes" where type.isAbstract: types(schema.possibleTypes(of: type).map(\.name))
    case "enumValues" where type.kind == .enum:
      list(type.values.filter { all || $0.deprecationReason == nil }) { .enumValue($0) }
    case "inputFields" where type.kind == .inputObject: inputs(type.inputFields, all: all)
    default: .null
    }
  }

  /// A field that fields, input values, enum values and directives have.
  private func shared(
    _ field: String, _ name: String, _ description: String?, _ deprecationReason: String?
  ) -> Resolved<Object> {
    switch field {
    case "name": .text(name)
    case "description": .text(description)
    case "isDeprecated": .value(.bool(deprecationReason != nil))
    case "deprecationReason": .text(deprecationReason)
    default: .null
    }
  }

  private func types(_ names: [String]) -> Resolved<Object> {
    list(names) { .type(.named($0)) }
  }

  private func inputs(_ values: NamedList<InputValue>, all: Bool) -> Resolved<Object> {
    list(values.filter { all || $0.deprecationReason == nil }) { .inputValue($0) }
  }

  private func list<Part>(
    _ parts: some Sequence<Part>, _ object: (Part) -> IntrospectionObject
  ) -> Resolved<Object> {
    .list(parts.map { .introspected(object($0)) })
  }
}
