import GraphQL
import LosslessJSON

/// Resolves the fields of the introspection types (specification 4.2) from the schema.
struct Introspection {
  let schema: Schema

  func type<Object>(named name: String) -> Resolved<Object> {
    schema.type(named: name) == nil ? .null : .introspected(.type(.named(name)))
  }

  func resolve<Object>(
    _ field: String, of object: IntrospectionObject, arguments: Arguments
  ) -> Resolved<Object> {
    let deprecatedToo = arguments["includeDeprecated"]?.bool ?? false
    return switch object {
    case .schema: schemaField(field)
    case .type(let type): typeField(field, of: type, deprecatedToo: deprecatedToo)
    case .field(let member): fieldField(field, of: member, deprecatedToo: deprecatedToo)
    case .inputValue(let value): inputValueField(field, of: value)
    case .enumValue(let value):
      shared(field, value.name, value.description, value.deprecationReason)
    case .directive(let directive):
      directiveField(field, of: directive, deprecatedToo: deprecatedToo)
    }
  }

  private func schemaField<Object>(_ field: String) -> Resolved<Object> {
    switch field {
    case "description": .string(schema.description)
    case "types": .list(schema.types.map { .introspected(.type(.named($0.name))) })
    case "queryType": root(.query)
    case "mutationType": root(.mutation)
    case "subscriptionType": root(.subscription)
    case "directives": .list(schema.directives.map { .introspected(.directive($0)) })
    default: .null
    }
  }

  private func root<Object>(_ operation: OperationType) -> Resolved<Object> {
    schema.rootName(for: operation).map { type(named: $0) } ?? .null
  }

  private func typeField<Object>(
    _ field: String, of reference: TypeReference, deprecatedToo: Bool
  ) -> Resolved<Object> {
    switch reference {
    case .list(let inner, _): return wrapperField(field, kind: "LIST", inner: inner)
    case .nonNull(let inner, _): return wrapperField(field, kind: "NON_NULL", inner: inner)
    case .named(let name):
      guard let type = schema.type(named: name.value) else { return .null }
      return namedTypeField(field, of: type, deprecatedToo: deprecatedToo)
    }
  }

  private func wrapperField<Object>(
    _ field: String, kind: String, inner: TypeReference
  ) -> Resolved<Object> {
    switch field {
    case "kind": .string(kind)
    case "ofType": .introspected(.type(inner))
    default: .null
    }
  }

  private func namedTypeField<Object>(
    _ field: String, of type: NamedType, deprecatedToo: Bool
  ) -> Resolved<Object> {
    switch field {
    case "kind": .string(type.kind.rawValue)
    case "name": .string(type.name)
    case "description": .string(type.description)
    case "specifiedByURL": .string(type.specifiedByURL)
    case "isOneOf": type.kind == .inputObject ? .bool(type.isOneOf) : .null
    case "fields" where type.kind == .object || type.kind == .interface:
      .list(
        type.fields.filter { deprecatedToo || $0.deprecationReason == nil }
          .map { .introspected(.field($0)) })
    case "interfaces" where type.kind == .object || type.kind == .interface:
      .list(type.interfaces.map { .introspected(.type(.named($0))) })
    case "possibleTypes" where type.isAbstract:
      .list(schema.possibleTypes(of: type).map { .introspected(.type(.named($0.name))) })
    case "enumValues" where type.kind == .enum:
      .list(
        type.values.filter { deprecatedToo || $0.deprecationReason == nil }
          .map { .introspected(.enumValue($0)) })
    case "inputFields" where type.kind == .inputObject:
      inputValues(type.inputFields, deprecatedToo: deprecatedToo)
    default: .null
    }
  }

  private func fieldField<Object>(
    _ field: String, of member: SchemaField, deprecatedToo: Bool
  ) -> Resolved<Object> {
    switch field {
    case "args": inputValues(member.arguments, deprecatedToo: deprecatedToo)
    case "type": .introspected(.type(member.type))
    default: shared(field, member.name, member.description, member.deprecationReason)
    }
  }

  private func inputValueField<Object>(
    _ field: String, of value: InputValue
  ) -> Resolved<Object> {
    switch field {
    case "type": .introspected(.type(value.type))
    case "defaultValue": .string(value.defaultValue.map { Printer.print($0) })
    default: shared(field, value.name, value.description, value.deprecationReason)
    }
  }

  /// A field that fields, input values and enum values all have.
  private func shared<Object>(
    _ field: String, _ name: String, _ description: String?, _ deprecationReason: String?
  ) -> Resolved<Object> {
    switch field {
    case "name": .string(name)
    case "description": .string(description)
    case "isDeprecated": .bool(deprecationReason != nil)
    case "deprecationReason": .string(deprecationReason)
    default: .null
    }
  }

  private func directiveField<Object>(
    _ field: String, of directive: SchemaDirective, deprecatedToo: Bool
  ) -> Resolved<Object> {
    switch field {
    case "name": .string(directive.name)
    case "description": .string(directive.description)
    case "isRepeatable": .bool(directive.isRepeatable)
    case "locations":
      .strings(
        DirectiveLocation.allCases.filter(directive.locations.contains).map(\.rawValue))
    case "args": inputValues(directive.arguments, deprecatedToo: deprecatedToo)
    default: .null
    }
  }

  private func inputValues<Object>(
    _ values: NamedList<InputValue>, deprecatedToo: Bool
  ) -> Resolved<Object> {
    .list(
      values.filter { deprecatedToo || $0.deprecationReason == nil }
        .map { .introspected(.inputValue($0)) })
  }
}

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
