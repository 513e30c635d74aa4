import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Local writes in the device's queue: one world of writes.
  struct QueuedWriteTests {
    private static let temporary = "~0190163d-8694-7999-8f5e-3f4a3b2c1d0e"

    private static func write(_ operations: String, mode: String = "steady") -> String {
      #"{"write":[\#(operations)],"mode":"\#(mode)"}"#
    }

    private static func insert(_ id: String, _ name: String = "Ada") -> String {
      #"{"op":"insert","type":"AppUser","id":"\#(id)","data":{"name":"\#(name)"}}"#
    }

    @Test("A row is inserted here, and then a mutation is sent upstream with its id")
    func bookingFollowsTheTrip() async throws {
      let world = try await ToolkitWriteTests.start()
      _ = try await world.larder.request("POST", "/v1/queue/pause", headers: [world.device])
      let submitted = try await world.submit(
        "[\(Self.write(Self.insert(Self.temporary))),\(SyncWorld.renaming("f1", Self.temporary))]",
        key: "k")
      #expect(submitted.status == 202, "\(submitted.body)")
      let ids = (submitted.body.array ?? []).compactMap { $0["id"]?.string }
      #expect(ids.count == 2)
      #expect(try await ToolkitWriteTests.count(world) == "0")
      // Held over a restart, whatever the operations are.
      await world.larder.stopService()
      try await world.larder.startService()
      _ = try await world.larder.request("POST", "/v1/queue/resume", headers: [world.device])
      let written = try await world.mutation(try #require(ids.first), is: "applied")
      #expect(written["operation"] == "$write")
      let row = try #require(written["response"]?["items"]?[0])
      let id = try #require(row["id"]?.string)
      #expect(id != Self.temporary && row["name"] == "Ada")
      let booked = try await world.mutation(try #require(ids.last), is: "applied")
      #expect(booked["response"]?["data"]?["updateFilm"]?["title"]?.string == id, "\(booked)")
      #expect(try await ToolkitWriteTests.count(world) == "1")
      #expect(try await ToolkitWriteTests.user(world, id)["name"] == "Ada")
      // The temporary id stands for the row from now on.
      let changed = try await world.enqueue(
        Self.write(
          #"{"op":"update","type":"AppUser","id":"\#(Self.temporary)","data":{"age":36}}"#),
        key: "k2")
      _ = try await world.mutation(changed, is: "applied")
      #expect(try await ToolkitWriteTests.user(world, id)["age"] == 36)
      await world.stop()
    }

    @Test("A rejected list says why, writes nothing, and takes along what mentions its rows")
    func rejectionIsReported() async throws {
      let world = try await ToolkitWriteTests.start()
      _ = try await ToolkitWriteTests.write(world, "POST", "/AppUser", #"{"id":"u1","name":"A"}"#)
      let list = "\(Self.insert(Self.temporary)),\(Self.insert("u1"))"
      let submitted = try await world.submit(
        "[\(Self.write(list)),\(SyncWorld.renaming("f1", Self.temporary))]", key: "k")
      let ids = (submitted.body.array ?? []).compactMap { $0["id"]?.string }
      let rejected = try await world.mutation(try #require(ids.first), is: "rejected")
      #expect(rejected["problem"]?["code"] == "entity_exists", "\(rejected)")
      _ = try await world.mutation(try #require(ids.last), is: "rejected")
      #expect(try await ToolkitWriteTests.count(world) == "1")
      await world.stop()
    }

    @Test("A forced list is applied at once, and its key replays the outcome")
    func forcedListIsAppliedAtOnce() async throws {
      let world = try await ToolkitWriteTests.start()
      _ = try await world.larder.request("POST", "/v1/queue/pause", headers: [world.device])
      let body = Self.write(Self.insert("u1"), mode: "force")
      for isReplay in [false, true] {
        let answer = try await world.submit(body, key: "k")
        #expect(answer.status == 200 && answer.isReplay == isReplay, "\(answer.body)")
        #expect(answer.body["state"] == "applied")
        #expect(answer.body["response"]?["items"]?[0]?["id"] == "u1", "\(answer.body)")
      }
      let refused = try await world.submit(body, key: "k2")
      #expect(refused.status == 409 && refused.code == "entity_exists", "\(refused.body)")
      let other = try await world.submit(Self.write(Self.insert("u2"), mode: "force"), key: "k")
      #expect(other.status == 422 && other.code == "idempotency_key_reused")
      #expect(try await ToolkitWriteTests.count(world) == "1")
      await world.stop()
    }

    @Test("A list without a mode is lazy")
    func listIsLazyByDefault() async throws {
      let world = try await ToolkitWriteTests.start()
      let answer = try await world.submit(#"{"write":[\#(Self.insert("u1"))]}"#, key: "k")
      #expect(answer.status == 202 && answer.body["mode"] == "lazy", "\(answer.body)")
      _ = try await world.mutation(try #require(answer.body["id"]?.string), is: "applied")
      #expect(try await ToolkitWriteTests.count(world) == "1")
      await world.stop()
    }

    @Test("A list is checked when it is enqueued, all faults at once")
    func refusesFaults() async throws {
      let world = try await ToolkitWriteTests.start()
      let faults: [(String, [String])] = [
        (#"{"write":{},"mode":"lazy"}"#, ["/write"]), (#"{"write":[],"mode":"lazy"}"#, ["/write"]),
        (#"{"write":[1],"mode":"lazy"}"#, ["/write/0"]),
        (
          #"{"write":[{"op":"insert","type":"Film","data":{}}],"mode":"lazy"}"#, ["/write/0/type"]
        ),
        (
          Self.write(#"{"op":"insert","type":"AppUser","data":{"age":"x","size":1}}"#),
          ["/write/0/data/age", "/write/0/data/size", "/write/0/data/name"]
        ),
        (
          #"[\#(Self.write(Self.insert("u1"))),\#(Self.write(#"{"op":"x","type":"AppUser"}"#))]"#,
          ["/1/write/0/op"]
        ),
        (
          #"{"write":[\#(Self.insert("u1"))],"mode":"lazy","operation":"RateFilm","variables":{},"#
            + #""object":"Film:f1","optimistic":[]}"#,
          ["/operation", "/variables", "/object", "/optimistic"]
        ),
      ]
      for (body, pointers) in faults {
        let answer = try await world.submit(body, key: "k")
        #expect(answer.status == 422 && answer.code == "invalid_mutation", "\(answer.body)")
        let named = answer.body["errors"]?.array?.compactMap { $0["pointer"]?.string } ?? []
        #expect(Set(named) == Set(pointers), "\(body): \(answer.body)")
      }
      #expect(try await ToolkitWriteTests.count(world) == "0")
      let plain = try await SyncWorld.start()
      let none = try await plain.submit(Self.write(Self.insert("u1")), key: "k")
      #expect(none.status == 422, "\(none.body)")
      await plain.stop()
      await world.stop()
    }
  }
}
