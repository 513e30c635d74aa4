import HTTPServer
import HTTPWire
import Synchronization
import TestSupport
import Testing
import Transport

/// A handler that is replaced while connections stay open.
struct ReplacingHandlerTests {
  private static func replace(_ server: ServerFixture, with text: String) async -> Int {
    await server.service.hold()
    let late = await server.service.waitForResponses(atMost: .seconds(10))
    await server.service.serve(with: [ScriptedHandler { _ in .text(text) }])
    return late
  }

  @Test("A request waits for the next handler, on its connection")
  func requestsWait() async throws {
    let old = NotingRouter(try Router([Route(.post, "/") { _ in .text("old") }]))
    try await ServerFixture.serve(old, loops: 2) { server in
      let client = try RawClient(port: server.port)
      let first = try await onOwnThread { [client = SentClient(client)] in
        try client.value.request("POST", "/", body: "abc").text
      }
      #expect(first == "old")
      await server.service.hold()
      let fresh = try RawClient(port: server.port)
      for waiting in [client, fresh] {
        try waiting.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
      }
      #expect(await eventuallyHolds { old.count == 3 })
      #expect(await server.service.waitForResponses(atMost: .seconds(10)) == 0)
      #expect(client.isQuiet())
      #expect(fresh.isQuiet())
      await server.service.serve(with: [ScriptedHandler { _ in .text("new") }])
      for waiting in [client, fresh] {
        let sent = SentClient(waiting)
        let texts = try await onOwnThread {
          [try sent.value.response().text, try sent.value.request("GET", "/").text]
        }
        #expect(texts == ["new", "new"])
      }
    }
  }

  @Test("A request in progress gets the response of its handler first")
  func requestsInProgressEnd() async throws {
    let gate = Gate()
    let handler = ScriptedHandler { request in
      guard request.path == "/slow" else { return .text("old") }
      return ServerResponse(
        body: .stream { writer in
          try await writer.write("be")
          await gate.wait()
          try await writer.write("gun")
        })
    }
    try await ServerFixture.serve(handler) { server in
      async let slow = server.withClient { try $0.request("GET", "/slow").text }
      #expect(await eventuallyHolds { gate.arrivals == 1 })
      let tally = Tally()
      async let late = {
        let late = await Self.replace(server, with: "new")
        tally.end()
        return late
      }()
      async let other = server.withClient { try $0.request("GET", "/").text }
      #expect(await eventuallyHolds { server.service.connectionCount == 2 })
      #expect(!tally.isOver)
      gate.open()
      #expect(try await slow == "begun")
      #expect(await late == 0)
      let text = try await other
      #expect(["old", "new"].contains(text))
      #expect(try await server.withClient { try $0.request("GET", "/").text } == "new")
    }
  }

  @Test("A request that takes longer than the time limit is cut off")
  func lateRequestsAreCutOff() async throws {
    let arrived = Mutex(false)
    let handler = ScriptedHandler { _ in
      arrived.withLock { $0 = true }
      try? await Task.sleep(for: .seconds(600))
      return .text("old")
    }
    try await ServerFixture.serve(handler) { server in
      async let cut = server.withClient { client in
        _ = #expect(throws: RawClient.Problem.self) { try client.request("GET", "/") }
      }
      #expect(await eventuallyHolds { arrived.withLock { $0 } })
      await server.service.hold()
      #expect(await server.service.waitForResponses(atMost: .milliseconds(20)) == 1)
      await server.service.serve(with: [ScriptedHandler { _ in .text("new") }])
      try await cut
      #expect(try await server.withClient { try $0.request("GET", "/").text } == "new")
    }
  }

  @Test("A request with content is routed by the handler that responds")
  func contentIsRoutedAgain() async throws {
    let old = NotingRouter(try Router([Route(.post, "/things") { _ in .text("old") }]))
    let new = try Router([Route(.post, "/things") { _ in .text("new") }])
    try await ServerFixture.serve(old) { server in
      await server.service.hold()
      let client = try RawClient(port: server.port)
      try client.send("POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
      #expect(await eventuallyHolds { old.count == 1 })
      await server.service.serve(with: [new])
      let sent = SentClient(client)
      #expect(try await onOwnThread { try sent.value.response(to: "POST").text } == "new")
    }
  }

  @Test("A WebSocket is closed with 1001, and its handler is waited for")
  func webSocketsAreClosed() async throws {
    let echo = WebSocketEcho()
    try await ServerFixture.serve(echo.handler) { server in
      let tally = Tally()
      async let code = server.withSocket { socket -> Int? in
        try socket.send(RawFrame.text("a"))
        _ = try socket.frame()
        tally.noteAnswer()
        return try socket.frame().closeCode
      }
      #expect(await eventuallyHolds { tally.answers == 1 })
      #expect(await Self.replace(server, with: "new") == 0)
      #expect(echo.ends.withLock { $0.count } == 1)
      let received = try await code
      #expect(received == 1001)
    }
  }

  @Test("Replacements under load lose no request and close no connection")
  func replacementsUnderLoad() async throws {
    let tally = Tally()
    try await ServerFixture.serve(ScriptedHandler { _ in .text("0") }, loops: 2) { server in
      let port = server.port
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for number in 0..<4 {
          tasks.addTask {
            try await onOwnThread { Self.ask(port: port, tally, sendsContent: number % 2 == 0) }
          }
        }
        for version in 1...50 {
          let before = tally.answers
          #expect(await eventuallyHolds { tally.answers >= before + 20 }, "\(version)")
          #expect(await Self.replace(server, with: "\(version)") == 0)
        }
        tally.end()
        try await tasks.waitForAll()
      }
    }
    #expect(tally.faults == [])
  }

  /// Sends requests on one connection until the end, and expects handlers in their order.
  private static func ask(port: Int, _ tally: Tally, sendsContent: Bool) {
    do {
      let client = try RawClient(port: port)
      var newest = 0
      while !tally.isOver {
        let response =
          sendsContent
          ? try client.request("POST", "/", body: "content") : try client.request("GET", "/")
        let version = Int(response.text) ?? -1
        if response.status != 200 || version < newest {
          tally.noteFault("\(response.status) of \(version) after \(newest)")
        }
        newest = version
        tally.noteAnswer()
      }
    } catch {
      tally.noteFault("\(error)")
    }
  }

  /// What clients have seen.
  private final class Tally: Sendable {
    private let state = Mutex((answers: 0, isOver: false, faults: [String]()))

    var answers: Int { state.withLock { $0.answers } }
    var isOver: Bool { state.withLock { $0.isOver } }
    var faults: [String] { state.withLock { $0.faults } }

    func end() { state.withLock { $0.isOver = true } }
    func noteAnswer() { state.withLock { $0.answers += 1 } }
    func noteFault(_ text: String) { state.withLock { $0.faults.append(text) } }
  }
}

/// A router that counts the requests whose content it was asked about.
private final class NotingRouter: RequestHandler {
  private let router: Router
  private let asked = Atomic(0)

  init(_ router: Router) { self.router = router }

  var count: Int { asked.load(ordering: .relaxed) }

  func contentRoute(for head: borrowing RequestHead) -> ContentRoute {
    asked.add(1, ordering: .relaxed)
    return router.contentRoute(for: head)
  }

  func respond(to request: ServerRequest) async -> ServerResponse {
    await router.respond(to: request)
  }
}

/// A client that one thread after the other uses.
// SAFETY: the test waits for each use before the next one begins.
private final class SentClient: @unchecked Sendable {
  let value: RawClient

  init(_ value: RawClient) { self.value = value }
}
