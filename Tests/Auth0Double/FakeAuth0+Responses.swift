import HTTPClient
package import HTTPTypes
package import LosslessJSON
import Synchronization

extension FakeAuth0 {
  /// The kinds of requests to a tenant.
  package enum Asked: Hashable, Sendable {
    case signUp
    case signIn
    case refresh
    case managementToken
    case revoke
    case profile
    case setPassword
    case endSessions

    init?(_ request: HTTPClientRequest, _ body: JSONValue) {
      switch request.url.target {
      case "/dbconnections/signup": self = .signUp
      case "/oauth/revoke": self = .revoke
      case "/userinfo": self = .profile
      case "/oauth/token":
        switch body["grant_type"]?.string {
        case FakeAuth0.realmGrant: self = .signIn
        case "refresh_token": self = .refresh
        case "client_credentials": self = .managementToken
        default: return nil
        }
      case let target where target.hasPrefix("/api/v2/users/"):
        self = request.method == .delete ? .endSessions : .setPassword
      default: return nil
      }
    }
  }

  /// Scripts the response to such requests from now on, whatever their content.
  ///
  /// - Parameter body: nil for none.
  package func answer(
    _ asked: Asked, _ status: Int, _ body: JSONValue?, fields: HTTPFields = [:]
  ) {
    state.withLock {
      $0.standing[asked] = HTTPClientResponse(
        status: .init(code: status), fields: fields, body: body?.bytes ?? [])
    }
  }

  /// Such requests are handled by their content again.
  package func judge(_ asked: Asked) { state.withLock { $0.standing[asked] = nil } }

  /// The number of such requests.
  package func count(of asked: Asked) -> Int { state.withLock { $0.asked[asked] ?? 0 } }

  /// The scripted response; nil if there is none.
  func standingAnswer(to asked: Asked) -> HTTPClientResponse? {
    state.withLock { state in
      state.asked[asked, default: 0] += 1
      return state.standing[asked]
    }
  }
}
