public import Foundation

/// A client of Larder with a store of its own: what the app reads is on the phone, and what it changes
/// is durable there before it is sent.
///
/// ```swift
/// let larder = try await Larder(url: url, store: .file(folder.appending(path: "larder.sqlite")))
/// try await larder.register()
/// try await larder.follow("films", types: ["Film"])
/// try await larder.sync()
/// let films = try await larder.read { db in
///   try Film.filter(\.year > 1990).order(\.title).limit(20).fetchAll(db)
/// }
/// ```
///
/// All methods fail with ``LarderError``, or with `CancellationError` where the task was cancelled.
public final class Larder: Sendable {
  /// Where the phone keeps its data.
  public enum Store: Sendable {
    /// An SQLite file, made if it is missing. One `Larder` at a time may use it: another one, of this process
    /// or of an extension, cannot be opened meanwhile. Keep it in the app's own container: iOS ends an app
    /// that is suspended with a lock on a file of a shared one.
    case file(URL)
    /// A database that ends with the process.
    case memory
  }

  /// What an app rarely changes.
  public struct Options: Sendable {
    /// What devices are registered as.
    public var platform = "ios"
    /// Until a request counts as failed of which nothing comes, or less than 4 KiB of a body that is not
    /// complete. Streams and parts of files have longer deadlines.
    public var deadline = Duration.seconds(15)
    /// Changes in a page.
    public var pageSize = 1_000
    /// Between two polls where no stream can be opened.
    public var pollInterval = Duration.seconds(5)
    /// Sent with every request.
    public var headers: [String: String] = [:]
    /// The phone's clock. It only decides whether a token is worth trying.
    public var clock: @Sendable () -> Date = { Date() }
    /// What carries requests, for tests.
    var transport: (any HTTPTransport)?
    /// What waits for deadlines and pauses, for tests.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// Uses URLSession also where another transport would be: on Linux, without TLS.
    package mutating func useURLSession() {
      transport = URLSessionTransport()
    }

    public init() {}
  }

  let store: PhoneStore
  let profiles: Profiles
  let replica: Replica
  let mutations: Outbox
  let reads: Reads
  let uploads: Uploads
  let pauses: LivePauses
  let clock: @Sendable () -> Date
  let sleep: @Sendable (Duration) async throws -> Void
  /// Wakes `run` when something has been submitted.
  let work = Broadcast()
  let turn = RunTurn()

  /// Opens the store. Nothing is sent.
  ///
  /// - Parameters:
  ///   - url: Larder's address, of http or https, without query and fragment.
  ///   - store: where the data are.
  ///   - credentials: the Keychain on Apple systems, elsewhere a file beside the store, unless given.
  ///   - options: what an app rarely changes.
  public init(
    url: URL, store: Store, credentials: (any CredentialStore)? = nil, options: Options = Options()
  ) async throws {
    let file: URL? = if case .file(let url) = store { url } else { nil }
    let credentialStore = credentials ?? Self.defaultCredentials(file)
    let lock = if let file { try await StoreLock.take(for: file) } else { nil as StoreLock? }
    if let file, try PhoneStore.isLost(file, credentialStore) {
      throw LarderError.storeDamaged("the file is empty, but the phone has profiles")
    }
    self.store = try PhoneStore(url: file, lock: lock)
    let client = try HTTPClient(
      base: url, deadline: options.deadline, headers: options.headers,
      transport: options.transport, sleep: options.sleep)
    clock = options.clock
    sleep = options.sleep
    profiles = try Profiles(
      client: client, store: self.store,
      credentialStore: credentialStore,
      clock: options.clock, platform: options.platform)
    replica = Replica(store: self.store, profiles: profiles, pageSize: options.pageSize)
    mutations = Outbox(store: self.store, profiles: profiles)
    reads = Reads(store: self.store, profiles: profiles, clock: options.clock)
    uploads = Uploads(
      store: self.store, profiles: profiles, paths: StoredPaths(store: file))
    pauses = LivePauses(
      poll: options.pollInterval,
      longest: max(.seconds(1), min(.seconds(30), options.pollInterval * 6)))
    try await profiles.addMissingRows()
  }

  static func defaultCredentials(_ file: URL?) -> any CredentialStore {
    guard let file else { return MemoryCredentialStore() }
    #if canImport(Security)
      return KeychainCredentialStore(service: "larder " + file.lastPathComponent)
    #else
      return FileCredentialStore(file.appendingPathExtension("credentials"))
    #endif
  }

  // MARK: Profiles

  /// The active profile's device and user.
  public struct ActiveProfile: Hashable, Sendable {
    /// The id of the profile's device.
    public let device: String
    /// Nil if the profile has no user.
    public let userID: String?
    /// The address that the user signed in with last.
    public let email: String?
    /// False if the profile has a user who must sign in again.
    public let canSend: Bool
  }

  /// Nil before registering or signing in, and after signing out.
  public var profile: ActiveProfile? {
    get async {
      await profiles.active.map {
        ActiveProfile(
          device: $0.deviceID, userID: $0.userID, email: $0.email,
          canSend: $0.userID == nil || $0.session != nil)
      }
    }
  }

  /// Activates the profile without a user; registers the device if there is none. Nothing if a profile
  /// is active.
  ///
  /// - Returns: the device's id.
  @discardableResult
  public func register() async throws -> String {
    let device = try await profiles.register().deviceID
    work.send()
    return device
  }

  /// - Returns: the user's id.
  @discardableResult
  public func signUp(email: String, password: String) async throws -> String {
    defer { work.send() }
    return try await profiles.signIn("/v1/auth/sign-up", email: email, password: password)
  }

  /// - Returns: the user's id.
  @discardableResult
  public func signIn(email: String, password: String) async throws -> String {
    defer { work.send() }
    return try await profiles.signIn("/v1/auth/sign-in", email: email, password: password)
  }

  /// Ends the session at once, also offline. Replica and outbox stay for the same user.
  ///
  /// - Returns: whether Larder has been told; else it is, before the next requests.
  @discardableResult
  public func signOut() async throws -> Bool {
    let wasSent = try await profiles.signOut()
    if !wasSent { work.send() }
    return wasSent
  }

  // MARK: The replica

  /// Declares a part of the data that the phone holds; `sync` fetches it. Another definition under the
  /// same name takes its place.
  ///
  /// - Parameters:
  ///   - name: the app's own, unique within the profile.
  ///   - types: of entities, by their names in the schema.
  ///   - filter: in the filter language, with `?` for each of `arguments`.
  ///   - arguments: the values of the filter, in their order.
  public func follow(
    _ name: String, types: [String], filter: String? = nil, arguments: [JSONValue] = []
  ) async throws {
    let id = try await profiles.needActive().id
    var definition: [String: JSONValue] = ["types": .array(types.map { .string($0) })]
    if let filter { definition["filter"] = .string(filter) }
    if !arguments.isEmpty { definition["args"] = .array(arguments) }
    let text = JSONValue.object(definition).text
    try await store.write { db in try ReplicaRows(db, id).follow(name, text) }
    work.send()
  }

  /// Ends a following. What no other following has is removed from the phone.
  public func unfollow(_ name: String) async throws {
    let id = try await profiles.needActive().id
    try await store.write { db in try ReplicaRows(db, id).unfollow(name) }
  }

  /// Pulls changes until the phone holds all that it follows, and the outcomes that belong to it.
  @discardableResult
  public func sync() async throws -> SyncResult {
    try await replica.sync()
  }

  /// Reads what the app sees, at one moment. Errors of the closure's own pass through. Fails with
  /// ``LarderError/signedOut`` if another profile, or none, is active at the end.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (LocalDatabase) throws -> Result
  ) async throws -> Result {
    try await profiles.reading { id in
      try await store.read(as: id) { db in try body(LocalDatabase(db: db, profile: id)) }
    }
  }

  /// The results of a query, now and whenever they change.
  public func observe(_ query: EntityQuery) -> Observation<JSONValue> {
    Observation(larder: self, query: query) { $0 }
  }

  /// The results of a query, now and whenever they change.
  public func observe<Record: Entity>(_ query: TypedQuery<Record>) -> Observation<Record> {
    Observation(larder: self, query: query.query) { try $0.decoded() }
  }

  /// A new temporary id, for an entity that is created without a connection.
  public func newID() -> String {
    TemporaryID.make(at: clock())
  }

  // MARK: Queries

  /// A query by name, answered from the stored response where Larder cannot be reached. A response that comes
  /// once another profile, or none, is active is not given: that is ``LarderError/signedOut``.
  public func query(
    _ operation: String, variables: JSONValue = [:]
  ) async throws -> QueryResponse<JSONValue> {
    try await reads.read(operation, variables)
  }

  /// A query of generated code. Where Larder cannot be reached and there is no stored response, one that asks
  /// for an entity by its key is answered from the replica, if all that it selects is there.
  public func query<Operation: GraphQLOperation>(
    _ operation: Operation
  ) async throws -> QueryResponse<Operation.Response> {
    try Operation.check(.query, for: "query")
    let variables = try JSONValue(encoding: operation.variables)
    let response = try await reads.read(Operation.name, variables) { db in
      guard let data = try Operation.entityLookup?.data(db, variables: variables),
        // An overlay can have null where the schema does not.
        (try? data.decoded(as: Operation.Response.self)) != nil
      else { return nil as JSONValue? }
      return data
    }
    return try response.map { try $0.decoded() }
  }

  /// The events of a subject over all interruptions, until the sequence is given up. It belongs to the
  /// profile that is active now, and fails with ``LarderError/signedOut`` when that is not active any more.
  public func live(_ subject: LiveSubject) -> AsyncThrowingStream<LiveEvent, any Error> {
    let (stream, continuation) = AsyncThrowingStream<LiveEvent, any Error>.makeStream()
    let task = Task {
      do {
        let id = try await profiles.needActive().id
        let live = try Live(
          subject, profiles: profiles, profile: id, pauses: pauses, sleep: sleep)
        try await live.run { continuation.yield($0) }
        continuation.finish()
      } catch {
        continuation.finish(throwing: error is CancellationError ? nil : error)
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  /// The responses of a query whenever they change, or of a subscription.
  ///
  /// - Parameter onErrors: receives the GraphQL errors of a response; one with `data` follows, others are skipped.
  ///   Without it, a response with errors ends the sequence with ``LarderError/refused(_:)``.
  public func live<Operation: GraphQLOperation>(
    _ operation: Operation, onErrors: (@Sendable ([JSONValue]) -> Void)? = nil
  ) throws -> AsyncThrowingStream<Operation.Response, any Error> {
    try Operation.check(.query, .subscription, for: "live")
    let subject = LiveSubject.operation(
      Operation.name, variables: try JSONValue(encoding: operation.variables))
    let (stream, continuation) = AsyncThrowingStream<Operation.Response, any Error>.makeStream()
    let task = Task {
      do {
        for try await event in live(subject) where event.name == "message" || event.name == "next" {
          if let problem = Problem(graphQL: event.data) {
            guard let onErrors else { throw LarderError.refused(problem) }
            onErrors(event.data["errors"]?.array ?? [])
          }
          if let data = event.data["data"], data != .null { continuation.yield(try data.decoded()) }
        }
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }
}
