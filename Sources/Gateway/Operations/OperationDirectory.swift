import GraphQL
import LosslessJSON
package import Model
package import Upstream

/// The operations that clients can call, by name.
package struct OperationDirectory: Sendable {
  /// In alphabetical order.
  package let operations: [ServedOperation]
  private let byName: [String: ServedOperation]
  /// The operations by their documents.
  package let documents: DocumentDirectory

  package init(registry: OperationRegistry) {
    operations = registry.operations.map(ServedOperation.init)
    byName = Dictionary(operations.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    documents = DocumentDirectory(operations: operations)
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
  package var kind: OperationKind { registered.kind }

  /// Coerces a client's variables.
  func variables(from input: VariableInput) throws(Failure) -> Variables {
    do throws(VariableFaults) {
      return try registered.coerce(input)
    } catch {
      throw Failure(
        .invalidVariables,
        error.all.count == 1
          ? "One of the variables is invalid."
          : "\(error.all.count) of the variables are invalid.",
        details: error.all)
    }
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
    package let inputType: InputType
  }

  package let name: String
  /// The id by which GraphQL clients request its document.
  package let documentID: String
  /// Its description in the document, otherwise the comment above it; nil without either.
  package let description: String?
  /// The descriptions of the fragments it uses, without those that have none.
  package let fragments: [(name: String, text: String)]
  package let kind: OperationKind
  /// The name of the upstream that runs it; nil if there is only one.
  package internal(set) var upstream: String?
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
  /// Whether the operation is a query that selects a list of entities, which alone has diffs.
  package internal(set) var hasDiff = true

  /// The method of the operation's path.
  package var method: String { kind == .mutation ? "POST" : "GET" }

  /// The paths under which the operation can be called.
  package var paths: [String] {
    let paths = ["/v1/operations/\(name)"] + (route.map { ["/api\($0)"] } ?? [])
    return kind == .subscription ? paths.map { "\($0)/stream" } : paths
  }
}

extension OperationDescription {
  init(_ operation: RegisteredOperation) {
    self.init(
      name: operation.name,
      documentID: operation.identity.id,
      description: operation.description,
      fragments: operation.fragmentDescriptions,
      kind: operation.kind,
      upstream: operation.upstream == .sole ? nil : operation.upstream.text,
      route: operation.route?.path,
      variables: operation.variables.map { variable in
        Variable(
          name: variable.name, description: variable.description, type: variable.typeText,
          isRequired: variable.isRequired,
          defaultText: variable.defaultValue?.text, inputType: variable.type)
      },
      policy: operation.kind == .query ? operation.cache : nil,
      role: operation.access.role?.rawValue,
      isOpen: operation.access.isOpen,
      isCacheable: operation.kind == .query && operation.cache.isKept,
      reason: operation.cacheNote,
      hasDiff: operation.kind == .query && FirstList.exists(in: operation.widestSelection))
  }
}
