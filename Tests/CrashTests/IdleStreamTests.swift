import DemoUpstream
import Foundation
import TestSupport
import Testing

extension Crashes {
  /// Live streams that cost nothing while nothing changes.
  struct IdleStreamTests {
    private static let streams = 1_000
    /// The wake-ups of all threads in one interval. A poll of any period would wake at least once per stream.
    private static let wakeUpsMax = 100

    @Test("A thousand idle streams wake no thread")
    func idleStreamsWakeNoThread() async throws {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      let folder = try ServiceFolder(upstream: demo.url)
      let larder = try await LarderProcess.serve(folder)
      var open: [EventClient] = []
      for _ in 0..<Self.streams {
        let events = try await EventClient.open(
          port: larder.port, "/v1/changes/stream?since=now")
        #expect(try await events.nextEvent()?.event == "bookmark")
        open.append(events)
      }
      // Heartbeats fall into one of three intervals at most.
      var fewest = Int.max
      for _ in 0..<3 {
        let before = try larder.wakeUps()
        await Moment.passes(.seconds(2))
        fewest = min(fewest, try larder.wakeUps() - before)
      }
      #expect(fewest <= Self.wakeUpsMax)
      #expect(open.count == Self.streams)
      await larder.kill()
      await demo.stop()
    }
  }
}
