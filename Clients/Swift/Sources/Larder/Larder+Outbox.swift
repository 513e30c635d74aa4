public import Foundation

extension Larder {
  // MARK: Submitting

  /// Submits a mutation: it is durable when this returns, shows at once, and is sent until Larder has it.
  ///
  /// - Parameters:
  ///   - operation: the mutation's name in the operations folder.
  ///   - variables: an object.
  ///   - mode: whether a later mutation about the same object can replace it.
  ///   - object: the entity that it is about, as `Film:f1`.
  ///   - refs: others that it mentions.
  ///   - optimistic: what the app sees meanwhile.
  /// - Returns: the key of the item.
  @discardableResult
  public func submit(
    _ operation: String, variables: JSONValue = [:], mode: SyncMode = .lazy, object: String? = nil,
    refs: [String]? = nil, optimistic: [OptimisticChange]? = nil
  ) async throws -> String {
    try HTTPRequest.checkOperation(operation)
    let key = try await mutations.submit(
      operation: operation, variables: variables, mode: mode, object: object, refs: refs,
      optimistic: optimistic)
    work.send()
    return key
  }

  /// Submits a mutation that a later one about the same object can replace.
  @discardableResult
  public func lazy<Operation: GraphQLOperation>(
    _ operation: Operation, object: String? = nil, optimistic: [OptimisticChange]? = nil
  ) async throws -> String {
    try Operation.check(.mutation, for: "lazy")
    return try await submit(
      Operation.name, variables: JSONValue(encoding: operation.variables), mode: .lazy,
      object: object, optimistic: optimistic)
  }

  /// Submits a mutation that is carried out for itself.
  @discardableResult
  public func steady<Operation: GraphQLOperation>(
    _ operation: Operation, object: String? = nil, optimistic: [OptimisticChange]? = nil
  ) async throws -> String {
    try Operation.check(.mutation, for: "steady")
    return try await submit(
      Operation.name, variables: JSONValue(encoding: operation.variables), mode: .steady,
      object: object, optimistic: optimistic)
  }

  /// Submits writes to local types, in the form of `POST /v1/entities`. Those with an `id` show at once.
  @discardableResult
  public func write(_ operations: [JSONValue], mode: SyncMode = .lazy) async throws -> String {
    let key = try await mutations.write(operations, mode: mode)
    work.send()
    return key
  }

  /// Submits a local entity (`insertOrUpdate`): its row is made, or gets these members. Members that are
  /// nil stay as they are; `write` an `update` with null to clear one.
  @discardableResult
  public func save(
    _ record: some Entity & Identifiable<String>, mode: SyncMode = .lazy
  ) async throws -> String {
    let type = Swift.type(of: record).typeName
    return try await write(
      [
        [
          "op": "insertOrUpdate", "type": .string(type), "id": .string(record.id),
          "data": try JSONValue(encoding: record),
        ]
      ], mode: mode)
  }

  /// Submits the deletion of a local entity.
  @discardableResult
  public func delete<Record: Entity>(
    _ type: Record.Type, key: String, mode: SyncMode = .lazy
  ) async throws -> String {
    try await write(
      [["op": "delete", "type": .string(Record.typeName), "id": .string(key)]], mode: mode)
  }

  // MARK: Sending

  /// Sends a mutation now, ahead of all that waits, and returns the response of your API.
  ///
  /// If no connection was made, nothing is kept. If it may have been sent, it stays first in the outbox,
  /// with its key.
  public func force(
    _ operation: String, variables: JSONValue = [:], object: String? = nil, refs: [String]? = nil,
    optimistic: [OptimisticChange]? = nil
  ) async throws -> ForcedResponse {
    try HTTPRequest.checkOperation(operation)
    return try await mutations.force(
      operation: operation, variables: variables, object: object, refs: refs,
      optimistic: optimistic)
  }

  /// Sends a mutation of generated code now.
  ///
  /// - Throws: ``LarderError/refused(_:)`` if the response has GraphQL errors, with the first one's message and
  ///   `extensions.code`, and with all of them in the problem's `errors`. The call that takes a name returns `data`
  ///   and `errors`.
  public func force<Operation: GraphQLOperation>(
    _ operation: Operation, object: String? = nil
  ) async throws -> Operation.Response {
    try Operation.check(.mutation, for: "force")
    let variables = try JSONValue(encoding: operation.variables)
    let forced = try await force(Operation.name, variables: variables, object: object)
    if let problem = Problem(graphQL: forced.response) { throw LarderError.refused(problem) }
    return try (forced.response["data"] ?? .null).decoded()
  }

  /// What `send` has done.
  public struct SendResult: Hashable, Sendable {
    /// Items that Larder has now.
    public let sent: Int
    /// Items that wait.
    public let left: Int
    /// Why it stopped before the end.
    public let error: LarderError?
  }

  /// Sends what waits, the oldest first, until an item has no response.
  @discardableResult
  public func send() async throws -> SendResult {
    let (sent, left, error) = try await mutations.send()
    return SendResult(sent: sent, left: left, error: error)
  }

  // MARK: The outbox

  /// All items without an outcome, the oldest first.
  public func outbox() async throws -> [OutboxItem] {
    try await mutations.items()
  }

  /// The outbox, now and whenever it changes.
  public func observeOutbox() -> AsyncThrowingStream<[OutboxItem], any Error> {
    let (stream, continuation) = AsyncThrowingStream<[OutboxItem], any Error>.makeStream()
    let signals = store.commits.signals()
    let task = Task {
      do {
        var shown = try await outbox()
        continuation.yield(shown)
        for await _ in signals {
          let present = try await outbox()
          if present != shown { continuation.yield(present) }
          shown = present
        }
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  /// The outcomes of items, in the order in which they were submitted, until the app forgets them.
  public func outcomes() async throws -> [Outcome] {
    try await mutations.outcomes()
  }

  /// Forgets outcomes that the app has shown.
  public func forgetOutcomes(_ keys: [String]) async throws {
    try await mutations.forget(keys)
  }

  /// Lets Larder try a parked item again.
  public func retry(_ key: String) async throws {
    try await mutations.retry(key)
    work.send()
  }

  /// Withdraws an item: at once if it was never sent, else at Larder, which then reports its outcome. Where
  /// Larder does not respond to an item that it may have, `send` goes on with it after all others; until then
  /// it is ``OutboxItem/State/withdrawn``, and does not show.
  public func discard(_ key: String) async throws {
    try await mutations.discard(key)
    work.send()
  }

  // MARK: Files

  /// Uploads a file in parts. Interrupted, it goes on with `resumeUploads`, or when this is called again.
  ///
  /// - Parameters:
  ///   - file: it must stay as it is until the upload is complete.
  ///   - bucket: of Larder's files.
  ///   - key: without segments `.` and `..`. `{user}` stands for the user's id.
  ///   - partBytes: 5 MiB or more, for Larder's store.
  ///   - progress: called after each part.
  public func upload(
    _ file: URL, bucket: String, key: String, partBytes: Int = 5 << 20,
    progress: @escaping @Sendable (_ sentBytes: Int, _ size: Int) -> Void = { _, _ in }
  ) async throws -> UploadResult {
    try await uploads.upload(
      file, bucket: bucket, key: key, partBytes: partBytes, progress: progress)
  }

  /// Goes on with all unfinished uploads of the profile. One that Larder refuses, or whose file is gone, is
  /// given up: the others go on, then the error is thrown.
  @discardableResult
  public func resumeUploads() async throws -> UploadResult {
    try await uploads.resume()
  }
}
