import LosslessJSON

@testable import Endpoints

/// A session of `graphql-transport-ws`: the input is lines, each a client's message or, after an
/// exclamation mark, an event of the server's own with the number of an operation. Whatever comes, each
/// message is JSON for a running operation, each operation ends once, and after a close nothing happens.
enum GraphQLSessionTarget {
  private static let operationsMax = 5
  private static let newline = UInt8(ascii: "\n")

  static func run(_ input: UnsafeRawBufferPointer) {
    var run = Run()
    for line in Array(input).split(separator: newline) { run.step(line) }
  }

  private struct Run {
    var session = GraphQLSession(limits: .init(operationsMax: operationsMax, idBytesMax: 16))
    var running: Set<UInt64> = []
    var working: Set<UInt64> = []
    var last: UInt64 = 0
    var isClosed = false
    var acknowledgements = 0

    mutating func step(_ line: ArraySlice<UInt8>) {
      guard line.first == UInt8(ascii: "!") else { return take(session.receive(Array(line))) }
      let number = line.dropFirst(2).first.map { UInt64($0 & 7) } ?? 0
      switch line.dropFirst().first {
      case UInt8(ascii: "a"): take(session.admit())
      case UInt8(ascii: "r"): take(session.refuse("expired"))
      case UInt8(ascii: "l"): take(session.runOutOfTime())
      case UInt8(ascii: "b"): take(session.receive(nil))
      case UInt8(ascii: "n"): check(session.next(Array("{}".utf8), of: number), of: number)
      case UInt8(ascii: "c"):
        check(session.complete(number), of: number)
        running.remove(number)
      case UInt8(ascii: "f"):
        check(session.fail(number, Array("[{}]".utf8)), of: number)
        running.remove(number)
      case UInt8(ascii: "w"):
        session.noteWorkEnded(of: number)
        running.remove(number)
        working.remove(number)
      default: take(session.end(.goingAway))
      }
    }

    private mutating func take(_ actions: [GraphQLSession.Action]) {
      Finding.require(!isClosed || actions.isEmpty, "\(actions) after the close")
      for action in actions {
        switch action {
        case .send(let text):
          let type = (try? JSONValue(parsing: text))?["type"]?.string
          Finding.require(type != nil, "no message: \(String(decoding: text, as: UTF8.self))")
          if type == "connection_ack" { acknowledgements += 1 }
        case .check: break
        case .begin(let operation):
          Finding.require(operation.number > last, "the number \(operation.number) again")
          Finding.require(acknowledgements == 1, "an operation before the acknowledgement")
          last = operation.number
          running.insert(operation.number)
          working.insert(operation.number)
        case .cancel(let number):
          Finding.require(running.remove(number) != nil, "\(number) was not running")
        case .close(let close):
          Finding.require(close.reason.utf8.count <= 123, "a reason of \(close.reason.utf8.count)")
          isClosed = true
          running = []
          working = []
        }
      }
      Finding.require(acknowledgements <= 1, "acknowledged twice")
      Finding.require(session.isClosed == isClosed, "closed without an action")
      Finding.require(session.operationCount == running.count, "another count")
      Finding.require(session.placeCount == working.count, "another count of places")
      Finding.require(working.count <= operationsMax, "too many operations")
    }

    private func check(_ text: [UInt8]?, of number: UInt64) {
      Finding.require((text != nil) == running.contains(number), "a result of \(number)")
      guard let text else { return }
      Finding.require((try? JSONValue(parsing: text))?["id"] != nil, "a result without an id")
    }
  }
}
