import Accounts
import Auth0Double
import HTTPClient
import HTTPTypes
import LosslessJSON
import Synchronization

/// A scripted issuer that serves a key set.
final class ScriptedKeySet: Sendable {
  private struct State {
    var keys: [JSONValue] = []
    var isAway = false
    var requests: [String] = []
    var metadata: JSONValue?
  }

  private let state = Mutex(State())

  init(_ keys: TestKey...) {
    publish(keys)
  }

  func publish(_ keys: [TestKey]) { publishRaw(keys.map(\.published)) }
  func publishRaw(_ keys: [JSONValue]) { state.withLock { $0.keys = keys } }
  func goAway(_ isAway: Bool = true) { state.withLock { $0.isAway = isAway } }
  func describe(_ metadata: JSONValue) { state.withLock { $0.metadata = metadata } }

  /// The requested paths.
  var requests: [String] { state.withLock { $0.requests } }

  var exchange: JSONExchange {
    JSONExchange { request, _ throws(HTTPClientError) in
      let answer: JSONValue? = self.state.withLock { state in
        state.requests.append(request.url.target)
        guard !state.isAway else { return nil }
        if request.url.target.hasSuffix("openid-configuration") { return state.metadata }
        return ["keys": .array(state.keys)]
      }
      guard let answer else { throw .connectTimedOut }
      return HTTPClientResponse(status: .ok, body: answer.bytes)
    }
  }
}
