package import Model
import Upstream

/// The operations as endpoints see them: by name, with variables as clients write them.
package struct OperationService: Sendable {
  /// What goes with a call beside its variables.
  package struct Context: Sendable {
    package let caller: Caller
    package let directives: ReadDirectives
    /// W3C trace context of the request.
    package let traceparent: String?

    package init(
      caller: Caller, directives: ReadDirectives = .none, traceparent: String? = nil
    ) {
      self.caller = caller
      self.directives = directives
      self.traceparent = traceparent
    }
  }

  package let directory: OperationDirectory
  private let reader: QueryReader
  private let mutations: MutationRunner
  private let explainer: Explainer
  /// Makes the key upstream recognises a mutation by.
  private let makeKey: @Sendable () -> String

  package init(
    directory: OperationDirectory, reader: QueryReader, mutations: MutationRunner,
    explainer: Explainer, makeKey: @escaping @Sendable () -> String
  ) {
    self.directory = directory
    self.reader = reader
    self.mutations = mutations
    self.explainer = explainer
    self.makeKey = makeKey
  }

  /// - Throws: ``Model/Failure/Code/unknownOperation`` with the nearest names.
  package func kind(of name: String) throws(Failure) -> OperationDescription.Kind {
    OperationDescription.Kind(try directory.operation(named: name).kind)
  }

  /// Reads a query.
  package func read(
    _ name: String, input: OperationDirectory.Input, context: Context
  ) async throws(Failure) -> ReadAnswer {
    try await reader.read(request(name, input: input, context: context))
  }

  /// Runs a mutation; gives the client's body.
  package func mutate(
    _ name: String, input: OperationDirectory.Input, context: Context
  ) async throws(Failure) -> [UInt8] {
    let operation = try directory.operation(named: name)
    let variables = try directory.variables(of: operation, from: input)
    return try await mutations.run(
      operation, variables: variables, caller: context.caller, idempotencyKey: makeKey(),
      traceparent: context.traceparent)
  }

  /// Tells what a read would do.
  package func explain(
    _ name: String, input: OperationDirectory.Input, context: Context
  ) async throws(Failure) -> Explanation {
    let request = try request(name, input: input, context: context)
    guard request.operation.kind == .query else {
      throw Failure(.malformedRequest, "\(name) is not a query; only queries are stored.")
    }
    return try await explainer.explain(request)
  }

  private func request(
    _ name: String, input: OperationDirectory.Input, context: Context
  ) throws(Failure) -> ReadRequest {
    let operation = try directory.operation(named: name)
    return ReadRequest(
      operation: operation, variables: try directory.variables(of: operation, from: input),
      caller: context.caller, directives: context.directives, traceparent: context.traceparent)
  }
}
