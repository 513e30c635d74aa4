import Cryptography
import Synchronization

/// Refreshes under way, by their token: those that come with the same token meanwhile get the same
/// answer. With rotation on, Auth0 takes a second use for a theft and ends the session.
///
/// A refresh goes on when its caller goes away: the answer may be the only way to the next token for
/// another that waits.
final class RefreshFlights: Sendable {
  typealias Outcome = Result<AccountSession, AccountFault>

  private let flights = Mutex<[SHA256.Digest: Task<Outcome, Never>]>([:])

  func share(
    _ token: String, _ refresh: @escaping @Sendable () async -> Outcome
  ) async -> Outcome {
    let digest = SHA256.hash(data: Array(token.utf8))
    let flight = flights.withLock { flights in
      if let flight = flights[digest] { return flight }
      let flight = Task {
        let outcome = await refresh()
        self.flights.withLock { $0[digest] = nil }
        return outcome
      }
      flights[digest] = flight
      return flight
    }
    return await flight.value
  }
}
