import DemoUpstream
import Foundation
import TestSupport
import Testing

extension Crashes {
  /// SIGTERM under load: what was accepted is answered, and the process ends with 0.
  struct DrainTests {
    static let connections = 12

    @Test(arguments: [SIGTERM, SIGINT])
    func requestsUnderWayAreAnswered(signal: Int32) async throws {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      try await demo.change { $0.latency = .milliseconds(700) }
      let folder = try ServiceFolder(upstream: demo.url)
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      let answers = try await withThrowingTaskGroup(of: RawResponse.self) { group in
        for number in 1...Self.connections {
          group.addTask {
            try await onOwnThread {
              try RawClient(port: port).request("GET", "/api/films/f\(number)")
            }
          }
        }
        let isUnderWay = await Moment.comes(withinSeconds: 10) {
          demo.report.inFlight == Self.connections
        }
        #expect(isUnderWay)
        larder.signal(signal)
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.count == Self.connections)
      #expect(answers.allSatisfy { $0.isStored }, "\(answers.map(\.status))")
      #expect(try await larder.status() == 0, "\(larder.errors)")
      #expect(throws: RawClient.Problem.self) { _ = try RawClient(port: port) }

      // What was answered while it ended is kept.
      try await demo.change { $0.fail = .refuse }
      let next = try await LarderProcess.serve(folder)
      let nextPort = next.port
      for number in 1...Self.connections {
        let answer = try await onOwnThread {
          try RawClient(port: nextPort).request("GET", "/api/films/f\(number)")
        }
        #expect(answer.cacheStatus.hasPrefix("larder; hit"))
      }
      #expect(try await next.terminate() == 0)
      await demo.stop()
    }

    /// Whoever shares out requests asks `/readyz`, and has `drain.delay` to hear that no more should
    /// come: until then all that do are served.
    @Test func itIsNotReadyWhileItStillServes() async throws {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      let folder = try ServiceFolder(upstream: demo.url, settings: "drain:\n  delay: 4s")
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      let ask: @Sendable (String) async throws -> Int = { target in
        try await onOwnThread { try RawClient(port: port).request("GET", target).status }
      }
      #expect(try await ask("/readyz") == 200)
      let began = ContinuousClock.now
      larder.signal(SIGTERM)
      #expect(await Moment.comes(withinSeconds: 3) { try await ask("/readyz") == 503 })
      for number in 1...5 {
        #expect(try await ask("/api/films/f\(number)") == 200)
        #expect(try await ask("/readyz") == 503)
      }
      #expect(try await larder.status() == 0, "\(larder.errors)")
      #expect(ContinuousClock.now - began >= .seconds(4))
      #expect(throws: RawClient.Problem.self) { _ = try RawClient(port: port) }
      await demo.stop()
    }

    /// Whoever starts the service may stop it as soon as it has said that it listens.
    @Test func aSignalRightAfterTheReadyLineDrainsToo() async throws {
      let folder = try ServiceFolder(upstream: RefusedStartTests.nowhere)
      for _ in 0..<5 {
        let larder = try await LarderProcess.serveUnasked(folder)
        #expect(try await larder.terminate() == 0)
      }
    }

    /// A busy connection has each request answered; the last answer says that it closes.
    @Test func underLoadEveryRequestIsAnswered() async throws {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      let folder = try ServiceFolder(upstream: demo.url)
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      let tally = DrainTally()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<Self.connections {
          group.addTask {
            try await onOwnThread { BusyConnection(port: port, number: number, tally: tally).run() }
          }
        }
        #expect(await Moment.comes(withinSeconds: 20) { tally.answered >= 300 })
        #expect(try await larder.terminate() == 0, "\(larder.errors)")
        try await group.waitForAll()
      }
      #expect(tally.faults == [])
      #expect(try StoredFiles(of: folder).faults() == [])
      await demo.stop()
    }

    /// An upstream that never answers does not keep the process from ending.
    @Test func theDeadlineEndsWhatDoesNotEnd() async throws {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      try await demo.change { $0.fail = .hang }
      let folder = try ServiceFolder(upstream: demo.url, settings: "drain:\n  deadline: 1s")
      let larder = try await LarderProcess.serve(folder)
      let port = larder.port
      async let answer = onOwnThread {
        try? RawClient(port: port).request("GET", "/api/films/f1")
      }
      #expect(await Moment.comes(withinSeconds: 10) { demo.report.inFlight == 1 })
      let began = ContinuousClock.now
      #expect(try await larder.terminate() == 0, "\(larder.errors)")
      #expect(ContinuousClock.now - began < .seconds(5))
      #expect(try await answer?.status != 200)
      await demo.stop()
    }
  }
}
