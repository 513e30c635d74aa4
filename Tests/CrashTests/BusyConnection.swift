import TestSupport

/// One connection that sends a request as soon as the one before is answered, until it is told
/// that the connection closes.
struct BusyConnection {
  let port: Int
  /// Films of its own: nobody waits for a call of another connection.
  let number: Int
  let tally: DrainTally

  func run() {
    do {
      let client = try RawClient(port: port)
      for step in 0... {
        let target = "/api/films/f\(number * 100 + step % 100 + 1)"
        let isForced = step.isMultiple(of: 2)
        guard try isAnswered(target, isForced: isForced, client) else { return }
      }
    } catch {
      tally.noteFault("a request was sent and not answered: \(error)")
    }
  }

  /// - Returns: whether the connection goes on.
  private func isAnswered(
    _ target: String, isForced: Bool, _ client: RawClient
  ) throws -> Bool {
    let answer = try client.request(
      "GET", target, headers: isForced ? [("Cache-Control", "no-cache")] : [])
    tally.noteAnswer()
    if answer.status != 200 { tally.noteFault("\(target): \(answer.status) \(answer.text)") }
    return answer["connection"]?.lowercased() != "close"
  }
}
