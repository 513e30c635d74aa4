import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

/// Tokens that only read, and local writes under idempotency keys and in the queue.
extension Ways.DataFolderTests {
  @Test(
    "A token that only reads still reads, and writes nothing", arguments: foldersWithWriteKeys)
  func readTokensGoOn(name: String) async throws {
    let written = try await Self.start(name, upstreamIsUp: true)
    let (larder, device) = (written.larder, written.device)
    let display = ("Device-Token", try written.text("displayToken"))
    let shown = try Self.json(try await larder.get("/v1/devices/me", display))
    #expect(shown["access"] == "read" && shown["expiresAt"] == nil, "\(shown)")
    #expect(try await larder.get("/api/films/f1", display).status == 200)
    let reader = ("Device-Token", try written.text("readToken"))
    guard written.age < .seconds(365 * 86_400) else {
      #expect(try await larder.get("/v1/devices/me", reader).status == 401)
      return await larder.stop()
    }
    let row = try await larder.get("/v1/entities/Note/n1", reader)
    #expect(row.status == 200, "\(row.text)")
    #expect(row.text == (try written.text("note")))
    for (token, method, path) in [
      (reader, "DELETE", "/v1/entities/Note/n1"), (display, "POST", "/v1/devices/me/tokens"),
    ] {
      let refused = try await larder.request(method, path, headers: [token])
      #expect(refused.status == 403, "\(refused.text)")
      #expect(try Self.json(refused)["code"] == "read_only")
    }
    #expect(try await larder.get("/v1/entities/Note/n1", device).status == 200)
    let id = try written.text("readTokenId")
    let listed = try Self.json(try await larder.get("/v1/devices/me/tokens", device))
    #expect(listed["tokens"]?.array?.map { $0["id"]?.string } == [id], "\(listed)")
    let removed = try await larder.request(
      "DELETE", "/v1/devices/me/tokens/\(id)", headers: [device])
    #expect(removed.status == 204, "\(removed.text)")
    #expect(try await larder.get("/v1/devices/me", reader).status == 401)
    await larder.stop()
  }

  @Test(
    "A local write under a known key is replayed and changes nothing",
    arguments: foldersWithWriteKeys)
  func writeKeysGoOn(name: String) async throws {
    let written = try await Self.start(name, upstreamIsUp: false)
    let (larder, device) = (written.larder, written.device)
    func send(_ method: String, _ path: String, _ body: String?, _ key: String) async throws
      -> RawResponse
    {
      try await larder.request(
        method, "/v1/entities\(path)",
        headers: [
          device, ("Idempotency-Key", "\"\(key)\""), ("Content-Type", "application/json"),
        ], body: body)
    }
    let book = try await send("POST", "/Book", #"{"name":"Kept","id":"b2"}"#, "fixture-w1")
    // Keys are kept for 30 days.
    guard written.age < .seconds(29 * 86_400) || book["idempotency-replayed"] == "true" else {
      #expect(book.status == 409, "\(book.text)")
      return await larder.stop()
    }
    #expect(book.status == 201, "\(book.text)")
    #expect(book.text == (try written.text("keyedBook")))
    #expect(book["etag"] == (try written.text("keyedBookTag")))
    let list = try await send(
      "POST", "",
      #"[{"op":"insert","type":"Book","id":"b3","data":{"name":"Listed"}},"#
        + #"{"op":"delete","type":"Book","id":"b3"}]"#, "fixture-w2")
    #expect(list.status == 200, "\(list.text)")
    #expect(list.text == (try written.text("keyedList")))
    let deletion = try await send("DELETE", "/Book/b4", nil, "fixture-w3")
    #expect(deletion.status == 204, "\(deletion.text)")
    for replay in [book, list, deletion] { #expect(replay["idempotency-replayed"] == "true") }
    let other = try await send("POST", "/Book", #"{"name":"Other","id":"b2"}"#, "fixture-w1")
    #expect(other.status == 422, "\(other.text)")
    #expect(try Self.json(other)["code"] == "idempotency_key_reused")
    let present = try await larder.get("/v1/entities/Book/b2", device)
    #expect(try Self.json(present)["name"] == "Renamed", "\(present.text)")
    #expect(try await larder.get("/v1/entities/Book/b3", device).status == 404)
    #expect(try await larder.get("/v1/entities/Book/b4", device).status == 404)
    await larder.stop()
  }

  @Test(
    "A local write that waits in the queue is applied in its turn, once",
    arguments: foldersWithWriteKeys)
  func queuedWritesGoOn(name: String) async throws {
    let written = try await Self.start(name, upstreamIsUp: true)
    let (larder, device) = (written.larder, written.device)
    let id = try written.text("queuedWrite")
    let applied = try await eventually {
      try await larder.get("/v1/mutations/\(id)?wait=10", device)
    } until: {
      $0.text.contains("applied")
    }
    let outcome = try Self.json(applied)
    #expect(outcome["state"] == "applied" && outcome["operation"] == "$write", "\(outcome)")
    #expect(larder.demo.report["RateFilm"].executed == 1)
    let book = try await larder.get("/v1/entities/Book/b5", device)
    #expect(try Self.json(book)["name"] == "Queued", "\(book.text)")
    let again = try await larder.post(
      "/v1/mutations",
      #"{"write":[{"op":"insert","type":"Book","id":"b5","data":{"name":"Queued"}}],"#
        + #""mode":"steady"}"#, device, ("Idempotency-Key", "\"fixture-4\""))
    #expect(try Self.json(again)["id"]?.string == id, "\(again.text)")
    await larder.stop()
  }
}
