import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Crashes {
  /// A full disk: a mutation that is not on disk is not acknowledged.
  struct QueueStorageTests {
    private struct Answer: Sendable {
      let key: String
      let status: Int
      let body: JSONValue
      let retryAfter: String?

      var id: String? { body["id"]?.string }
    }

    @Test(
      "On a full disk a mutation is refused and nothing of it is stored",
      .enabled(if: SmallDisk.isPermitted, "mounting a tmpfs is not permitted here"))
    func fullDiskRefusesMutations() async throws {
      let disk = try SmallDisk()
      let site = try await TroubledSite(data: "\(disk.path)/data")
      let port = site.larder.port
      let device = try await onOwnThread { try RawClient(port: port).registerDevice() }
      let headers = [
        ("Device-Token", device), ("Authorization", "Bearer user-ada"),
        ("Content-Type", "application/json"),
      ]
      @Sendable func enqueue(_ key: String) throws -> Answer {
        let answer = try RawClient(port: port).request(
          "POST", "/v1/mutations", headers: headers + [("Idempotency-Key", key)],
          body: #"""
            {"operation":"UpdateFilm","mode":"steady","variables":{"id":"f1",
            "patch":{"synopsis":"\#(String(repeating: "x", count: 20_000))"}}}
            """#)
        return Answer(
          key: key, status: answer.status, body: try JSONValue(parsing: answer.body),
          retryAfter: answer["retry-after"])
      }
      _ = try await onOwnThread {
        try RawClient(port: port).request("POST", "/v1/queue/pause", headers: headers)
      }
      try disk.fill()
      // The log can have room left; mutations accepted until that is used up must stay.
      let answers = try await onOwnThread {
        var answers: [Answer] = []
        for number in 0..<300 {
          answers.append(try enqueue("k\(number)"))
          if answers.count(where: { $0.status != 202 }) == 3 { break }
        }
        return answers
      }
      let refused = answers.filter { $0.status != 202 }
      #expect(refused.count == 3, "the disk is not full")
      for answer in refused {
        #expect(answer.status == 503, "\(answer.body)")
        #expect(answer.body["code"] == "storage_unavailable")
        #expect(answer.body["retry"] == "same-key")
        #expect(answer.retryAfter != nil)
      }
      try disk.free()
      let taken = answers.filter { $0.status == 202 }
      let isReady = await Moment.comes(withinSeconds: 10) {
        try await site.get("/readyz").status == 200
      }
      #expect(isReady)
      try await onOwnThread {
        let client = try RawClient(port: port)
        let queue = try client.request("GET", "/v1/queue", headers: headers)
        #expect(
          try JSONValue(parsing: queue.body)["pending"]?.number?.digits == "\(taken.count)")
        for answer in taken {
          let shown = try client.request(
            "GET", "/v1/mutations/\(answer.id ?? "")", headers: headers)
          #expect(try JSONValue(parsing: shown.body)["state"] == "queued", "\(shown.text)")
        }
        // The same key again is no replay: nothing was stored under it.
        let again = try enqueue(refused[0].key)
        #expect(again.status == 202, "\(again.body)")
      }
      await site.larder.kill()
      #expect(try StoredFiles(of: site.folder).faults() == [])
      await site.demo.stop()
    }
  }
}
