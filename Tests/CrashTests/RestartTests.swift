import DemoUpstream
import Foundation
import Glibc
import TestSupport
import Testing

extension Crashes {
  /// A successor that starts while its predecessor still serves accepted requests.
  struct RestartTests {
    private static let clients = 8

    @Test("A successor waits until its predecessor releases the data folder")
    func successorWaitsForTheDataFolder() async throws {
      let folder = try ServiceFolder(upstream: RefusedStartTests.nowhere)
      let first = try await LarderProcess.serve(folder)
      let second = try LarderProcess.spawnService(folder)
      let isWaiting = await Moment.comes(withinSeconds: 10) {
        second.errors.contains("waiting for the data folder")
      }
      #expect(isWaiting, "\(second.errors)")
      #expect(first.isRunning)
      #expect(try await first.terminate() == 0)
      try await second.becomeReady()
      let port = second.port
      #expect(
        try await onOwnThread { try RawClient(port: port).request("GET", "/readyz") }.status == 200)
      #expect(try await second.terminate() == 0)
    }

    @Test("The wait for the data folder has a time limit")
    func waitForTheDataFolderEnds() async throws {
      let folder = try ServiceFolder(
        upstream: RefusedStartTests.nowhere, settings: "start: {lockWait: 1s}")
      let first = try await LarderProcess.serve(folder)
      let began = ContinuousClock.now
      let second = try await LarderProcess.run("serve", in: folder)
      #expect(second.status == 73)
      #expect(ContinuousClock.now - began >= .seconds(1))
      #expect(second.errors.contains("waiting for the data folder"), "\(second.errors)")
      #expect(second.errors.contains("in use by another process"), "\(second.errors)")
      #expect(try await first.terminate() == 0)
    }

    /// Clients that retry only refused connections never see a fault: every accepted request gets its
    /// response from one of the two services.
    @Test("A restart under load loses no accepted request")
    func restartUnderLoadLosesNothing() async throws {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      try await demo.change { $0.latency = .milliseconds(30) }
      let port = try FreePort.find()
      let folder = try ServiceFolder(upstream: demo.url, listen: "127.0.0.1:\(port)")
      var current = try await LarderProcess.serve(folder)
      let tally = DrainTally()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<Self.clients {
          group.addTask {
            try await onOwnThread {
              let client = PersistentClient(port: port, number: number, tally: tally)
              while !tally.isOver { client.takeTurn() }
            }
          }
        }
        var seen = 0
        for _ in 0..<3 {
          let before = seen
          #expect(await Moment.comes(withinSeconds: 20) { tally.answered >= before + 200 })
          current.signal(SIGTERM)
          let next = try LarderProcess.spawnService(folder)
          try await next.becomeReady()
          #expect(try await current.status() == 0, "\(current.errors)")
          current = next
          seen = tally.answered
        }
        let before = seen
        #expect(await Moment.comes(withinSeconds: 20) { tally.answered >= before + 200 })
        tally.end()
        try await group.waitForAll()
      }
      #expect(tally.faults == [])
      #expect(try await current.terminate() == 0)
      #expect(try StoredFiles(of: folder).faults() == [])
      await demo.stop()
    }
  }
}
