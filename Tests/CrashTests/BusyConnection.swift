import TestSupport

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
