import HTTPServer
import HTTPWire
import Synchronization
import Transport

/// A handler made of closures.
struct ScriptedHandler: RequestHandler {
  var look:
    @Sendable (
      borrowing RequestHead, _ content: UnsafeRawBufferPointer, ResponseStamp, inout [UInt8]
    ) -> Bool = { _, _, _, _ in false }
  var bodyBytesMax: Int?
  var names = RequestNames()
  var answer: @Sendable (ServerRequest) async -> ServerResponse

  init(
    bodyBytesMax: Int? = nil, answer: @escaping @Sendable (ServerRequest) async -> ServerResponse
  ) {
    self.bodyBytesMax = bodyBytesMax
    self.answer = answer
  }

  func answerAtOnce(
    _ head: borrowing RequestHead, content: UnsafeRawBufferPointer, stamp: ResponseStamp,
    into output: inout [UInt8]
  ) -> Bool {
    look(head, content, stamp, &output)
  }

  func contentRoute(for head: borrowing RequestHead) -> ContentRoute {
    ContentRoute(rule: ContentRule(bytesMax: bodyBytesMax))
  }

  func respond(to request: ServerRequest) async -> ServerResponse { await answer(request) }
}

/// A gate that opens once and resumes all waiting tasks.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var arrivals = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// How many have come to the gate.
  var arrivals: Int { state.withLock { $0.arrivals } }

  func open() {
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      state.isOpen = true
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        state.arrivals += 1
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}

/// A number that handlers add to and tests read.
final class Count: Sendable {
  private let number = Atomic<Int>(0)

  var value: Int { number.load(ordering: .relaxed) }

  func add(_ amount: Int = 1) { number.wrappingAdd(amount, ordering: .relaxed) }
}

/// The pool of a server that a handler needs before the server is there.
final class LatePool: Sendable {
  private let pool = Mutex<BlockingPool?>(nil)

  var value: BlockingPool? {
    get { pool.withLock { $0 } }
    set { pool.withLock { $0 = newValue } }
  }
}
