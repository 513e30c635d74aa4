import GraphQL
package import Model
package import Upstream

/// The operations by name and by route, and the variables of a call.
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

  private let registry: OperationRegistry
  /// In alphabetical order.
  package let descriptions: [OperationDescription]

  package init(registry: OperationRegistry) {
    self.registry = registry
    descriptions = registry.operations.map(OperationDescription.init)
  }

  package func operation(named name: String) throws(Failure) -> RegisteredOperation {
    if let operation = registry.operation(named: name) { return operation }
    let hint = NearestNames.didYouMean(name, among: registry.operations.map(\.name))
    throw Failure(.unknownOperation, "There is no operation named \(name).\(hint)")
  }

  package func variables(
    of operation: RegisteredOperation, from input: Input
  ) throws(Failure) -> Variables {
    do throws(VariableFaults) {
      return try operation.coerce(VariableInput(input))
    } catch {
      throw Failure(
        .invalidVariables, "\(error.all.count) of the variables cannot be used.",
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
