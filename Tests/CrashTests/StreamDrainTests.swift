import DemoUpstream
import Foundation
import TestSupport
import Testing

extension Crashes {
  /// SIGTERM under live streams: they end properly, and the service does not wait for them.
  struct StreamDrainTests {
    @Test("Streams end properly when the service drains")
    func streamsEndAtDrain() async throws {
      let demo = DemoServer(DemoOptions(now: { Int64(Date().timeIntervalSince1970) }))
      try await demo.start()
      let folder = try ServiceFolder(upstream: demo.url)
      let larder = try await LarderProcess.serve(folder)
      let changes = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?since=now")
      #expect(try await changes.nextEvent()?.event == "bookmark")
      let live = try await EventClient.open(
        port: larder.port, "/v1/operations/Film/stream?id=f1")
      #expect(try await live.nextEvent() != nil)
      let began = ContinuousClock.now
      #expect(try await larder.terminate() == 0)
      #expect(ContinuousClock.now - began < .seconds(5))
      // Reads to the proper end of the response: a cut would throw.
      var told = 0
      while try await changes.nextEvent() != nil { told += 1 }
      #expect(told > 0)
      #expect(try await live.nextEvent() == nil)
      await demo.stop()
    }
  }
}
