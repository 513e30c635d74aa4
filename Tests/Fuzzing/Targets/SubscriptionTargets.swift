import HTTPWire
import LosslessJSON

@testable import Upstream

/// An event stream, in one piece and in many: the events are the same, and within the limits.
enum EventStreamTarget {
  private struct Reading: Equatable {
    var events: [EventStreamParser.Event] = []
    var lastEventID: [UInt8] = []
    var fault: EventStreamParser.Fault?
  }

  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dials = Dials(input) else { return }
    let bytesMax = dials.isOn(0) ? 24 : 1 << 16
    let whole = read([dials.stream[...]], bytesMax)
    let pieces = read(dials.pieces, bytesMax)
    Finding.require(whole.fault == pieces.fault, "cuts change the fault")
    // In one piece, the events before a fault are not returned.
    if whole.fault == nil { Finding.require(whole == pieces, "cuts change the events") }
    for event in pieces.events {
      Finding.require(event.data.count <= bytesMax, "an event is longer than allowed")
      Finding.require(event.hasData || !event.name.isEmpty, "an event of nothing")
    }
  }

  private static func read(_ pieces: [ArraySlice<UInt8>], _ bytesMax: Int) -> Reading {
    var reading = Reading()
    var parser = EventStreamParser(eventBytesMax: bytesMax)
    for piece in pieces {
      do throws(EventStreamParser.Fault) {
        reading.events += try parser.parse(Array(piece))
      } catch {
        reading.fault = error
        break
      }
    }
    reading.lastEventID = parser.lastEventID
    return reading
  }
}

/// A server's messages, one a line, in every dialect: whatever they are, each subscription's events are in
/// order, and nothing follows its end.
enum SubscriptionMessagesTarget {
  private static let headers = CallHeaders(
    UpstreamCall(), settings: UpstreamConfiguration(url: "http://up/graphql"))

  /// Runs one input: the first byte selects the dialect, and what happens besides.
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dial = input.first else { return }
    let dialect = SubscriptionDialect.allCases[Int(dial) % SubscriptionDialect.allCases.count]
    var run = SessionRun(dialect, headers: headers)
    for (index, line) in Array(input.dropFirst()).split(separator: 0x0A).prefix(64).enumerated() {
      run.hear(Array(line))
      if dial & 0x40 != 0, index % 5 == 4 { run.lose() }
      if dial & 0x80 != 0, index % 7 == 6 { run.pass(.seconds(20)) }
    }
    run.end()
  }

  private struct SessionRun {
    private let dialect: SubscriptionDialect
    private let reader: UpstreamMessageReader
    private var session: SubscriptionSession
    private var now = Duration.seconds(1)
    private var established: Set<Int> = []
    private var live: Set<Int> = [1, 2, 3]

    init(_ dialect: SubscriptionDialect, headers: CallHeaders) {
      self.dialect = dialect
      var settings = UpstreamConfiguration(url: "http://up/graphql")
      switch dialect {
      case .transportWS: settings.subscriptions = .transportWS
      case .legacyWS: settings.subscriptions = .legacyWS
      case .appSync: settings.dialect = .appsync
      case .eventStream: settings.subscriptions = .eventStream
      }
      session = SubscriptionSession(
        settings: settings, host: "up", limits: SubscriptionLimits(settings.dialect),
        headers: headers, random: { 0.5 })
      reader = UpstreamMessageReader(dialect: dialect, messageBytesMax: 4_000, depthMax: 60)
      if dialect == .eventStream { live = [1] }
      let request = SubscriptionRequest(FuzzedOperations.all[0], variables: .none)
      for number in live.sorted() {
        handle(.subscribe(number, request, wasEstablished: false))
      }
      handle(.opened(subprotocol: dialect.subprotocol))
      if dialect != .eventStream { handle(.message(.acknowledged(keepAlive: nil))) }
    }

    mutating func hear(_ text: [UInt8]) {
      if case .eventStream = dialect {
        return handle(.message(reader.read(event: "next", data: text, id: "1")))
      }
      let message = reader.read(text)
      if case .next(_, let payload) = message {
        let isJSON = (try? JSONDocument(payload.message, range: payload.range)) != nil
        Finding.require(isJSON, "a payload is not JSON")
      }
      handle(.message(message))
    }

    mutating func lose() {
      handle(.closed(code: 1006))
      pass(.seconds(61))
      handle(.opened(subprotocol: dialect.subprotocol))
      if dialect != .eventStream { handle(.message(.acknowledged(keepAlive: nil))) }
    }

    mutating func pass(_ duration: Duration) {
      now += duration
      for _ in 0..<100 {
        guard let deadline = session.deadline, deadline <= now else { return }
        handle(.tick)
      }
      Finding.require(false, "a deadline stays")
    }

    mutating func end() {
      handle(.stopped)
      Finding.require(session.isFinished && live.isEmpty, "a subscription does not end")
      Finding.require(session.numbers.isEmpty && session.starting.isEmpty, "ids are left")
    }

    private mutating func handle(_ event: SessionEvent) {
      for action in session.handle(event, at: now) {
        switch action {
        case .open, .close: established = []
        case .relocate(let number): live.remove(number)
        case .send(let text):
          Finding.require((try? JSONDocument(text)) != nil, "a sent message is not JSON")
        case .deliver(let number, let delivery):
          Finding.require(live.contains(number), "\(number) gets an event after its end")
          note(delivery, of: number)
        }
      }
    }

    private mutating func note(_ delivery: SubscriptionDelivery, of number: Int) {
      switch delivery {
      case .established:
        Finding.require(established.insert(number).inserted, "\(number) is established twice")
      case .next:
        Finding.require(established.contains(number), "\(number) gets an event before its start")
      case .interrupted: established.remove(number)
      case .complete, .failed: live.remove(number)
      }
    }
  }
}
