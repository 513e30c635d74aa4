import LosslessJSON
package import Model
package import Storage
import Upstream

/// The operations as endpoints use them, with variables in the client's form.
package struct OperationService: Sendable {
  /// The parameters of a call other than its variables.
  package struct Context: Sendable {
    package let caller: Caller
    package let directives: ReadDirectives
    /// See ``ReadRequest/noteFailure``.
    package let noteFailure: FailedReadObserver?

    package init(
      caller: Caller, directives: ReadDirectives = .none, noteFailure: FailedReadObserver? = nil
    ) {
      self.caller = caller
      self.directives = directives
      self.noteFailure = noteFailure
    }
  }

  package let directory: OperationDirectory
  /// On a replica, which runs no mutation and no live query; nil on other nodes.
  package let leader: LeaderLink?
  private let reader: QueryReader
  private let mutations: MutationRunner
  private let explainer: Explainer
  private let signal: CommitSignal
  private let devices: DeviceRegistry
  private let differ: ListDiffer
  private let temporary: TemporaryVariables
  /// Creates the idempotency key that is sent upstream with a mutation.
  private let makeKey: @Sendable () -> String

  package init(
    directory: OperationDirectory, reader: QueryReader, mutations: MutationRunner,
    explainer: Explainer, signal: CommitSignal, devices: DeviceRegistry, differ: ListDiffer,
    temporary: TemporaryVariables, leader: LeaderLink? = nil,
    makeKey: @escaping @Sendable () -> String
  ) {
    self.leader = leader
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

  /// Reads a query.
  package func read(
    _ operation: ServedOperation, input: VariableInput, context: Context
  ) async throws(Failure) -> ReadResponse {
    let request = try await request(operation, input: input, context: context)
    let response = try await reader.read(request)
    if context.caller.device != nil { await differ.note(response, to: request) }
    return response
  }

  /// Returns the diff from the list that a client has to the first list of a query's response.
  package func diff(
    _ operation: ServedOperation, input: VariableInput, context: Context,
    from base: ListDiffer.Base
  ) async throws(Failure) -> ListDiffer.Outcome {
    try await differ.diff(of: request(operation, input: input, context: context), from: base)
  }

  /// Starts a live query with one read, so that a failure is reported as an HTTP response.
  ///
  /// - Parameter knownTag: the tag of the response that the client has.
  package func streamStart(
    _ operation: ServedOperation, input: VariableInput, context: Context,
    knownTag: String?
  ) async throws(Failure) -> OperationStream.Start {
    if let leader { throw leader.need() }
    if signal.hasEnded {
      throw Failure(
        .draining, "The service is shutting down.", retry: .after, retryAfter: .seconds(1))
    }
    let request = try await request(operation, input: input, context: context)
    _ = try await reader.read(request)
    return OperationStream.Start(request: request, knownTag: knownTag)
  }

  /// Opens a stream. Must be called by the task that reads it.
  package func open(_ start: OperationStream.Start) -> OperationStream {
    OperationStream(
      reader: reader, devices: devices, signal: signal, start: start,
      note: { [differ] in await differ.note($0, to: $1) })
  }

  /// Watches for the end of a caller's connection that is not one stream.
  ///
  /// - Throws: if the caller's tokens are no longer valid.
  package func watch(_ caller: Caller) async throws(Failure) -> ConnectionWatch {
    let watch = ConnectionWatch(
      signal: signal, device: caller.device?.id, user: caller.user,
      lifetime: devices.lifetime(of: caller))
    // Checked after registering: a revocation in between would not end the watch.
    try await devices.confirm(caller)
    return watch
  }

  /// A watch for a caller who is not yet known, which ends after a time.
  package func watch(for lifetime: Duration) -> ConnectionWatch {
    ConnectionWatch(signal: signal, device: nil, user: nil, lifetime: lifetime)
  }

  /// Whether the service is ending, so that no new stream is opened.
  package var isDraining: Bool { signal.hasEnded }

  /// Runs a mutation and returns the body for the client.
  package func mutate(
    _ operation: ServedOperation, input: VariableInput, context: Context
  ) async throws(Failure) -> [UInt8] {
    let variables = try operation.variables(from: input)
    return try await mutations.run(
      operation.registered, variables: variables, caller: context.caller, idempotencyKey: makeKey())
  }

  /// Returns the request that submits a mutation to a device's queue in mode `force`.
  package func forced(
    _ operation: ServedOperation, input: VariableInput
  ) throws(Failure) -> MutationRequest {
    MutationRequest(
      forcing: operation.registered, variables: try operation.variables(from: input))
  }

  /// Explains what a read would do.
  package func explain(
    _ operation: ServedOperation, input: VariableInput, context: Context
  ) async throws(Failure) -> Explanation {
    let request = try await request(operation, input: input, context: context)
    guard operation.kind == .query else {
      throw Failure(
        .malformedRequest, "\(operation.name) is not a query; only queries are stored.")
    }
    return try await explainer.explain(request)
  }

  private func request(
    _ operation: ServedOperation, input: VariableInput, context: Context
  ) async throws(Failure) -> ReadRequest {
    try await temporary.request(operation, input: input, context: context)
  }
}

/// Resolves temporary ids in the variables of reads: a value that is such an id is replaced by the
/// real id, as it is when a queued mutation is sent.
package struct TemporaryVariables: Sendable {
  private let store: ReadSession

  package init(store: ReadSession) {
    self.store = store
  }

  /// Coerces a client's variables, with temporary ids replaced by real ones.
  func request(
    _ operation: ServedOperation, input: VariableInput, context: OperationService.Context
  ) async throws(Failure) -> ReadRequest {
    let variables = try operation.variables(from: input)
    return ReadRequest(
      operation: operation.registered,
      variables: try await resolved(variables, of: context.caller) ?? variables,
      caller: context.caller, directives: context.directives, noteFailure: context.noteFailure)
  }

  /// Returns the variables with real ids; nil if there is nothing to replace, which is always so for
  /// a caller without a device.
  func resolved(_ variables: Variables, of caller: Caller) async throws(Failure) -> Variables? {
    guard let device = caller.device?.id, variables.json.utf8.contains(UInt8(ascii: "~")),
      let given = try? JSONValue(checked: variables.json)
    else { return nil }
    let mentioned = TemporaryID.mentioned(in: given)
    guard !mentioned.isEmpty else { return nil }
    do throws(StorageError) {
      let known = try await store.resolve(Array(mentioned), of: device)
      guard !known.isEmpty else { return nil }
      return variables.replacingStrings(in: given) { TemporaryID.substituting(known, in: $0) }
    } catch {
      throw Failure(
        .storageUnavailable, "The store cannot be read; retry later.", retry: .after,
        retryAfter: .seconds(1), cause: "\(error)")
    }
  }
}
