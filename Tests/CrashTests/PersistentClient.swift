import Glibc
import TestSupport

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
