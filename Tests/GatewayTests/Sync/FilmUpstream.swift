import HTTPClient
import HTTPTypes
import LosslessJSON
import Synchronization

/// An upstream that accepts ratings of films, responds as scripted, and records its calls.
final class FilmUpstream: Sendable {
  struct Call: Hashable, Sendable {
    let film: String
    /// Upstream's `Idempotency-Key`: the mutation's own id.
    let key: String
    /// The number of the attempt with its key, from 1.
    let attempt: Int
    /// The time by the monotonic clock.
    let at: Duration
    /// The number of calls in flight when it arrived, including itself.
    let inFlight: Int
    /// The number of calls that had a response before it arrived.
    let answered: Int
  }

  typealias Answer = Result<HTTPClientResponse, HTTPClientError>

  private struct State {
    var calls: [Call] = []
    var attempts: [String: Int] = [:]
    var inFlight = 0
    var answered = 0
    var isHolding = false
    var held: [CheckedContinuation<Void, Never>] = []
  }

  private static let keyField = HTTPField.Name("Idempotency-Key")

  private let time: VirtualTime
  private let answer: @Sendable (Call) -> Answer
  private let state = Mutex(State())

  init(_ time: VirtualTime, answer: @escaping @Sendable (Call) -> Answer) {
    self.time = time
    self.answer = answer
  }

  var calls: [Call] { state.withLock { $0.calls } }
  var callCount: Int { state.withLock { $0.calls.count } }
  var heldCount: Int { state.withLock { $0.held.count } }

  /// Holds the responses of all calls from now on.
  func hold() { state.withLock { $0.isHolding = true } }

  /// Releases the held calls, and with `forGood` all later ones.
  func release(forGood: Bool = false) {
    let held = state.withLock { state in
      if forGood { state.isHolding = false }
      defer { state.held = [] }
      return state.held
    }
    for continuation in held { continuation.resume() }
  }

  func exchange(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
    let call = begin(request)
    await withCheckedContinuation { continuation in
      let isHeld = state.withLock { state in
        if state.isHolding { state.held.append(continuation) }
        return state.isHolding
      }
      if !isHeld { continuation.resume() }
    }
    state.withLock { state in
      state.inFlight -= 1
      state.answered += 1
    }
    return try answer(call).get()
  }

  private func begin(_ request: HTTPClientRequest) -> Call {
    let body = (try? JSONValue(parsing: request.body)) ?? .null
    let film = body["variables"]?["id"]?.string ?? ""
    let key = Self.keyField.flatMap { request.fields[$0] } ?? ""
    let now = time.reading
    return state.withLock { state in
      state.inFlight += 1
      state.attempts[key, default: 0] += 1
      let call = Call(
        film: film, key: key, attempt: state.attempts[key] ?? 1, at: now,
        inFlight: state.inFlight, answered: state.answered)
      state.calls.append(call)
      return call
    }
  }

  // MARK: Responses

  static func json(_ status: Int, _ body: String, _ fields: HTTPFields = [:]) -> Answer {
    var fields = fields
    fields[.contentType] = "application/json"
    return .success(
      HTTPClientResponse(
        status: HTTPResponse.Status(code: status), fields: fields, body: Array(body.utf8)))
  }

  static func rated(_ film: String, stars: Int = 4) -> Answer {
    json(200, #"{"data":{"rateFilm":{"__typename":"Film","id":"\#(film)","stars":\#(stars)}}}"#)
  }
}

/// A switch that makes a scripted upstream unreachable.
final class UpstreamSwitch: Sendable {
  private let state: Mutex<Bool>

  init(isAway: Bool) {
    state = Mutex(isAway)
  }

  var isAway: Bool {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
