import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// The writes of the on-device toolkits.
  struct ToolkitWriteTests {
    static let types = """
      type AppUser @local { id: ID! name: String! age: Int }
      type Badge @local { id: ID! text: String }
      """

    static func start(_ settings: String = "") async throws -> SyncWorld {
      return try await SyncWorld.start(settings: settings, localTypes: types)
    }

    static func write(
      _ world: SyncWorld, _ method: String, _ target: String, _ body: String? = nil,
      _ headers: (String, String)...
    ) async throws -> RawResponse {
      try await world.larder.request(
        method, "/v1/entities\(target)",
        headers: [world.device, ("Content-Type", "application/json")] + headers, body: body)
    }

    static func user(_ world: SyncWorld, _ id: String) async throws -> JSONValue {
      try JSONValue(
        parsing: try await world.larder.get("/v1/entities/AppUser/\(id)", world.device).body)
    }

    static func count(_ world: SyncWorld, _ type: String = "AppUser") async throws -> String? {
      try await world.larder.request(
        "HEAD", "/v1/entities/\(type)", headers: [world.device])["total-count"]
    }

    @Test(
      "insertOrUpdate and updateOrInsert keep fields that are not named",
      arguments: ["insertOrUpdate", "updateOrInsert"])
    func writesMerge(op: String) async throws {
      let world = try await Self.start()
      for data in [#"{"name":"Ada","age":43}"#, #"{"name":"Ada L."}"#] {
        let written = try await Self.write(
          world, "POST", "", #"[{"op":"\#(op)","type":"AppUser","id":"1001","data":\#(data)}]"#)
        #expect(written.status == 200, "\(written.text)")
      }
      let merged = try await Self.user(world, "1001")
      #expect(merged["name"] == "Ada L." && merged["age"] == 43)
      await world.stop()
    }

    @Test("PUT replaces the whole entity")
    func putReplaces() async throws {
      let world = try await Self.start()
      let made = try await Self.write(
        world, "PUT", "/AppUser/1001", #"{"name":"Ada","age":43}"#)
      #expect(made.status == 201, "\(made.text)")
      let replaced = try await Self.write(world, "PUT", "/AppUser/1001", #"{"name":"Bea"}"#)
      #expect(replaced.status == 200)
      let user = try await Self.user(world, "1001")
      #expect(user["name"] == "Bea" && user["age"] == .null)
      let lacking = try await Self.write(world, "PUT", "/AppUser/1001", #"{"age":1}"#)
      #expect(lacking.status == 422)
      await world.stop()
    }

    @Test("All entities of a type are updated or deleted without a condition only with all=true")
    func writesAll() async throws {
      let world = try await Self.start()
      for number in 1...3 {
        _ = try await Self.write(world, "POST", "/AppUser", #"{"id":"u\#(number)","name":"A"}"#)
      }
      let updated = try await Self.write(world, "PATCH", "/AppUser?all=true", #"{"age":7}"#)
      #expect(updated.status == 200 && updated.text == #"{"matched":3}"#, "\(updated.text)")
      #expect(try await Self.user(world, "u2")["age"] == 7)
      for (query, body) in [
        ("", "{}"), ("?all=false", "{}"), ("?all=", "{}"), ("?all=true&all=true", "{}"),
        ("?all=true&filter=age%20%3D%207", "{}"), ("?all=true&arg=7", "{}"),
      ] {
        for method in ["PATCH", "DELETE"] {
          let refused = try await Self.write(world, method, "/AppUser\(query)", body)
          #expect(refused.status == 400, "\(method) \(query): \(refused.text)")
        }
      }
      #expect(try await Self.count(world) == "3")
      let listed = try await Self.write(
        world, "POST", "",
        #"[{"op":"update","type":"AppUser","all":true,"data":{"age":8}}]"#)
      #expect(listed.text == #"{"items":[{"matched":3}]}"#, "\(listed.text)")
      let wrong = try await Self.write(
        world, "POST", "", #"[{"op":"delete","type":"AppUser","all":false,"id":"u1"}]"#)
      #expect(wrong.status == 400)
      let deleted = try await Self.write(world, "DELETE", "/AppUser?all=true")
      #expect(deleted.text == #"{"matched":3}"#)
      #expect(try await Self.count(world) == "0")
      await world.stop()
    }

    @Test("A reset empties everything of the device, and nothing of another")
    func resetEmptiesTheDevice() async throws {
      let world = try await Self.start()
      let other = try await SyncWorld(world.larder)
      for device in [world, other] {
        _ = try await Self.write(device, "POST", "/AppUser", #"{"id":"u1","name":"A"}"#)
        _ = try await Self.write(device, "POST", "/Badge", #"{"id":"b1","text":"B"}"#)
      }
      _ = try await world.larder.get("/api/films/f1")
      _ = try await world.larder.request("POST", "/v1/queue/pause", headers: [world.device])
      let pending = try await world.enqueue(
        #"{"operation":"UpdateFilm","mode":"steady","variables":{"id":"f1","patch":{"title":"X"}},"#
          + #""optimistic":[{"op":"merge","type":"Film","id":"f1","fields":{"title":"X"}}]}"#,
        key: "k1")
      let shown = try await world.larder.get("/v1/entities/Film/f1", world.device)
      #expect(shown.text.contains(#""title":"X""#))
      let head = try JSONValue(
        parsing: try await world.larder.get("/v1/changes?since=now", world.device).body)
      let cursor = try #require(head["cursor"]?.string)
      let reset = try await world.larder.request(
        "POST", "/v1/devices/me/reset", headers: [world.device])
      #expect(reset.status == 204, "\(reset.text)")
      for type in ["AppUser", "Badge"] {
        #expect(try await Self.count(world, type) == "0")
        #expect(try await Self.count(other, type) == "1")
      }
      #expect(try await world.larder.get("/v1/mutations/\(pending)", world.device).status == 404)
      let reverted = try await world.larder.get("/v1/entities/Film/f1", world.device)
      #expect(!reverted.text.contains(#""title":"X""#) && !reverted.text.contains("_pending"))
      let queue = try JSONValue(
        parsing: try await world.larder.get("/v1/queue", world.device).body)
      #expect(queue["pending"] == 0 && queue["state"]?.string != "paused", "\(queue)")
      let delta = try JSONValue(
        parsing: try await world.larder.get("/v1/changes?since=\(cursor)", world.device).body)
      let changes = delta["changes"]?.array ?? []
      #expect(
        Set(changes.map { "\($0["op"]?.string ?? "") \($0["id"]?.string ?? "")" })
          == ["del u1", "del b1", "put f1"], "\(delta)")
      // The device itself stays, and so does its token.
      #expect(try await world.larder.get("/v1/devices/me", world.device).status == 200)
      let anonymous = try await world.larder.request("POST", "/v1/devices/me/reset")
      #expect(anonymous.status == 401)
      await world.stop()
    }
  }
}
