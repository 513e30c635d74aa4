import DemoUpstream
import Foundation
import Glibc
import TestSupport
import Testing

extension Crashes {
  /// Live streams when one service follows another at the same address.
  struct StreamRestartTests {
    private static let restarts = 3
    private static let followers = 3

    /// Each film that was read is an event of one of the two services, once.
    @Test("Streams continue at the successor without a gap or a repetition")
    func streamsContinueAtTheSuccessor() async throws {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      let port = try FreePort.find()
      let folder = try ServiceFolder(upstream: demo.url, listen: "127.0.0.1:\(port)")
      var current = try await LarderProcess.serve(folder)
      let followers = (0..<Self.followers).map { _ in StreamFollower() }
      let reading = ReadingClient()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for follower in followers { group.addTask { await follower.run(port: port) } }
        #expect(await Moment.comes(withinSeconds: 20) { followers.allSatisfy(\.isFollowing) })
        group.addTask { try await onOwnThread { reading.run(port: port) } }
        for _ in 0..<Self.restarts {
          let before = reading.films.count
          #expect(await Moment.comes(withinSeconds: 20) { reading.films.count >= before + 20 })
          current.signal(SIGTERM)
          let next = try LarderProcess.spawnService(folder)
          try await next.becomeReady()
          #expect(try await current.status() == 0, "\(current.errors)")
          current = next
        }
        let before = reading.films.count
        #expect(await Moment.comes(withinSeconds: 20) { reading.films.count >= before + 20 })
        reading.end()
        let areTold = await Moment.comes(withinSeconds: 20) {
          followers.allSatisfy { $0.films.isSuperset(of: reading.films) }
        }
        #expect(areTold)
        for follower in followers { follower.end() }
        #expect(try await current.terminate() == 0)
        try await group.waitForAll()
      }
      #expect(reading.faults == [])
      for follower in followers {
        #expect(follower.faults == [])
        #expect(follower.resumptions >= Self.restarts)
      }
      await demo.stop()
    }
  }
}
