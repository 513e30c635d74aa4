import Glibc
import Synchronization
import TestSupport

/// The results of a service's connections until it ended. Guarded by one lock, since all connections write to
/// it.
final class DrainTally: Sendable {
  private let state = Mutex((answered: 0, isOver: false, faults: [String]()))

  var answered: Int { state.withLock { $0.answered } }
  /// Whether clients should stop.
  var isOver: Bool { state.withLock { $0.isOver } }
  var faults: [String] { state.withLock { $0.faults } }

  func end() { state.withLock { $0.isOver = true } }
  func noteResponse() { state.withLock { $0.answered += 1 } }
  func noteFault(_ text: String) { state.withLock { $0.faults.append(text) } }
}

/// A connection that sends a request as soon as the previous response is complete, until a response says that
/// the connection closes.
struct BusyConnection {
  let port: Int
  /// The connection's number; it requests films of its own, so it never waits for another connection's
  /// upstream request.
  let number: Int
  let tally: DrainTally

  func run() {
    do {
      let client = try RawClient(port: port)
      for step in 0... {
        let target = "/api/films/f\(number * 100 + step % 100 + 1)"
        let isForced = step.isMultiple(of: 2)
        guard try sendOne(target, isForced: isForced, client) else { return }
      }
    } catch {
      tally.noteFault("a request was sent and not answered: \(error)")
    }
  }

  /// - Returns: whether the connection persists.
  private func sendOne(
    _ target: String, isForced: Bool, _ client: RawClient
  ) throws -> Bool {
    let answer = try client.request(
      "GET", target, headers: isForced ? [("Cache-Control", "no-cache")] : [])
    tally.noteResponse()
    if answer.status != 200 { tally.noteFault("\(target): \(answer.status) \(answer.text)") }
    return answer["connection"]?.lowercased() != "close"
  }
}

/// A client that outlives the service: it keeps its connection as long as the service does, and retries a
/// refused connection. Anything else is a fault.
final class PersistentClient {
  private let port: Int
  private let number: Int
  private let tally: DrainTally
  private var connection: RawClient?
  private var step = 0

  init(port: Int, number: Int, tally: DrainTally) {
    self.port = port
    self.number = number
    self.tally = tally
  }

  /// Sends one request and reads its response, on a connection of its own at each fourth.
  func takeTurn() {
    step += 1
    do {
      let client = try connection ?? RawClient(port: port)
      connection = client
      let isForced = step.isMultiple(of: 2)
      let answer = try client.request(
        "GET", "/api/films/f\(number * 20 + step % 20 + 1)",
        headers: isForced ? [("Cache-Control", "no-cache")] : [])
      tally.noteResponse()
      if answer.status != 200 { tally.noteFault("\(answer.status) \(answer.text)") }
      let isLast = answer["connection"]?.lowercased() == "close"
      if isLast || step.isMultiple(of: 4) { connection = nil }
    } catch RawClient.Problem.connect(ECONNREFUSED) {
      connection = nil
    } catch {
      connection = nil
      tally.noteFault("a request was sent and not answered: \(error)")
    }
  }
}

/// A client that reads one film after the other, each for the first time, so that each is a change; it
/// retries a refused connection.
final class ReadingClient: Sendable {
  private static let filmsMax = 1200
  private let state = Mutex((films: Set<String>(), isOver: false, faults: [String]()))

  /// The ids of the films it has read.
  var films: Set<String> { state.withLock { $0.films } }
  var faults: [String] { state.withLock { $0.faults } }

  func end() { state.withLock { $0.isOver = true } }

  func run(port: Int) {
    var number = 1
    while number <= Self.filmsMax, !state.withLock({ $0.isOver }) {
      do {
        let answer = try RawClient(port: port).request("GET", "/api/films/f\(number)")
        state.withLock { state in
          if answer.status == 200 {
            state.films.insert("f\(number)")
          } else {
            state.faults.append("f\(number): \(answer.status) \(answer.text)")
          }
        }
        number += 1
      } catch RawClient.Problem.connect(ECONNREFUSED) {
        // Refused for the moment.
      } catch {
        state.withLock { $0.faults.append("f\(number) was sent and not answered: \(error)") }
      }
    }
  }
}
