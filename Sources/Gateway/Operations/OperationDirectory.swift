import GraphQL
import LosslessJSON
package import Model
package import Upstream

/// The operations that clients can call, by name.
package struct OperationDirectory: Sendable {
  /// A client's variables before they are coerced.
  package enum Input: Sendable {
    package struct Parameter: Hashable, Sendable {
      package let name: String
      package let value: String

      package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
      }
    }

    /// Percent-decoded parameters of the path and of the query string.
    case parameters(path: [Parameter], query: [Parameter])
    case body([UInt8], path: [Parameter])
  }

  /// In alphabetical order.
  package let operations: [ServedOperation]
  private let byName: [String: ServedOperation]

  package init(registry: OperationRegistry) {
    operations = registry.operations.map(ServedOperation.init)
    byName = Dictionary(operations.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The descriptions of the operations, in alphabetical order.
  package var descriptions: [OperationDescription] { operations.map(\.description) }

  /// Returns an operation, or throws ``Model/Failure/Code/unknownOperation`` with the nearest names.
  package func operation(named name: String) throws(Failure) -> ServedOperation {
    if let operation = byName[name] { return operation }
    let hint = NearestNames.didYouMean(name, among: operations.map(\.name))
    throw Failure(.unknownOperation, "There is no operation named \(name).\(hint)")
  }
}

/// An operation that clients can call. A request resolves it once, by its route or its name, and passes
/// it on.
package final class ServedOperation: Sendable {
  package let description: OperationDescription
  let registered: RegisteredOperation

  init(_ registered: RegisteredOperation) {
    description = OperationDescription(registered)
    self.registered = registered
  }

  package var name: String { registered.name }
  package var kind: OperationDescription.Kind { description.kind }

  /// Coerces a client's variables.
  func variables(from input: OperationDirectory.Input) throws(Failure) -> Variables {
    do throws(VariableFaults) {
      return try registered.coerce(VariableInput(input))
    } catch {
      throw Failure(
        .invalidVariables, "\(error.all.count) of the variables are invalid.",
        details: error.all)
    }
  }
}

extension VariableInput {
  fileprivate init(_ input: OperationDirectory.Input) {
    self =
      switch input {
      case .parameters(let path, let query):
        .parameters(path: path.map(Parameter.init), query: query.map(Parameter.init))
      case .body(let bytes, let path):
        .body(bytes, path: path.map(Parameter.init))
      }
  }
}

extension VariableInput.Parameter {
  fileprivate init(_ parameter: OperationDirectory.Input.Parameter) {
    self.init(parameter.name, parameter.value)
  }
}

/// An operation as `GET /v1/operations`, `larder routes` and the OpenAPI document describe it.
package struct OperationDescription: Sendable {
  package struct Variable: Sendable {
    package let name: String
    /// Its description in the schema; nil without one.
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
  /// Its description in the document; nil without one.
  package let description: String?
  /// The descriptions of the fragments it uses, without those that have none.
  package let fragments: [(name: String, text: String)]
  package let kind: Kind
  /// The path of `@route` under `/api`, with `{parameters}`.
  package let route: String?
  package let variables: [Variable]
  /// Nil for an operation that is not a query.
  package let policy: CachePolicy?
  /// `PUBLIC`, `DEVICE`, `USER`, `ADMIN`; nil without `@access`.
  package let role: String?
  /// Whether a call without any token is accepted.
  package let isOpen: Bool
  package let isCacheable: Bool
  /// Why responses are cached or not.
  package let reason: String

  /// The method of the operation's path.
  package var method: String { kind == .query ? "GET" : "POST" }

  /// The paths under which the operation can be called.
  package var paths: [String] {
    ["/v1/operations/\(name)"] + (route.map { ["/api\($0)"] } ?? [])
  }
}

/// The type of a variable, in the detail that a form or a schema needs.
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
