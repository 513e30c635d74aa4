import HTTPClient
import HTTPTypes
import LosslessJSON
import Synchronization
import TestSupport
import Testing
import Transport
import VendorDouble

@testable import Upstream

/// Opens WebSockets to doubles in the process, without a network.
final class ScriptedSockets: WebSocketOpening {
  /// Accepts a connection, or says why not.
  typealias Accept =
    @Sendable (_ offer: WebSocketOffer) async throws(UpstreamFailure) -> FakeSocket

  private let accept: Accept
  private let seen = Mutex<[WebSocketOffer]>([])

  init(_ accept: @escaping Accept) {
    self.accept = accept
  }

  /// For a double that returns nil for what its server would refuse with 400.
  convenience init(
    doubling connect:
      @escaping @Sendable (_ target: String, _ subprotocols: [String]) -> FakeSocket?
  ) {
    self.init { offer throws(UpstreamFailure) in
      guard let socket = connect(offer.url.target, offer.subprotocols) else {
        throw .status(400, retryAfter: nil)
      }
      return socket
    }
  }

  var offers: [WebSocketOffer] { seen.withLock { $0 } }

  func open(_ offer: WebSocketOffer) async throws(UpstreamFailure) -> any SubscriptionSocket {
    seen.withLock { $0.append(offer) }
    return ScriptedSocket(try await accept(offer))
  }
}

/// The client's end of a double's socket.
private struct ScriptedSocket: SubscriptionSocket {
  private let socket: FakeSocket

  init(_ socket: FakeSocket) {
    self.socket = socket
  }

  var subprotocol: String? { socket.subprotocol }

  func send(_ text: [UInt8]) async throws(SocketEnd) {
    if socket.hasEnded { throw SocketEnd(code: 1006) }
    socket.receive(text)
  }

  func next() async throws(SocketEnd) -> [UInt8] {
    switch await socket.next() {
    case .text(let text): return text
    case .close(let code, _): throw SocketEnd(code: code)
    case nil: throw SocketEnd(code: 1006)
    }
  }

  func close(code: UInt16, reason: String) { socket.leave() }
}

/// Event streams in the process.
final class ScriptedStreams: EventStreamOpening {
  typealias Respond =
    @Sendable (HTTPClientRequest) async throws(HTTPClientError) -> ScriptedStream

  private let respond: Respond
  private let seen = Mutex<[HTTPClientRequest]>([])

  init(_ respond: @escaping Respond) {
    self.respond = respond
  }

  /// Has no event streams.
  static let none = ScriptedStreams { _ throws(HTTPClientError) in throw .clientClosed }

  var requests: [HTTPClientRequest] { seen.withLock { $0 } }

  func open(
    _ request: HTTPClientRequest
  ) async throws(HTTPClientError) -> any EventStreamResponse {
    seen.withLock { $0.append(request) }
    return try await respond(request)
  }
}

final class ScriptedStream: EventStreamResponse {
  private struct State {
    var pieces: [[UInt8]] = []
    var end: Result<Void, HTTPClientError>?
  }

  let status: HTTPResponse.Status
  let fields: HTTPFields
  private let state = Mutex(State())
  private let signal = AsyncSignal()

  init(_ status: HTTPResponse.Status = .ok, type: String? = "text/event-stream; charset=utf-8") {
    self.status = status
    var fields = HTTPFields()
    fields[.contentType] = type
    self.fields = fields
  }

  func send(_ text: String) {
    state.withLock { $0.pieces.append(Array(text.utf8)) }
    signal.notify()
  }

  func end(_ error: HTTPClientError? = nil) {
    state.withLock { $0.end = error.map { .failure($0) } ?? .success(()) }
    signal.notify()
  }

  func next() async throws(HTTPClientError) -> [UInt8]? {
    while true {
      let seen = signal.count
      let (piece, end) = state.withLock { state in
        (state.pieces.isEmpty ? nil : state.pieces.removeFirst(), state.end)
      }
      if let piece { return piece }
      if let end {
        try end.get()
        return nil
      }
      if Task.isCancelled { throw .cancelled(wasSent: true) }
      await signal.wait(after: seen)
    }
  }
}

/// A monotonic clock that a test moves, with the sleeps that wait for it.
final class LiveClock: Sendable {
  private struct State {
    var now = Duration.seconds(1_000)
  }

  private let state = Mutex(State())
  private let moved = AsyncSignal()

  var now: Duration { state.withLock { $0.now } }

  func advance(by duration: Duration) {
    state.withLock { $0.now += duration }
    moved.notify()
  }

  func sleep(_ duration: Duration) async throws {
    let end = now + duration
    while now < end {
      let seen = moved.count
      if now >= end { return }
      try Task.checkCancellation()
      await moved.wait(after: seen)
    }
  }
}

/// The live side of an upstream under test.
struct LiveSetting {
  let clock = LiveClock()
  let subscriptions: UpstreamSubscriptions

  init(
    _ settings: UpstreamConfiguration, limits: SubscriptionLimits? = nil,
    sockets: any WebSocketOpening = ScriptedSockets { _ throws(UpstreamFailure) in
      throw .notSent(cause: "no WebSocket")
    }, streams: any EventStreamOpening = ScriptedStreams.none
  ) {
    subscriptions = UpstreamSubscriptions(
      settings: settings, limits: limits, sockets: sockets, streams: streams,
      clock: ScriptedUpstream.clock, uptime: { [clock] in clock.now }, random: { 0.5 },
      sleep: { [clock] in try await clock.sleep($0) })
  }

  static let operation =
    "subscription FilmChanged($id: ID!) { filmChanged(id: $id) { title } }"

  func renew(_ credential: String, token: String) throws {
    subscriptions.renew(
      try Samples.operation(Self.operation), credential: credential, with: Self.call(token))
  }

  func open(
    _ id: String = "9", credential: String = "c", token: String? = nil
  ) throws -> UpstreamSubscription {
    let operation = try Samples.operation(Self.operation)
    let variables = try operation.coerce(VariablesTests.parameters([("id", id)]))
    return subscriptions.open(
      operation, variables: variables, call: Self.call(token), credential: credential)
  }

  static func call(_ token: String?) -> UpstreamCall {
    UpstreamCall(
      forwarded: token.map { [.init("authorization", $0)] } ?? [],
      carriesUserCredential: token != nil)
  }

  /// The next event in short words.
  static func word(_ event: SubscriptionEvent?) -> String {
    switch event {
    case nil: "nothing"
    case .established(let afterGap): afterGap ? "re-established" : "established"
    case .next(let response):
      "next \(response.data?["filmChanged"]?["title"]?.string ?? "-")"
    case .interrupted: "interrupted"
    case .complete: "complete"
    case .failed(.refused): "refused"
    case .failed(.serviceRefused): "service refused"
    case .failed(.rejected(let reason)): "rejected: \(reason)"
    case .failed(let failure): "failed: \(failure)"
    }
  }

  /// Lets time pass in steps until a condition holds. The tasks of the live side run between two steps: each
  /// step takes a millisecond, and the next ones longer, however busy the machine is.
  func pass(_ step: Duration, until condition: () -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(120)
    var pause = Duration.milliseconds(1)
    while ContinuousClock.now < deadline, !Task.isCancelled {
      if condition() { return true }
      clock.advance(by: step)
      try? await Task.sleep(for: pause)
      pause = min(pause * 1.02, .milliseconds(50))
    }
    return condition()
  }

  /// Reads the events of a subscription up to one, or to its end.
  static func words(
    of subscription: UpstreamSubscription, upTo last: String
  ) async -> [String] {
    var words: [String] = []
    while words.last != last, let event = await subscription.next() { words.append(word(event)) }
    return words
  }
}
