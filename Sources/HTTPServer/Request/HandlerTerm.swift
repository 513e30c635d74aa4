import Synchronization
import Transport

/// The time in which one handler serves a listener, from the start or a replacement to the next one.
///
/// It counts the requests for which the handler works, streamed responses and WebSockets included, so that
/// what the handler needs can be closed after the last of them.
final class HandlerTerm: Sendable {
  private struct State {
    var inProgress = 0
    /// Whether no further requests begin, apart from those that are answered while others wait.
    var isOver = false
  }

  let handler: any RequestHandler
  private let state = Mutex(State())
  /// Notified when nothing is in progress and the term is over.
  private let finished = AsyncSignal()

  init(_ handler: any RequestHandler) {
    self.handler = handler
  }

  /// The number of requests in progress.
  var inProgress: Int { state.withLock { $0.inProgress } }

  func requestBegan() {
    state.withLock { $0.inProgress += 1 }
  }

  func requestEnded() {
    let isLast = state.withLock { state in
      state.inProgress -= 1
      return state.inProgress == 0 && state.isOver
    }
    if isLast { finished.notify() }
  }

  func end() {
    state.withLock { $0.isOver = true }
  }

  /// Waits after ``end()`` until nothing is in progress, or until the time limit.
  func waitUntilFinished(atMost limit: Duration) async {
    let start = LoopClock.now()
    while true {
      let seen = finished.count
      let left = limit - LoopClock.now().elapsed(since: start)
      guard inProgress > 0, left > .zero else { return }
      await finished.wait(after: seen, atMost: left, ignoresCancellation: true)
    }
  }
}

/// The handler of one listener over all loops, which can be replaced while the server runs.
final class HandlerPlace: Sendable {
  /// The requests to one loop. All run on the loop.
  struct Loop: Sendable {
    /// Lets requests that begin from now on wait.
    let hold: @Sendable () async -> Void
    /// Resets the connections whose requests are still in progress.
    let cutOff: @Sendable () async -> Void
    /// Serves with the handler of a term from now on, first what has waited.
    let serve: @Sendable (HandlerTerm) async -> Void
  }

  private struct State {
    var term: HandlerTerm
    var loops: [Loop] = []
  }

  private let state: Mutex<State>

  init(_ handler: any RequestHandler) {
    state = Mutex(State(term: HandlerTerm(handler)))
  }

  var term: HandlerTerm { state.withLock { $0.term } }

  func join(_ loop: Loop) {
    state.withLock { $0.loops.append(loop) }
  }

  /// Releases the loops, which this would keep alive.
  func end() {
    state.withLock { $0.loops = [] }
  }

  private var loops: [Loop] { state.withLock { $0.loops } }

  func hold() async {
    for loop in loops { await loop.hold() }
    term.end()
  }

  func cutOff() async {
    for loop in loops { await loop.cutOff() }
  }

  func serve(with handler: any RequestHandler) async {
    let term = HandlerTerm(handler)
    state.withLock { $0.term = term }
    for loop in loops { await loop.serve(term) }
  }
}
