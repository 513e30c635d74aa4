import LosslessJSON
import TestSupport

/// One phone that hands changes of all modes over until the service goes away.
///
/// Each phone has films of its own, so that the order of what is about one of them is this phone's
/// order.
struct QueueLoad {
  static let phones = 4
  static let filmsPerPhone = 4

  let port: Int
  let phone: Int
  let token: String
  /// Tells keys and marks of one round from those of another.
  let round: Int
  let handedOver: HandedOver
  var random: SeededGenerator

  static func film(_ place: Int, of phone: Int) -> String {
    "f\(1 + phone * filmsPerPhone + place)"
  }

  static func headers(_ phone: Int, token: String) -> [(String, String)] {
    [
      ("Device-Token", token), ("Authorization", "Bearer user-phone\(phone)"),
      ("Content-Type", "application/json"),
    ]
  }

  mutating func run() {
    guard let client = try? RawClient(port: port) else { return }
    var step = 0
    do {
      while true {
        step += 1
        try handOver(step, client)
      }
    } catch {
      // The connection broke: the service was ended.
    }
  }

  private mutating func handOver(_ step: Int, _ client: RawClient) throws {
    let film = Self.film(Int.random(in: 0..<Self.filmsPerPhone, using: &random), of: phone)
    // A forced one waits for upstream, and nothing else comes from its phone meanwhile.
    let mode = ["lazy", "lazy", "lazy", "steady", "steady", "steady", "steady", "force"][
      Int.random(in: 0..<8, using: &random)]
    let change =
      Bool.random(using: &random)
      ? #""RateFilm","variables":{"id":"\#(film)","stars":\#(1 + step % 5)}"#
      : #""UpdateFilm","variables":{"id":"\#(film)","patch":{"title":"\#(round)-\#(step)"}}"#
    let body = #"{"mode":"\#(mode)","operation":\#(change)}"#
    let key = "\(round)-\(phone)-\(step)"
    let number = handedOver.noteSent(
      HandedOver.Mutation(device: phone, key: key, body: body))
    let answer = try client.request(
      "POST", "/v1/mutations",
      headers: Self.headers(phone, token: token) + [("Idempotency-Key", key)], body: body)
    switch answer.status {
    case 200, 202:
      guard let id = try JSONValue(parsing: answer.body)["id"]?.string else {
        return handedOver.noteFault("\(key): \(answer.text)")
      }
      handedOver.noteTaken(number, id: id)
    // Not sent in time, or sent and unanswered: both are what a forced one may be told.
    case 503 where mode == "force", 504 where mode == "force": break
    default: handedOver.noteFault("\(key): \(answer.status) \(answer.text)")
    }
  }
}
