import DemoUpstream
import Foundation
import TestSupport
import Testing

extension Crashes {
  /// SIGTERM under load: accepted requests get their responses, and the process ends with 0.
  struct DrainTests {
    static let connections = 12

    @Test("Requests in progress complete before the process ends", arguments: [SIGTERM, SIGINT])
    func runningRequestsComplete(signal: Int32) async throws {
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

      // A response sent during the drain was stored.
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

    /// A load balancer polls `/readyz`, and has `drain.delay` to notice that no more requests should come:
    /// until then all of them are served.
    @Test("During drain.delay the service is not ready but serves requests")
    func readinessFailsDuringTheDrainDelay() async throws {
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

    /// A supervisor can stop the service as soon as it has printed that it listens.
    @Test("A signal right after the ready line drains the service")
    func signalRightAfterReadyDrains() async throws {
      let folder = try ServiceFolder(upstream: RefusedStartTests.nowhere)
      for _ in 0..<5 {
        let larder = try await LarderProcess.serveUnasked(folder)
        #expect(try await larder.terminate() == 0)
      }
    }

    /// A busy connection gets each response; the last one says that the connection closes.
    @Test("Every request under load is served during the drain")
    func everyRequestUnderLoadIsServed() async throws {
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

    @Test("The drain deadline ends a process whose upstream does not respond")
    func drainDeadlineEndsTheProcess() async throws {
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
