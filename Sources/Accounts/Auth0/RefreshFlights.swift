import Cryptography
import Synchronization

/// Refreshes in flight, by token: concurrent refreshes with the same token share one response. With
/// rotation on, Auth0 treats a second use as theft and ends the session.
///
/// A refresh continues when its caller disconnects: the response may be the only way to the next
/// token for another waiting caller.
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
