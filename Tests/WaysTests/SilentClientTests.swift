import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// A client that opens a stream and does not read from it.
  struct SilentClientTests {
    /// More than the kernel buffers for a connection.
    private static let synopsisBytes = 400_000
    private static let writes = 60

    @Test("A stream whose client reads nothing is cut off once too much waits for it")
    func slowStreamIsCutOff() async throws {
      let larder = try await RunningLarder.start(settings: "limits:\n  streamStall: 1s")
      _ = try await larder.get("/api/films/f1")
      let port = larder.port
      // Its head is read, and nothing after it.
      let silent = try await EventClient.open(port: port, "/v1/changes/stream?since=now")
      let reader = try await EventClient.open(port: port, "/v1/changes/stream?since=now")
      #expect(try await reader.nextEvent()?.event == "bookmark")
      var last = ""
      for number in 0..<Self.writes {
        last = "\(number) " + String(repeating: "x", count: Self.synopsisBytes)
        let answer = try await larder.post(
          "/v1/operations/UpdateFilm", #"{"id":"f1","patch":{"synopsis":"\#(last)"}}"#)
        #expect(answer.status == 200, "\(answer.text.prefix(200))")
        // A client that reads gets each event, whatever the other one does.
        #expect(try await reader.nextEvent()?.data.contains("\(number) xxx") == true)
      }
      // Data in flight still arrives; then the connection is cut without a proper end.
      var taken = 0
      var place: String?
      await #expect(throws: (any Error).self) {
        while let event = try await silent.next() {
          taken += event.data.utf8.count
          place = event.id ?? place
        }
      }
      #expect(taken < Self.writes * Self.synopsisBytes / 2)
      // The client returns with its last cursor and misses nothing.
      let page = try await larder.get("/v1/changes?since=\(try #require(place))")
      #expect(page.status == 200)
      #expect(page.text.contains(last.prefix(20)))
      await larder.stop()
    }
  }
}
