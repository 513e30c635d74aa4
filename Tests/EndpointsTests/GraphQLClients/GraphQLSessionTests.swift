import LosslessJSON
import TestSupport
import Testing

@testable import Endpoints

/// The server's side of `graphql-transport-ws`, without a connection.
struct GraphQLSessionTests {
  private static let initialise = #"{"type":"connection_init"}"#

  private static func subscribe(_ id: String) -> String {
    #"{"id":"\#(id)","type":"subscribe","payload":{"query":"{a}"}}"#
  }

  private func ready(_ limits: GraphQLSession.Limits = .init()) -> GraphQLSession {
    var session = GraphQLSession(limits: limits)
    _ = session.receive(Self.initialise)
    _ = session.admit()
    return session
  }

  @Test("A connection is acknowledged once its credentials are checked")
  func acknowledgesAfterTheCheck() {
    var session = GraphQLSession()
    let payload = #"{"type":"connection_init","payload":{"Authorization":"Bearer a"}}"#
    #expect(session.receive(payload) == [.check(["Authorization": "Bearer a"])])
    #expect(session.runOutOfTime() == [])
    #expect(session.admit() == [.send(#"{"type":"connection_ack"}"#)])
    #expect(session.admit() == [])
    #expect(
      session.receive(Self.subscribe("1"))
        == [.begin(.init(number: 1, request: ["query": "{a}"]))])
    #expect(session.operationCount == 1)
  }

  @Test("Results carry the operation's id, and end with it")
  func resultsCarryTheID() {
    var session = ready()
    _ = session.receive(Self.subscribe(#"a\"b"#))
    #expect(
      session.next(Array(#"{"data":1}"#.utf8), of: 1)?.text
        == #"{"id":"a\"b","type":"next","payload":{"data":1}}"#)
    #expect(session.complete(1)?.text == #"{"id":"a\"b","type":"complete"}"#)
    #expect(session.complete(1) == nil && session.next([], of: 1) == nil)
    _ = session.receive(Self.subscribe("c"))
    #expect(
      session.fail(2, Array(#"[{"message":"x"}]"#.utf8))?.text
        == #"{"id":"c","type":"error","payload":[{"message":"x"}]}"#)
    #expect(session.fail(2, []) == nil && session.operationCount == 0)
  }

  @Test("A result that comes after the client has ended its operation is dropped, its id is free")
  func cancelledOperationsSendNothing() {
    var session = ready()
    _ = session.receive(Self.subscribe("1"))
    #expect(session.receive(#"{"id":"1","type":"complete"}"#) == [.cancel(1)])
    #expect(session.receive(#"{"id":"1","type":"complete"}"#) == [])
    #expect(
      session.receive(Self.subscribe("1"))
        == [.begin(.init(number: 2, request: ["query": "{a}"]))])
    // The first operation's late results are not the second's.
    #expect(session.next([], of: 1) == nil && session.complete(1) == nil)
    #expect(session.next(Array("{}".utf8), of: 2) != nil)
  }

  @Test("A ping is answered at any time, with its payload")
  func answersPings() {
    var session = GraphQLSession()
    #expect(session.receive(#"{"type":"ping"}"#) == [.send(#"{"type":"pong"}"#)])
    #expect(
      session.receive(#"{"type":"ping","payload":{"a":[1]}}"#)
        == [.send(#"{"type":"pong","payload":{"a":[1]}}"#)])
    #expect(session.receive(#"{"type":"pong","payload":{}}"#) == [])
  }

  /// What closes a connection: its inputs, and the code.
  private struct Fault: Sendable, CustomTestStringConvertible {
    let code: UInt16
    let inputs: [String]

    init(_ code: UInt16, _ inputs: String...) {
      self.code = code
      self.inputs = inputs
    }

    var testDescription: String { "\(code): \(inputs)" }
  }

  private static let faults: [Fault] = [
    Fault(4400, "{"),
    Fault(4400, "[]"),
    Fault(4400, "1"),
    Fault(4400, ""),
    Fault(4400, #"{"type":1}"#),
    Fault(4400, #"{}"#),
    Fault(4400, #"{"type":"start","id":"1","payload":{}}"#),
    Fault(4400, #"{"type":"connection_ack"}"#),
    Fault(4400, #"{"type":"next","id":"1"}"#),
    Fault(4400, #"{"type":"connection_init","payload":[]}"#),
    Fault(4400, #"{"type":"ping","payload":"a"}"#),
    Fault(4400, #"{"type":"pong","payload":1}"#),
    Fault(4401, subscribe("1")),
    Fault(4400, #"{"type":"subscribe","id":"1"}"#),
    Fault(4429, initialise, initialise),
    Fault(4429, initialise, "admit", initialise),
    // The credentials are still being checked.
    Fault(4401, initialise, subscribe("1")),
    Fault(4400, initialise, "admit", subscribe("")),
    Fault(4400, initialise, "admit", #"{"type":"subscribe","id":1,"payload":{}}"#),
    Fault(4400, initialise, "admit", #"{"type":"subscribe","id":"1","payload":[]}"#),
    Fault(4400, initialise, "admit", #"{"type":"subscribe","id":"1","payload":null}"#),
    Fault(4400, initialise, "admit", subscribe(String(repeating: "a", count: 257))),
    Fault(4409, initialise, "admit", subscribe("1"), subscribe("1")),
    Fault(4400, initialise, "admit", #"{"type":"complete"}"#),
    Fault(4403, initialise, "refuse"),
    Fault(4403, initialise, "admit", "refuse"),
    Fault(4408, "late"),
    Fault(4400, "binary"),
    Fault(1001, initialise, "admit", "drain"),
    Fault(4408, #"{"type":"ping"}"#, "late"),
  ]

  @Test("A message that the protocol does not allow closes the connection", arguments: faults)
  private func closesOnFaults(fault: Fault) throws {
    var session = GraphQLSession()
    var closes: [GraphQLSession.Close] = []
    for input in fault.inputs {
      #expect(closes.isEmpty)
      for case .close(let close) in Self.react(&session, to: input) { closes.append(close) }
    }
    let close = try #require(closes.first)
    #expect(closes.count == 1 && close.code == fault.code, "\(close)")
    #expect(close.reason.utf8.count <= 123)
    // Nothing happens after the close.
    #expect(session.isClosed && session.operationCount == 0)
    for input in fault.inputs + [Self.initialise, Self.subscribe("2"), "admit", "refuse", "late"] {
      #expect(Self.react(&session, to: input) == [])
    }
    #expect(session.next([], of: 1) == nil && session.complete(1) == nil)
  }

  private static func react(
    _ session: inout GraphQLSession, to input: String
  ) -> [GraphQLSession.Action] {
    switch input {
    case "admit": session.admit()
    case "refuse": session.refuse("token_expired")
    case "late": session.runOutOfTime()
    case "drain": session.end(.goingAway)
    case "binary": session.receive(nil as [UInt8]?)
    default: session.receive(input)
    }
  }

  @Test("Operations beyond the limit are refused one by one, and the connection stays")
  func limitsOperations() throws {
    var session = ready(.init(operationsMax: 2))
    _ = session.receive(Self.subscribe("1"))
    _ = session.receive(Self.subscribe("2"))
    guard case .send(let text)? = session.receive(Self.subscribe("3")).first else {
      Issue.record("nothing was sent")
      return
    }
    let message = try JSONValue(parsing: text)
    #expect(message["type"] == "error" && message["id"] == "3")
    #expect(message["payload"]?[0]?["extensions"]?["code"] == "rate_limited")
    #expect(session.operationCount == 2 && !session.isClosed)
    _ = session.complete(1)
    session.noteWorkEnded(of: 1)
    #expect(session.receive(Self.subscribe("3")).count == 1 && session.operationCount == 2)
  }

  /// A call to upstream goes on after `complete`; otherwise one connection could begin any number.
  @Test("An operation keeps its place until its work has ended, also if the client ends it")
  func keepsPlacesOfWork() throws {
    var session = ready(.init(operationsMax: 3))
    for number in 1...3 as ClosedRange<UInt64> {
      #expect(session.receive(Self.subscribe("a")).count == 1)
      #expect(session.receive(#"{"id":"a","type":"complete"}"#) == [.cancel(number)])
    }
    #expect(session.operationCount == 0 && session.placeCount == 3)
    for _ in 0..<300 {
      guard case .send(let text)? = session.receive(Self.subscribe("a")).first else {
        Issue.record("an operation began beyond the limit")
        return
      }
      #expect(try JSONValue(parsing: text)["type"] == "error")
      #expect(session.receive(#"{"id":"a","type":"complete"}"#) == [])
    }
    session.noteWorkEnded(of: 2)
    #expect(
      session.receive(Self.subscribe("a"))
        == [.begin(.init(number: 4, request: ["query": "{a}"]))])
    #expect(session.placeCount == 3)
    // The work of an operation that still has its id ends both.
    session.noteWorkEnded(of: 4)
    #expect(session.operationCount == 0 && session.placeCount == 2)
    _ = session.end(.goingAway)
    #expect(session.placeCount == 0)
  }

  @Test("Ids that differ only in how a letter is encoded are different ids")
  func comparesIDsByBytes() {
    var session = ready()
    _ = session.receive(Self.subscribe("\u{E9}"))
    #expect(!session.isClosed)
    _ = session.receive(Self.subscribe("e\u{301}"))
    #expect(session.operationCount == 2)
  }

  @Test("A long id is cut in the reason of a close, at the end of a character")
  func shortensReasons() {
    let close = GraphQLSession.Close.idInUse(String(repeating: "ä€", count: 60))
    #expect((119...123).contains(close.reason.utf8.count))
  }

  // MARK: Any order of events

  /// What a client may conclude: every result belongs to an operation that it has begun and not ended,
  /// each operation ends once, and after a close nothing is sent.
  @Test("In any order of events each result belongs to a running operation", arguments: 0..<300)
  func survivesAnyOrder(seed: UInt64) {
    var run = SessionRun(seed: seed)
    for _ in 0..<200 { run.step() }
    #expect(run.faults == [], "seed \(seed)")
  }
}

/// A session with random inputs, compared with a model of the protocol.
private struct SessionRun: SeededChance {
  var generator: SeededGenerator
  private var session = GraphQLSession(limits: .init(operationsMax: 4))
  /// Of the running operations, by number.
  private var ids: [UInt64: String] = [:]
  /// The numbers of operations whose work has not ended.
  private var working: Set<UInt64> = []
  private var isReady = false
  private var isClosed = false
  private var begun: UInt64 = 0
  private(set) var faults: [String] = []

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    _ = session.receive(#"{"type":"connection_init"}"#)
    if percent(95) {
      _ = session.admit()
      isReady = true
    }
  }

  mutating func step() {
    let id = pick(["a", "b", "c", "d", "e"]) ?? "a"
    // Of a number that is running, has ended, or was never begun.
    let of = UInt64(number(0...Int(begun) + 1))
    switch number(0...10) {
    case 0...3:
      // A client avoids a running id, mostly.
      if ids.values.contains(id), percent(97) { return }
      take(session.receive(#"{"id":"\#(id)","type":"subscribe","payload":{}}"#), for: id)
    case 4: take(session.receive(#"{"id":"\#(id)","type":"complete"}"#), for: id)
    case 5, 6: expect(session.next(Array("{}".utf8), of: of), "next", of: of)
    case 7:
      expect(session.complete(of), "complete", of: of)
      ids[of] = nil
    case 8:
      expect(session.fail(of, Array("[{}]".utf8)), "error", of: of)
      ids[of] = nil
    case 9:
      session.noteWorkEnded(of: of)
      ids[of] = nil
      working.remove(of)
    default:
      if percent(3) { take(session.refuse("expired"), for: id) }
    }
    if !isClosed, session.operationCount != ids.count { faults.append("another count") }
    if session.placeCount != working.count { faults.append("another count of places") }
  }

  private mutating func take(_ actions: [GraphQLSession.Action], for id: String) {
    if isClosed, !actions.isEmpty { faults.append("\(actions) after the close") }
    for action in actions {
      switch action {
      case .begin(let operation):
        if !isReady || ids.values.contains(id) || working.count >= 4 || operation.number <= begun {
          faults.append("\(id) was begun as \(operation.number)")
        }
        begun = operation.number
        ids[operation.number] = id
        working.insert(operation.number)
      case .cancel(let number):
        if ids.removeValue(forKey: number) != id { faults.append("\(number) was cancelled") }
      case .close(let close):
        isClosed = true
        if close.code == 4409, !ids.values.contains(id) { faults.append("\(id) was free") }
        ids = [:]
        working = []
      case .send:
        if working.count < 4 { faults.append("\(id) was refused") }
      case .check: faults.append("credentials were checked again")
      }
    }
  }

  private mutating func expect(_ text: [UInt8]?, _ type: String, of number: UInt64) {
    let wanted = ids[number].map { #"{"id":"\#($0)","type":"\#(type)""# }
    switch (text?.text, wanted) {
    case (nil, nil): return
    case (let text?, let wanted?) where text.hasPrefix(wanted): return
    default: faults.append("\(text?.text ?? "nothing") of \(number), not \(wanted ?? "nothing")")
    }
  }
}

extension GraphQLSession {
  fileprivate mutating func receive(_ text: String) -> [Action] { receive(Array(text.utf8)) }
}

extension GraphQLSession.Action {
  fileprivate static func send(_ text: String) -> Self { .send(Array(text.utf8)) }
}

extension [UInt8] {
  fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
