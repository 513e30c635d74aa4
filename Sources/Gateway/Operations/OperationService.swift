import LosslessJSON
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
  private let signal: CommitSignal
  private let devices: DeviceRegistry
  private let differ: ListDiffer
  private let temporary: TemporaryVariables
  /// Makes the key upstream recognises a mutation by.
  private let makeKey: @Sendable () -> String

  package init(
    directory: OperationDirectory, reader: QueryReader, mutations: MutationRunner,
    explainer: Explainer, signal: CommitSignal, devices: DeviceRegistry, differ: ListDiffer,
    temporary: TemporaryVariables, makeKey: @escaping @Sendable () -> String
  ) {
    self.directory = directory
    self.reader = reader
    self.mutations = mutations
    self.explainer = explainer
    self.signal = signal
    self.devices = devices
    self.differ = differ
    self.temporary = temporary
    self.makeKey = makeKey
  }

  /// - Throws: ``Model/Failure/Code/unknownOperation`` with the nearest names.
  package func kind(of name: String) throws(Failure) -> OperationDescription.Kind {
    OperationDescription.Kind(try directory.operation(named: name).kind)
  }

  /// Reads a query.
  package func read(
    _ name: String, input: OperationDirectory.Input, context: Context
  ) async throws(Failure) -> ReadResponse {
    let request = try await request(name, input: input, context: context)
    let answer = try await reader.read(request)
    if context.caller.device != nil { await differ.note(answer, to: request) }
    return answer
  }

  /// How the first list of a query's answer differs from the one that a client has.
  package func diff(
    _ name: String, input: OperationDirectory.Input, context: Context, from base: ListDiffer.Base
  ) async throws(Failure) -> ListDiffer.Outcome {
    try await differ.diff(of: request(name, input: input, context: context), from: base)
  }

  /// Where a live query begins, read once already, so that what is wrong with it is told as an
  /// answer.
  ///
  /// - Parameter told: the tag of the answer that the client has.
  package func streamStart(
    _ name: String, input: OperationDirectory.Input, context: Context, told: String?
  ) async throws(Failure) -> OperationStream.Start {
    if signal.hasEnded {
      throw Failure(.draining, "The service is ending.", retry: .after, retryAfter: .seconds(1))
    }
    let request = try await request(name, input: input, context: context)
    _ = try await reader.read(request)
    return OperationStream.Start(request: request, told: told)
  }

  /// To be called by the task that reads it.
  package func open(_ start: OperationStream.Start) -> OperationStream {
    OperationStream(
      reader: reader, devices: devices, signal: signal, start: start,
      note: { [differ] in await differ.note($0, to: $1) })
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

  /// A mutation as a device's queue takes it.
  package func forced(
    _ name: String, input: OperationDirectory.Input
  ) throws(Failure) -> MutationRequest {
    let operation = try directory.operation(named: name)
    let variables = try directory.variables(of: operation, from: input)
    let given = (try? JSONValue(checked: variables.json)) ?? [:]
    let canonical: JSONValue = ["mode": "force", "operation": .string(name), "variables": given]
    return MutationRequest(
      operation: name, mode: .force, variables: given, canonicalBytes: canonical.canonicalBytes)
  }

  /// Tells what a read would do.
  package func explain(
    _ name: String, input: OperationDirectory.Input, context: Context
  ) async throws(Failure) -> Explanation {
    let request = try await request(name, input: input, context: context)
    guard request.operation.kind == .query else {
      throw Failure(.malformedRequest, "\(name) is not a query; only queries are stored.")
    }
    return try await explainer.explain(request)
  }

  private func request(
    _ name: String, input: OperationDirectory.Input, context: Context
  ) async throws(Failure) -> ReadRequest {
    let operation = try directory.operation(named: name)
    var variables = try directory.variables(of: operation, from: input)
    if let real = try await temporary.resolved(variables, of: context.caller) {
      variables = try directory.variables(of: operation, from: .body(real.bytes, path: []))
    }
    return ReadRequest(
      operation: operation, variables: variables, caller: context.caller,
      directives: context.directives, traceparent: context.traceparent)
  }
}
