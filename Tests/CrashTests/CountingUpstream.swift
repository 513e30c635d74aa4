import LosslessJSON
import Synchronization
import VendorDouble

/// An upstream without idempotency keys, as most are: a mutation sent twice takes effect twice, and is
/// counted. Now and then it loses a response; and a fuse kills the service that calls it.
final class CountingUpstream: Sendable {
  /// A mutation that arrived.
  struct Sending: Sendable {
    /// The mutation's id.
    let key: String
    let operation: String
    /// The film that it changes; empty if it was to create a film and was lost before it did.
    let film: String
    let tookEffect: Bool
  }

  /// An event at one mutation, before its response.
  struct Fuse: Sendable {
    let operation: String
    /// Whether the mutation takes effect first.
    let isAfterEffect: Bool
    /// The number of the operation's mutations that pass before.
    var countdown: Int
    let burn: @Sendable () -> Void
  }

  /// A fuse that has burnt, and the mutation at which it did.
  struct Burnt: Sendable {
    let key: String
    let operation: String
    let isAfterEffect: Bool
  }

  fileprivate struct State {
    var sendings: [Sending] = []
    var films: Set<String> = []
    var lookCount = 0
    var fuse: Fuse?
    var burnt: [Burnt] = []
    var losesAnswers = true
  }

  /// Every this many mutations the response is lost, in turn after the effect and before it.
  private static let lossInterval = 31

  private let state = Mutex(State())

  var sendings: [Sending] { state.withLock { $0.sendings } }
  /// The number of queries whether a film exists.
  var lookCount: Int { state.withLock { $0.lookCount } }
  var burnt: [Burnt] { state.withLock { $0.burnt } }

  func lay(_ fuse: Fuse) { state.withLock { $0.fuse = fuse } }

  /// Stops losing responses.
  func calmDown() {
    state.withLock { state in
      state.fuse = nil
      state.losesAnswers = false
    }
  }

  /// - Returns: nil if the response is lost.
  func respond(to request: ScriptedServer.Request) -> ScriptedServer.Answer? {
    guard let body = try? JSONValue(parsing: request.body),
      let operation = body["operationName"]?.string, let variables = body["variables"]
    else { return ScriptedServer.Answer(400) }
    guard !request.key.isEmpty else { return look(for: variables["id"]?.string ?? "") }
    let (answer, burn) = state.withLock { state in
      state.take(request.key, operation, variables)
    }
    burn?()
    return answer
  }

  private func look(for film: String) -> ScriptedServer.Answer {
    let isThere = state.withLock { state in
      state.lookCount += 1
      return state.hasFilm(film)
    }
    return .init(200, isThere ? Self.film(film, as: "film") : #"{"data":{"film":null}}"#)
  }

  fileprivate static func film(_ id: String, as field: String) -> String {
    #"{"data":{"\#(field)":{"__typename":"Film","id":"\#(id)","title":"T"}}}"#
  }
}

extension CountingUpstream.State {
  /// Films to be deleted exist at the start; others once they were put or created.
  fileprivate func hasFilm(_ id: String) -> Bool {
    films.contains(id) != id.hasPrefix(QueueKindsLoad.droppedPrefix)
  }

  fileprivate mutating func take(
    _ key: String, _ operation: String, _ variables: JSONValue
  ) -> (answer: ScriptedServer.Answer?, burn: (@Sendable () -> Void)?) {
    let burning = burningFuse(at: operation)
    let turn = sendings.count % (2 * CountingUpstream.lossInterval)
    let isLost =
      burning != nil || (losesAnswers && turn % CountingUpstream.lossInterval == 7)
    let takesEffect = burning?.isAfterEffect ?? (!isLost || turn == 7)
    var film = variables["id"]?.string ?? ""
    if takesEffect {
      if operation == "Make" { film = "made-\(films.count)" }
      films.insert(film)
    }
    sendings.append(
      CountingUpstream.Sending(
        key: key, operation: operation, film: film, tookEffect: takesEffect))
    if let burning {
      burnt.append(
        CountingUpstream.Burnt(
          key: key, operation: operation, isAfterEffect: burning.isAfterEffect))
      return (nil, burning.burn)
    }
    return (isLost ? nil : answer(to: operation, film), nil)
  }

  private mutating func burningFuse(at operation: String) -> CountingUpstream.Fuse? {
    guard let laid = fuse, laid.operation == operation else { return nil }
    fuse?.countdown -= 1
    guard laid.countdown <= 0 else { return nil }
    fuse = nil
    return laid
  }

  private func answer(to operation: String, _ film: String) -> ScriptedServer.Answer {
    switch operation {
    case "Make": .init(200, CountingUpstream.film(film, as: "createFilm"))
    case "Drop": .init(200, #"{"data":{"deleteFilm":"\#(film)"}}"#)
    case "Rate": .init(200, CountingUpstream.film(film, as: "rateFilm"))
    default: .init(200, CountingUpstream.film(film, as: "updateFilm"))
    }
  }
}
