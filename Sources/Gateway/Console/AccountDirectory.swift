import Accounts
package import Model
package import Storage

/// The local accounts, for operators.
package struct AccountDirectory: Sendable {
  package static let pageMax = 200

  private let store: Store
  private let tickets: StreamTickets
  private let clock: WallClock

  /// - Parameter tickets: the stream tickets that end with a sign-out.
  package init(store: Store, tickets: StreamTickets, clock: WallClock) {
    self.store = store
    self.tickets = tickets
    self.clock = clock
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
