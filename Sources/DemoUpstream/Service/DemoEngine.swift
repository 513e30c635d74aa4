import GraphQL
import LosslessJSON
import Synchronization

/// The demo without HTTP: requests in, answers out, over one library in memory.
///
/// The mutex guards the library and the ledger together: a mutation is looked up, run and noted in
/// one critical section, so that two requests with one key cannot both take effect. A query copies
/// the library's value and runs outside.
final class DemoEngine: Sendable {
  /// What the request's fields say about who sends it.
  struct Caller: Sendable {
    var authorization: String?
    var idempotencyKey: String?
    /// GET may not change anything.
    var isSafe = false
  }

  private struct State: Sendable {
    var library: Library
    var ledger = IdempotencyLedger()
  }

  private let executor = Executor(schema: FilmsSchema.schema)
  private let seed: UInt64
  private let now: @Sendable () -> Int64
  /// Empty until the first request, so that starting costs nothing.
  private let state = Mutex<State?>(nil)

  init(seed: UInt64, now: @escaping @Sendable () -> Int64) {
    self.seed = seed
    self.now = now
  }

  func prepare(_ request: GraphQLRequest) -> Result<PreparedOperation, RequestRejection> {
    do throws(RequestRejection) {
      return .success(try executor.prepare(request))
    } catch {
      return .failure(error)
    }
  }

  /// - Parameter brokenFields: `Type.field` coordinates that fail this time.
  func answer(
    _ prepared: PreparedOperation, of request: GraphQLRequest, from caller: Caller,
    brokenFields: Set<String> = []
  ) -> DemoResponse {
    switch prepared.kind {
    case .query:
      var resolver = resolver(over: withState { $0.library }, for: caller)
      return run(prepared, with: &resolver, brokenFields)
    case .mutation:
      if caller.isSafe { return .refusal(.needsPost, "Send mutations by POST.", "BAD_REQUEST") }
      return withState { state in
        change(&state, by: prepared, of: request, from: caller, brokenFields)
      }
    case .subscription:
      return .refusal(
        .rejected(.operation), "Subscriptions are not served here.", "SUBSCRIPTION_NOT_SUPPORTED")
    }
  }

  /// Forgets all changes: the library is as the seed makes it.
  func reset() {
    state.withLock { $0 = nil }
  }

  // MARK: Pieces

  private func change(
    _ state: inout State, by prepared: PreparedOperation, of request: GraphQLRequest,
    from caller: Caller, _ brokenFields: Set<String>
  ) -> DemoResponse {
    let key = caller.idempotencyKey.map {
      IdempotencyLedger.Key(caller: caller.authorization ?? "", key: $0)
    }
    let fingerprint = "\(request.query)\n\(request.variables.canonicalText)"
    if let key {
      switch state.ledger.look(key, fingerprint: fingerprint) {
      case .new: break
      case .conflict:
        return .refusal(
          .keyConflict, "The idempotency key belongs to another request.", "IDEMPOTENCY_KEY_REUSED")
      case .repeated(var answer):
        answer.isReplay = true
        return answer
      }
    }
    var resolver = resolver(over: state.library, for: caller)
    let answer = run(prepared, with: &resolver, brokenFields)
    state.library = resolver.library
    if let key { state.ledger.note(key, fingerprint: fingerprint, answer: answer) }
    return answer
  }

  private func run(
    _ prepared: PreparedOperation, with resolver: inout FilmsResolver, _ brokenFields: Set<String>
  ) -> DemoResponse {
    do throws(RequestRejection) {
      let result = try executor.run(prepared, with: &resolver, brokenFields: brokenFields)
      return DemoResponse(outcome: .executed, bytes: result.bytes)
    } catch {
      return DemoResponse(outcome: .rejected(error.reason), bytes: error.bytes)
    }
  }

  private func resolver(over library: Library, for caller: Caller) -> FilmsResolver {
    FilmsResolver(
      library: library, viewer: Viewer.user(authorization: caller.authorization),
      now: Calendar.time(secondsSince1970: now()))
  }

  private func withState<Answer: Sendable>(_ body: (inout State) -> Answer) -> Answer {
    state.withLock { stored in
      var current = stored ?? State(library: LibraryGenerator(seed: seed).generate())
      stored = nil
      let answer = body(&current)
      stored = current
      return answer
    }
  }
}

extension DemoResponse {
  static func refusal(_ outcome: Outcome, _ message: String, _ code: String) -> DemoResponse {
    let rejection = RequestRejection(.operation, message, code: code)
    return DemoResponse(outcome: outcome, bytes: rejection.bytes)
  }
}
