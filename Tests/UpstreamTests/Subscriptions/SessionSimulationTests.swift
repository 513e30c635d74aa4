import LosslessJSON
import TestSupport
import Testing

@testable import Upstream

/// Random interleavings of subscriptions, losses, acknowledgements, events and ends, with a model of what
/// each subscription and the server must have seen.
struct SessionSimulationTests {
  @Test("The guarantees hold in random interleavings", arguments: 0..<150)
  func guaranteesHold(seed: Int) throws {
    var world = try SimulatedUpstream(seed: UInt64(seed))
    for _ in 0..<400 { try world.step() }
    try world.end()
  }
}

/// A server that does anything, and the model that checks the session's actions.
private struct SimulatedUpstream: SeededChance {
  /// What a reader knows about its subscription.
  private struct Reader {
    var isEstablished = false
    var wasEstablished = false
    var isInterrupted = false
  }

  private static let openMax = 6

  var generator: SeededGenerator
  private let seed: UInt64
  private let dialect: SubscriptionDialect
  private var script: SessionScript
  private var readers: [Int: Reader] = [:]
  private var nextNumber = 1
  /// The subscriptions that the server runs on the present connection, by id.
  private var running: [String: Int] = [:]
  private var lateIDs: [String] = []
  private var isConnected = false
  private var stepCount = 0
  /// How often subscriptions were established, for the first time and again.
  private var establishedCount = 0
  private var gapCount = 0

  init(seed: UInt64) throws {
    self.seed = seed
    generator = SeededGenerator(seed: seed)
    dialect = [.transportWS, .legacyWS, .appSync][Int(seed % 3)]
    script = SessionScript(dialect, random: { Double(seed % 10) / 10 })
  }

  private var place: Comment { "seed \(seed), step \(stepCount)" }

  mutating func step() throws {
    stepCount += 1
    switch number(0...29) {
    case 0, 1, 2: if readers.count < Self.openMax { try subscribe() }
    case 17: if let number = pick(readers.keys.sorted()), percent(40) { cancel(number) }
    case 3: if isConnected { lose(pick([1000, 1001, 1006, 1009, 1011, 1012, 4408, 4500]) ?? 1006) }
    case 4: if isConnected, percent(10) { lose(pick([4401, 4403]) ?? 4401) }
    case 5: hear(pick(["{", #"{"type":"next"}"#, "[]"]) ?? "", when: percent(10))
    case 6: hear(#"{"type":"connection_ack"}"#)
    case 7: hear(#"{"type":"ka"}"#)
    case 8: hear(#"{"type":"ping"}"#)
    case 9, 10: hear(#"{"type":"pong"}"#)
    case 11: if let id = pick(running.keys.sorted()), percent(40) { end(id, "complete", "null") }
    case 12:
      let errors = [
        #"[{"message":"m"}]"#, #"{"errors":[{"errorType":"LimitExceededError"}]}"#,
        #"[{"message":"m","extensions":{"code":"invalid-jwt"}}]"#,
      ]
      if let id = pick(running.keys.sorted()), percent(30) { end(id, "error", pick(errors) ?? "") }
    case 13: script.handle(.offered(SessionScript.headers("token \(number(1...3))")))
    case 14:
      if percent(20) { offer() }
    case 15:
      if let id = pick(lateIDs) { hear(event(id)) }
    case 16: pass(.milliseconds(number(1...20_000)))
    default: advance()
    }
    check()
  }

  /// Ends all subscriptions: the connection closes too.
  mutating func end() throws {
    for number in readers.keys.sorted() { cancel(number) }
    pass(.seconds(300))
    #expect(script.session.isFinished, place)
    // Otherwise the run has shown nothing.
    #expect(establishedCount > 2 && gapCount > 2, "\(establishedCount), \(gapCount), \(place)")
    #expect(script.session.numbers.isEmpty && script.session.starting.isEmpty, place)
  }

  // MARK: Steps

  private mutating func subscribe() throws {
    readers[nextNumber] = Reader()
    try script.subscribe(nextNumber)
    nextNumber += 1
    settle()
  }

  private mutating func cancel(_ number: Int) {
    readers[number] = nil
    script.handle(.cancel(number))
    settle()
  }

  private mutating func lose(_ code: UInt16) {
    disconnect()
    script.handle(.closed(code: code))
    settle()
  }

  private mutating func offer() {
    script.handle(.offered(SessionScript.headers("token \(number(1...3))")))
    settle()
  }

  private mutating func pass(_ duration: Duration) {
    let end = script.now + duration
    while let deadline = script.session.deadline, deadline <= end {
      script.now = max(script.now, deadline)
      script.handle(.tick)
      settle()
      #expect(script.session.deadline.map { $0 > script.now } ?? true, place)
    }
    script.now = end
  }

  /// What an honest server does next.
  private mutating func advance() {
    switch script.session.phase {
    case .opening:
      if percent(20) {
        script.handle(.openingFailed(.notSent(cause: "test")))
      } else {
        isConnected = true
        script.handle(.opened(subprotocol: dialect.subprotocol))
      }
      settle()
    case .initialising: hear(#"{"type":"connection_ack"}"#)
    case .waiting: pass(.milliseconds(number(1...2_000)))
    case .ready:
      guard let id = pick(running.keys.sorted()) else { return }
      if dialect == .appSync, percent(50) { return hear(#"{"type":"start_ack","id":"\#(id)"}"#) }
      hear(event(id))
    case .idle: break
    }
  }

  private func event(_ id: String) -> String {
    let type = dialect == .transportWS ? "next" : "data"
    return #"{"type":"\#(type)","id":"\#(id)","payload":{"data":{}}}"#
  }

  private mutating func end(_ id: String, _ type: String, _ payload: String) {
    running[id] = nil
    lateIDs.append(id)
    hear(#"{"type":"\#(type)","id":"\#(id)","payload":\#(payload)}"#)
  }

  private mutating func hear(_ text: String, when condition: Bool = true) {
    guard isConnected, condition else { return }
    script.hear(text)
    settle()
  }

  private mutating func disconnect() {
    isConnected = false
    lateIDs += running.keys
    running = [:]
    for number in readers.keys { readers[number]?.isEstablished = false }
  }

  // MARK: The model

  /// Follows the actions of the last event.
  private mutating func settle() {
    for action in script.takeActions() {
      switch action {
      case .open:
        #expect(!isConnected, place)
        disconnect()
      case .close: disconnect()
      case .send(let text): receive(text)
      case .deliver(let number, let delivery): note(delivery, of: number)
      case .relocate: Issue.record("relocated, \(place)")
      }
    }
  }

  /// The server receives a message.
  private mutating func receive(_ text: [UInt8]) {
    #expect(isConnected, "a message without a connection, \(place)")
    let message = (try? JSONValue(parsing: text)) ?? .null
    let id = message["id"]?.string ?? ""
    switch message["type"]?.string {
    case "subscribe", "start":
      guard let number = script.session.numbers[id] else {
        // Started and ended by the same event.
        return
      }
      #expect(!running.values.contains(number), "\(number) runs twice, \(place)")
      #expect(running[id] == nil && !lateIDs.contains(id), "an id is used twice, \(place)")
      #expect(readers[number] != nil, "an ended subscription is started, \(place)")
      running[id] = number
    case "complete", "stop":
      running[id] = nil
      lateIDs.append(id)
    case "connection_init", "ping", "pong": break
    default: Issue.record("sent \(message.text), \(place)")
    }
  }

  private mutating func note(_ delivery: SubscriptionDelivery, of number: Int) {
    guard var reader = readers[number] else {
      Issue.record("\(number) gets \(SessionScript.word(delivery)) after its end, \(place)")
      return
    }
    switch delivery {
    case .established(let afterGap):
      #expect(!reader.isEstablished, "\(number) is established twice, \(place)")
      #expect(afterGap == reader.wasEstablished, "a gap is not reported, \(place)")
      reader = Reader(isEstablished: true, wasEstablished: true)
      if afterGap { gapCount += 1 } else { establishedCount += 1 }
    case .next: #expect(reader.isEstablished, "\(number) gets an event after a loss, \(place)")
    case .interrupted:
      #expect(!reader.isInterrupted, "\(number) is interrupted twice, \(place)")
      reader.isInterrupted = true
      reader.isEstablished = false
    case .complete, .failed:
      readers[number] = nil
      return
    }
    readers[number] = reader
  }

  /// On a connection that is ready every subscription runs once, or waits for its next start.
  private func check() {
    let session = script.session
    #expect(Set(session.entries.keys) == Set(readers.keys), place)
    #expect(session.starting.isSubset(of: readers.keys), place)
    guard case .ready = session.phase else { return }
    for number in readers.keys {
      let runs = running.values.count { $0 == number }
      let waits = session.entries[number]?.wireID == nil
      #expect(runs + (waits ? 1 : 0) == 1, "\(number) runs \(runs) times, \(place)")
    }
  }
}
