import LosslessJSON
package import Model
import Upstream

/// One operation as `GET /v1/operations`, `larder routes` and the OpenAPI document tell it.
package struct OperationDescription: Sendable {
  package struct Variable: Sendable {
    package let name: String
    /// The team's own words for it; nil without.
    package let description: String?
    /// As declared, `[ID!]!`.
    package let type: String
    package let isRequired: Bool
    /// The default as JSON text; nil without one.
    package let defaultText: String?
    package let shape: VariableShape
  }

  package enum Kind: String, Sendable {
    case query, mutation, subscription
  }

  package let name: String
  /// The team's own words for it; nil without.
  package let description: String?
  /// The team's own words for the fragments it uses; those without words are left out.
  package let fragments: [(name: String, text: String)]
  package let kind: Kind
  /// The path of `@route` under `/api`, with `{parameters}`.
  package let route: String?
  package let variables: [Variable]
  /// Nil for what is not a query.
  package let policy: CachePolicy?
  /// `PUBLIC`, `DEVICE`, `USER`, `ADMIN`; nil without `@access`.
  package let role: String?
  /// Whether a call without any token is let through.
  package let isOpen: Bool
  package let isCacheable: Bool
  /// Why answers are kept or not.
  package let reason: String

  /// The method of the operation's path.
  package var method: String { kind == .query ? "GET" : "POST" }

  package var paths: [String] {
    ["/v1/operations/\(name)"] + (route.map { ["/api\($0)"] } ?? [])
  }
}

/// What a variable takes, as far as a form or a schema must know.
package indirect enum VariableShape: Sendable {
  case nonNull(VariableShape)
  case list(VariableShape)
  case int, float, string, boolean, id
  case enumeration(name: String, values: [String])
  case object(name: String)
  case scalar(name: String)

  init(_ type: InputType) {
    self =
      switch type {
      case .nonNull(let inner): .nonNull(VariableShape(inner))
      case .list(let inner): .list(VariableShape(inner))
      case .int: .int
      case .float: .float
      case .string: .string
      case .boolean: .boolean
      case .id: .id
      case .enumeration(let name, let values): .enumeration(name: name, values: values)
      case .object(let name): .object(name: name)
      case .scalar(let name, _): .scalar(name: name)
      }
  }
}

extension OperationDescription {
  init(_ operation: RegisteredOperation) {
    self.init(
      name: operation.name,
      description: operation.description,
      fragments: operation.fragmentDescriptions,
      kind: Kind(operation.kind),
      route: operation.route?.path,
      variables: operation.variables.map { variable in
        Variable(
          name: variable.name, description: variable.description, type: variable.typeText,
          isRequired: variable.isRequired,
          defaultText: variable.defaultValue?.text, shape: VariableShape(variable.type))
      },
      policy: operation.kind == .query ? operation.cache : nil,
      role: operation.access.role?.rawValue,
      isOpen: operation.access.isOpen,
      isCacheable: operation.kind == .query && operation.cache.isKept,
      reason: operation.cacheNote)
  }
}

extension OperationDescription.Kind {
  init(_ kind: OperationKind) {
    self =
      switch kind {
      case .query: .query
      case .mutation: .mutation
      case .subscription: .subscription
      }
  }
}
