import Accounts
package import Model
package import Storage

/// The local accounts, for operators.
package struct AccountDirectory: Sendable {
  package static let pageMax = 200

  private let store: Store
  private let tickets: StreamTickets
  private let disabled: DisabledAccounts
  private let signal: CommitSignal
  private let clock: WallClock
  private let wakeQueues: @Sendable (_ devices: [String]) -> Void

  /// - Parameters:
  ///   - tickets: the stream tickets that end with a sign-out.
  ///   - disabled: the disabled accounts, which every request is checked against.
  ///   - wakeQueues: called with the devices of an account that is enabled, whose queues can send again.
  package init(
    store: Store, tickets: StreamTickets, disabled: DisabledAccounts, signal: CommitSignal,
    clock: WallClock, wakeQueues: @escaping @Sendable (_ devices: [String]) -> Void
  ) {
    self.store = store
    self.tickets = tickets
    self.disabled = disabled
    self.signal = signal
    self.clock = clock
    self.wakeQueues = wakeQueues
  }

  /// Returns accounts in the order of their ids.
  ///
  /// - Parameters:
  ///   - after: the id before the page; empty for the first page.
  ///   - part: a text that the e-mail address contains, whatever its case; empty for any.
  package func page(
    after: String, containing part: String, limit: Int
  ) async throws(Failure) -> [AccountSummary] {
    let now = clock.now()
    return try await accessing { () async throws(StorageError) in
      // Addresses are stored in small letters.
      try await store.accounts(
        after: after, containing: part.lowercased(), at: now, limit: limit)
    }
  }

  package func account(_ id: String) async throws(Failure) -> AccountSummary {
    let now = clock.now()
    let found = try await accessing { () async throws(StorageError) in
      try await store.accountSummary(id: id, at: now)
    }
    guard let found else { throw Self.unknown }
    return found
  }

  /// Ends all sessions of an account, and its stream tickets. Its access tokens expire by themselves.
  ///
  /// - Returns: the number of sessions ended.
  package func signOut(_ id: String) async throws(Failure) -> Int {
    let ended = try await accessing { () async throws(StorageError) in
      try await store.endSessions(of: id)
    }
    guard let ended else { throw Self.unknown }
    tickets.end(user: id)
    return ended
  }

  // MARK: Disabling

  /// Disables an account: from the return on, everything that presents one of its tokens or devices is refused,
  /// and its streams have ended. Nothing of it is deleted. Disabling it again changes nothing.
  ///
  /// Stream tickets need not end: they are checked when they are used.
  package func disable(_ id: String) async throws(Failure) {
    let now = clock.now()
    let isThere = try await accessing { () async throws(StorageError) in
      try await store.disableAccount(id, at: now)
    }
    guard isThere else { throw Self.unknown }
    disabled.insert(id)
    try await endStreams(of: id)
  }

  /// Enables an account again; its sessions, devices and queued mutations go on.
  package func enable(_ id: String) async throws(Failure) {
    let isThere = try await accessing { () async throws(StorageError) in
      try await store.enableAccount(id)
    }
    guard isThere else { throw Self.unknown }
    disabled.remove(id)
    wakeQueues(
      try await accessing { () async throws(StorageError) in
        try await store.deviceIDs(ofUser: id)
      })
  }

  /// Reads the disabled accounts again, because the log has changed them, and ends the streams of those that
  /// are new.
  package func noteApplied() async throws(Failure) {
    let stored = try await accessing { () async throws(StorageError) in
      try await store.disabledAccounts()
    }
    for id in disabled.replace(with: stored) { try await endStreams(of: id) }
  }

  /// Ends the streams that an account's tokens or devices opened. One that is being opened checks its caller
  /// after it can be ended.
  private func endStreams(of id: String) async throws(Failure) {
    signal.end(user: id)
    let devices = try await accessing { () async throws(StorageError) in
      try await store.deviceIDs(ofUser: id)
    }
    for device in devices { signal.end(device: device) }
  }

  private static let unknown = Failure(.notFound, "There is no account with this id.")

  private func accessing<Value>(
    _ body: () async throws(StorageError) -> Value
  ) async throws(Failure) -> Value {
    do throws(StorageError) {
      return try await body()
    } catch {
      throw Failure(.storeUnavailable(cause: "\(error)"))
    }
  }
}
