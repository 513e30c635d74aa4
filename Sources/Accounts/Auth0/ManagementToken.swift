import LosslessJSON
import Model
import Synchronization

/// The token for Auth0's management API, requested once and cached until shortly before it expires.
/// Auth0 bills these tokens, so concurrent users share one request.
final class ManagementToken: Sendable {
  private typealias Outcome = Result<String, AccountFault>

  private struct State {
    var token: String?
    var renewAt = Timestamp(milliseconds: 0)
    var flight: Task<Outcome, Never>?
  }

  /// Renewed this long before it expires, so that no token expires in flight.
  private static let margin = Duration.seconds(60)

  private let client: Auth0Client
  private let state = Mutex(State())

  init(client: Auth0Client) {
    self.client = client
  }

  func current() async throws(AccountFault) -> String {
    let now = client.clock.now()
    let found: String? = state.withLock { state in
      now < state.renewAt ? state.token : nil
    }
    if let found { return found }
    return try await flight().value.get()
  }

  /// Removes a refused token from the cache.
  func drop(_ token: String) {
    state.withLock { if $0.token == token { $0.token = nil } }
  }

  private func flight() -> Task<Outcome, Never> {
    state.withLock { state in
      if let flight = state.flight { return flight }
      let flight = Task { await self.renew() }
      state.flight = flight
      return flight
    }
  }

  private func renew() async -> Outcome {
    let outcome: Result<JSONValue, AccountFault>
    do throws(AccountFault) {
      outcome = .success(try await client.managementToken())
    } catch {
      outcome = .failure(error)
    }
    let now = client.clock.now()
    return state.withLock { state in
      state.flight = nil
      return outcome.flatMap { response in
        guard let token = response["access_token"]?.string,
          let seconds = response["expires_in"]?.int64, 0...86_400_000 ~= seconds
        else { return .failure(.misconfigured(cause: "Auth0 returned no management token")) }
        state.token = token
        state.renewAt = now.advanced(by: .seconds(seconds) - Self.margin)
        return .success(token)
      }
    }
  }
}
