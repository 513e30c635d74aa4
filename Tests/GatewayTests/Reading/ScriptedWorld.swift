import HTTPClient
import HTTPTypes
import Logging
import LosslessJSON
import Model
import Storage
import Synchronization
import Testing
import Upstream

@testable import Gateway

/// Reads and mutations over a store and an upstream with scripted responses.
final class ScriptedWorld: Sendable {
  private static let schema = """
    type Query {
      user(id: ID!): User
      users: [User]
      names: [String!]!
      me: User
      sure: User!
      pair: Pair
      found: [Found]
    }
    type Mutation { rename(id: ID!, name: String): User!  touch(id: ID!): User }
    type User { id: ID!  name: String!  nick: String  age: Int }
    type Pair { left: User  right: User }
    type Team { id: ID!  title: String! }
    union Found = User | Team
    """

  /// Each query in the three policies, as `UserFILL` and so on.
  private static let operations =
    ["FILL", "PARTIAL", "FAIL"].map { policy in
      let cache = "@cache(maxAge: 60, staleIfError: 600, scope: PUBLIC, onError: \(policy))"
      return """
        query User\(policy)($id: ID!) \(cache) { user(id: $id) { id name } }
        query Users\(policy) \(cache) { users { id name } }
        query Me\(policy) \(cache) { me { id name nick } }
        query Sure\(policy) \(cache) { sure { id name } }
        query Both\(policy) \(cache) { me { id name } names }
        query Pair\(policy) \(cache) { pair { left { id name } right { id name } } }
        query Aliases\(policy) \(cache) { a: user(id: 1) { id x: name y: name } b: me { id name } }
        query Found\(policy) \(cache) { found { ... on User { name } ... on Team { title } } }
        """
    }.joined(separator: "\n") + """

      query Team @cache(maxAge: 60, scope: CLAIM, claim: "org_id", onError: PARTIAL) {
        users { id name }
      }
      query Seek($id: ID!)
      @cache(maxAge: 60, staleIfError: 600, scope: PUBLIC, lookup: "User:$id") {
        user(id: $id) { id name }
      }
      query SeekNick($id: ID!)
      @cache(maxAge: 60, staleIfError: 600, scope: PUBLIC, lookup: "User:$id") {
        __typename
        it: user(id: $id) { nick name }
      }
      query SeekOwn($id: ID!) @cache(maxAge: 60, staleIfError: 600, lookup: "User:$id") {
        user(id: $id) { id name }
      }
      query Own @cache(maxAge: 60, staleIfError: 600) { users { id name } }
      mutation Rename($id: ID!, $name: String) { rename(id: $id, name: $name) { id name } }
      mutation Touch($id: ID!) { touch(id: $id) { id name } }
      """

  /// Upstream's next response, and the number of calls.
  final class Script: Sendable {
    private struct State {
      var response: Result<HTTPClientResponse, HTTPClientError> = .failure(.connectTimedOut)
      var calls = 0
      var isHolding = false
      var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var calls: Int { state.withLock { $0.calls } }

    func set(_ response: Result<HTTPClientResponse, HTTPClientError>) {
      state.withLock { $0.response = response }
    }

    /// Holds the responses of all calls from now on.
    func hold() { state.withLock { $0.isHolding = true } }

    /// Releases the held calls and all later ones.
    func release() {
      let held = state.withLock { state in
        state.isHolding = false
        defer { state.held = [] }
        return state.held
      }
      for continuation in held { continuation.resume() }
    }

    /// Returns the response that is set when the call arrives, whenever it is released.
    fileprivate func next() async -> Result<HTTPClientResponse, HTTPClientError> {
      let response = state.withLock { state in
        state.calls += 1
        return state.response
      }
      await withCheckedContinuation { continuation in
        let isHeld = state.withLock { state in
          if state.isHolding { state.held.append(continuation) }
          return state.isHolding
        }
        if !isHeld { continuation.resume() }
      }
      return response
    }
  }

  let cache = RenderedCache(byteLimit: 1 << 20)
  let clock = TestClock()
  private let folder: StoreFolder
  private let registry: OperationRegistry
  private let reader: QueryReader
  private let mutations: MutationRunner
  let upstream = Script()
  let pulse = UpstreamPulse.silent

  /// - Parameter secret: the service's own credential.
  init(secret: String? = nil) throws {
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "users.graphql", text: Self.operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: Self.schema)],
      settings: RegistrySettings())
    registry = try #require(loaded.registry, "\(loaded.findings)")
    folder = try StoreFolder(types: registry.catalogue.types)
    folder.store.observe { [cache] in cache.note($0) }
    let client = UpstreamClient(
      settings: UpstreamConfiguration(url: "http://users.test/graphql", secret: secret),
      clock: clock.clock
    ) { [upstream] _, _ throws(HTTPClientError) in
      try await upstream.next().get()
    }
    let calls = CallSequence(after: folder.store.lastCall)
    let epoch = MutationEpoch()
    let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    reader = QueryReader(
      upstream: client, store: folder.store, calls: calls, cache: cache, epoch: epoch,
      failures: FailureMemory(clock: clock.clock, random: { 0 }), pulse: pulse,
      overlaid: OverlaidEntities(), clock: clock.clock, logger: logger)
    mutations = MutationRunner(
      upstream: client, store: folder.store, calls: calls, epoch: epoch, pulse: pulse,
      clock: clock.clock, logger: logger)
  }

  // MARK: Upstream

  /// Sets upstream's response from now on.
  func respond(_ body: String, status: Int = 200, type: String = "application/json") {
    upstream.set(
      .success(
        HTTPClientResponse(
          status: HTTPResponse.Status(code: status), fields: [.contentType: type],
          body: Array(body.utf8))))
  }

  /// Makes upstream unreachable from now on.
  func goAway() { upstream.set(.failure(.connectTimedOut)) }

  // MARK: Requests

  /// Reads, bypassing fresh results and remembered failures.
  func read(
    _ operation: String, by caller: Caller = .anonymous,
    directives: ReadDirectives = ReadDirectives(noCache: true), id: String = "1"
  ) async throws -> ReadResponse {
    clock.advance(by: .seconds(2))
    let registered = try #require(registry.operation(named: operation))
    let variables: JSONValue =
      operation.hasPrefix("User") && !operation.hasPrefix("Users") || operation.hasPrefix("Seek")
      ? ["id": .string(id)] : [:]
    return try await reader.read(
      ReadRequest(
        operation: registered, variables: try registered.coerce(.value(variables)),
        caller: caller, directives: directives))
  }

  func mutate(_ operation: String) async throws -> String {
    let registered = try #require(registry.operation(named: operation))
    let body = try await mutations.run(
      registered, variables: try registered.coerce(.value(["id": "1"])), caller: .anonymous,
      idempotencyKey: "k")
    return String(decoding: body, as: UTF8.self)
  }
}

extension ReadResponse {
  var body: String { String(decoding: rendered.body, as: UTF8.self) }

  /// `Cache-Status` after the cache's name.
  var status: String { outcome.parameters }
}
