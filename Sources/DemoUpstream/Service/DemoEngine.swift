import GraphQL
import LosslessJSON
import Synchronization

/// The demo without HTTP: executes requests on one library in memory.
///
/// The mutex guards the library and the ledger together: a mutation is looked up, executed and recorded
/// in one critical section, so that two requests with the same key cannot both take effect. A query
/// copies the library's value and runs outside the lock.
final class DemoEngine: Sendable {
  /// The caller, as identified by the request's header fields.
  struct Caller: Sendable {
    var authorization: String?
    var idempotencyKey: String?
    /// Whether the method is GET, which must not change anything.
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

  func prepare(_ request: ExecutionRequest) -> Result<PreparedOperation, RequestRejection> {
    do throws(RequestRejection) {
      return .success(try executor.prepare(request))
    } catch {
      return .failure(error)
    }
  }

  /// - Parameter brokenFields: `Type.field` coordinates that fail this time.
  func answer(
    _ prepared: PreparedOperation, of request: ExecutionRequest, from caller: Caller,
    brokenFields: Set<String> = []
  ) -> DemoResponse {
    switch prepared.kind {
    case .query:
      var resolver = resolver(over: withState { $0.library }, for: caller)
      return run(prepared, with: &resolver, brokenFields)
    case .mutation:
      if caller.isSafe { return .refusal(.needsPost, "Send mutations with POST.", "BAD_REQUEST") }
      return withState { state in
        change(&state, by: prepared, of: request, from: caller, brokenFields)
      }
    case .subscription:
      return .refusal(
        .rejected(.operation), "Subscriptions are not supported.", "SUBSCRIPTION_NOT_SUPPORTED")
    }
  }

  /// Resets the library to the state generated from the seed.
  func reset() {
    state.withLock { $0 = nil }
  }

  // MARK: Pieces

  private func change(
    _ state: inout State, by prepared: PreparedOperation, of request: ExecutionRequest,
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
          .keyConflict, "The idempotency key was used for another request.",
          "IDEMPOTENCY_KEY_REUSED")
      case .repeated(var response):
        response.isReplay = true
        return response
      }
    }
    var resolver = resolver(over: state.library, for: caller)
    let response = run(prepared, with: &resolver, brokenFields)
    state.library = resolver.library
    if let key { state.ledger.note(key, fingerprint: fingerprint, response: response) }
    return response
  }

  private func run(
    _ prepared: PreparedOperation, with resolver: inout FilmsResolver, _ brokenFields: Set<String>
  ) -> DemoResponse {
    do throws(RequestRejection) {
      let bytes = try executor.run(prepared, with: &resolver, brokenFields: brokenFields)
      return DemoResponse(outcome: .executed, bytes: bytes)
    } catch {
      return DemoResponse(outcome: .rejected(error.reason), bytes: error.bytes)
    }
  }

  private func resolver(over library: Library, for caller: Caller) -> FilmsResolver {
    FilmsResolver(
      library: library, viewer: DemoViewer.user(authorization: caller.authorization),
      now: Calendar.time(secondsSince1970: now()))
  }

  private func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    state.withLock { stored in
      var current = stored ?? State(library: LibraryGenerator(seed: seed).generate())
      stored = nil
      let response = body(&current)
      stored = current
      return response
    }
  }
}

extension DemoResponse {
  static func refusal(_ outcome: Outcome, _ message: String, _ code: String) -> DemoResponse {
    let rejection = RequestRejection(.operation, message, code: code)
    return DemoResponse(outcome: outcome, bytes: rejection.bytes)
  }
}

/// A GraphQL response before it has an HTTP status.
struct DemoResponse: Sendable {
  enum Outcome: Sendable, Hashable {
    /// The response has `data`, possibly null, possibly with errors.
    case executed
    /// The request was not executed.
    case rejected(RequestRejection.Reason)
    /// The idempotency key was used for another request.
    case keyConflict
    /// A mutation by GET.
    case needsPost
  }

  let outcome: Outcome
  let bytes: [UInt8]
  var isReplay = false
}

/// Responses to mutations by `Idempotency-Key`, so that a repeated one has no second effect.
struct IdempotencyLedger: Sendable {
  /// A key, which belongs to one caller.
  struct Key: Sendable, Hashable {
    let caller: String
    let key: String
  }

  enum Lookup: Sendable {
    case new
    case repeated(DemoResponse)
    /// The key was used with another request.
    case conflict
  }

  /// The request and its response, so that a key cannot be used for another request.
  private struct Entry: Sendable {
    let fingerprint: String
    let response: DemoResponse
  }

  /// Maximum number of keys; the oldest are removed beyond it.
  private static let keysMax = 10_000

  private var entries: [Key: Entry] = [:]
  /// The keys, the oldest at `oldest` once there are as many as there can be.
  private var keys: [Key] = []
  private var oldest = 0

  func look(_ key: Key, fingerprint: String) -> Lookup {
    guard let entry = entries[key] else { return .new }
    return entry.fingerprint == fingerprint ? .repeated(entry.response) : .conflict
  }

  mutating func note(_ key: Key, fingerprint: String, response: DemoResponse) {
    entries[key] = Entry(fingerprint: fingerprint, response: response)
    if keys.count < Self.keysMax { return keys.append(key) }
    entries[keys[oldest]] = nil
    keys[oldest] = key
    oldest = (oldest + 1) % Self.keysMax
  }
}
