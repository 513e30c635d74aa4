import LosslessJSON
import Testing

@testable import Upstream

/// A session with a clock that stands still, and the actions it returned.
struct SessionScript {
  var session: SubscriptionSession
  var now = Duration.seconds(1_000)
  /// The actions since the last ``drain()``.
  private(set) var actions: [SessionAction] = []

  static let request = {
    try? Samples.operation(
      "subscription FilmChanged($id: ID!) { filmChanged(id: $id) { title } }")
  }().map { SubscriptionRequest($0, variables: .none) }

  static func headers(_ token: String) -> CallHeaders {
    CallHeaders(
      UpstreamCall(forwarded: [.init("authorization", token)], carriesUserCredential: true),
      settings: UpstreamConfiguration(url: "http://up/graphql"))
  }

  init(
    _ dialect: SubscriptionDialect = .transportWS, limits: SubscriptionLimits? = nil,
    offersBoth: Bool = false, random: @escaping @Sendable () -> Double = { 0.5 }
  ) {
    var settings = UpstreamConfiguration(url: "http://up/graphql")
    switch dialect {
    case .transportWS: settings.subscriptions = offersBoth ? .automatic : .transportWS
    case .legacyWS: settings.subscriptions = .legacyWS
    case .appSync: settings.dialect = .appsync
    case .eventStream: settings.subscriptions = .eventStream
    }
    session = SubscriptionSession(
      settings: settings, host: "up", limits: limits ?? SubscriptionLimits(settings.dialect),
      headers: Self.headers("one"), random: random)
  }

  mutating func handle(_ event: SessionEvent) {
    actions += session.handle(event, at: now)
  }

  mutating func subscribe(_ number: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let request = try #require(Self.request, sourceLocation: sourceLocation)
    handle(.subscribe(number, request, wasEstablished: false))
  }

  /// A message of the server as text.
  mutating func hear(_ text: String) {
    let dialect = session.dialect ?? .transportWS
    let reader = UpstreamMessageReader(
      dialect: dialect, messageBytesMax: session.limits.messageBytesMax, depthMax: 64)
    handle(.message(reader.read(Array(text.utf8))))
  }

  /// Subscribes, connects and acknowledges.
  mutating func connect(_ numbers: [Int], sourceLocation: SourceLocation = #_sourceLocation) throws
  {
    for number in numbers { try subscribe(number, sourceLocation: sourceLocation) }
    open()
  }

  /// The server accepts the connection.
  mutating func open() {
    let dialect = session.offered.first
    handle(.opened(subprotocol: dialect?.subprotocol))
    if dialect != .eventStream { hear(#"{"type":"connection_ack"}"#) }
  }

  /// Lets time pass, with a tick at each deadline.
  mutating func pass(_ duration: Duration) {
    let end = now + duration
    var ticks = 0
    while let deadline = session.deadline, deadline <= end, ticks < 10_000 {
      now = max(now, deadline)
      handle(.tick)
      ticks += 1
    }
    now = end
  }

  /// The actions since the last call.
  mutating func takeActions() -> [SessionAction] {
    defer { actions = [] }
    return actions
  }

  /// The actions since the last call, in short words.
  mutating func drain() -> [String] {
    defer { actions = [] }
    return actions.map(Self.word)
  }

  /// What followed a connection that did not come about, for one subscription, and its actions with it:
  /// "wait" for the next attempt, "refuse" for a refused credential, "fail" for another final failure.
  mutating func outcome() -> String {
    let last = drain().last
    switch session.phase {
    case .waiting where last == "7 interrupted": return "wait"
    case .idle where last == "7 refused": return "refuse"
    case .idle where session.isFinished && last?.hasPrefix("7 ") == true: return "fail"
    default: return "\(session.phase), \(last ?? "no action")"
    }
  }

  static func word(_ action: SessionAction) -> String {
    switch action {
    case .open(let headers, let isReconnect):
      return "\(isReconnect ? "reopen" : "open") \(headers.all.first?.value ?? "")"
    case .send(let text):
      let message = (try? JSONValue(parsing: text)) ?? .null
      let id = message["id"]?.string.map { " \($0)" } ?? ""
      return "send \(message["type"]?.string ?? "?")\(id)"
    case .deliver(let number, let delivery): return "\(number) \(word(delivery))"
    case .close(let code, _): return "close \(code)"
    case .relocate(let number): return "\(number) relocate"
    }
  }

  static func word(_ delivery: SubscriptionDelivery) -> String {
    switch delivery {
    case .established(let afterGap): return afterGap ? "re-established" : "established"
    case .next(let payload):
      return "next " + String(decoding: payload.message[payload.range], as: UTF8.self)
    case .interrupted: return "interrupted"
    case .complete: return "complete"
    case .failed(let failure):
      switch failure {
      case .refused(.unauthenticated): return "refused"
      case .refused(.forbidden): return "forbidden"
      case .rejected(let reason): return "rejected: \(reason)"
      default: return "failed: \(failure)"
      }
    }
  }
}
