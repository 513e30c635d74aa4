import Glibc
import HTTPServer
import Synchronization
import TestSupport
import Testing
import Transport

/// One server after the other on the same address, under load.
struct HandOverTests {
  private static let rounds = 12
  private static let clients = 6

  /// What clients have seen. Guarded by one lock: all write to it.
  private final class Tally: Sendable {
    private let state = Mutex((answers: 0, isOver: false, faults: [String]()))

    var answers: Int { state.withLock { $0.answers } }
    var isOver: Bool { state.withLock { $0.isOver } }
    var faults: [String] { state.withLock { $0.faults } }

    func end() { state.withLock { $0.isOver = true } }
    func noteAnswer() { state.withLock { $0.answers += 1 } }
    func noteFault(_ text: String) { state.withLock { $0.faults.append(text) } }
  }

  /// A connection for each request, so that some are in every state when listening ends: begun,
  /// queued, accepted. Being refused is no fault; anything else than an answer is, once connected.
  private static func ask(port: Int, _ tally: Tally) {
    while !tally.isOver {
      do {
        let client = try RawClient(port: port)
        let answer = try client.request("GET", "/")
        if answer.text == "x" { tally.noteAnswer() } else { tally.noteFault("\(answer.status)") }
      } catch RawClient.Problem.connect(ECONNREFUSED) {
        sched_yield()
      } catch {
        tally.noteFault("connected, and then: \(error)")
      }
    }
  }

  private static func serve(
    _ group: EventLoopGroup, port: UInt16
  ) async throws -> (HTTPService, UInt16) {
    var drain = HTTPServerConfiguration.Drain()
    drain.handshakes = .milliseconds(50)
    var limits = ServerLimits()
    limits.drainIdleDeadline = .milliseconds(500)
    let configuration = HTTPServerConfiguration(
      listeners: [.init(.host("127.0.0.1", port: port))], limits: limits, drain: drain,
      makeSeed: { 42 })
    let service = HTTPService(
      configuration: configuration, group: group, handler: ScriptedHandler { _ in .text("x") })
    return (service, try await service.listen()[0].port ?? 0)
  }

  @Test("No established connection is lost when a server replaces another")
  func noEstablishedConnectionIsLost() async throws {
    let group = try EventLoopGroup(count: 2)
    let tally = Tally()
    var (service, port) = try await Self.serve(group, port: 0)
    let address = port
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for _ in 0..<Self.clients {
        tasks.addTask { try await onOwnThread { Self.ask(port: Int(address), tally) } }
      }
      for _ in 0..<Self.rounds {
        let before = tally.answers
        #expect(await eventuallyHolds { tally.answers >= before + 50 })
        await service.drain()
        (service, port) = try await Self.serve(group, port: address)
      }
      tally.end()
      try await tasks.waitForAll()
    }
    await service.drain()
    await group.shutdown()
    #expect(tally.faults == [])
  }
}
