import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// A client that opens a stream and takes nothing from it.
  struct SilentClientTests {
    /// More than the kernel keeps for a connection on its own.
    private static let synopsisBytes = 400_000
    private static let writes = 60

    @Test func isCutOffOnceTooMuchWaitsForIt() async throws {
      let larder = try await RunningLarder.start(settings: "limits:\n  streamStall: 1s")
      _ = try await larder.get("/api/films/f1")
      let port = larder.port
      // Its head is read, and nothing behind it.
      let silent = try await EventClient.open(port: port, "/v1/changes/stream?since=now")
      let reader = try await EventClient.open(port: port, "/v1/changes/stream?since=now")
      #expect(try await reader.nextEvent()?.event == "bookmark")
      var last = ""
      for number in 0..<Self.writes {
        last = "\(number) " + String(repeating: "x", count: Self.synopsisBytes)
        let answer = try await larder.post(
          "/v1/operations/UpdateFilm", #"{"id":"f1","patch":{"synopsis":"\#(last)"}}"#)
        #expect(answer.status == 200, "\(answer.text.prefix(200))")
        // Whoever reads is told, whatever the other one does.
        #expect(try await reader.nextEvent()?.data.contains("\(number) xxx") == true)
      }
      // What was on its way still comes; then the connection is cut, as no proper end is.
      var taken = 0
      var place: String?
      await #expect(throws: (any Error).self) {
        while let event = try await silent.next() {
          taken += event.data.utf8.count
          place = event.id ?? place
        }
      }
      #expect(taken < Self.writes * Self.synopsisBytes / 2)
      // It comes back with its last place and misses nothing.
      let page = try await larder.get("/v1/changes?since=\(try #require(place))")
      #expect(page.status == 200)
      #expect(page.text.contains(last.prefix(20)))
      await larder.stop()
    }
  }
}
