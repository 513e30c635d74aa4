import LosslessJSON
import Model
import TestSupport
import Testing
import VendorDouble

extension Ways {
  /// Hooks that are called about local fields of upstream's types.
  struct HookOutLocalFieldTests {
    private static func start(_ hooks: [String]) async throws -> LocalFieldTests.World {
      try await LocalFieldTests.start(
        settings: """
          hooks:
            outSecret: whsec_\(Base64.encode(HookOutWorld.key))
            out:
          \(hooks.map { "    - \($0)" }.joined(separator: "\n"))
          """)
    }

    private static func before(_ url: String) -> [String] {
      ["{on: Film update, when: before, url: \"\(url)/check\"}"]
    }

    /// Refuses a single star.
    private static func critic() async throws -> HookReceiver {
      try await HookReceiver { call in
        call.json["after"]?["stars"] == 1
          ? .init(400, ["detail": "no film is that bad"]) : .init(204)
      }
    }

    @Test("A write is shown to its hook with the local fields alone, once for each owner")
    func writesAreShown() async throws {
      let hook = try await Self.critic()
      let world = try await Self.start(Self.before(hook.url))
      try await world.write(
        #"{"favourite":true,"note":"again"}"#, world.mine, world.user.bearer)
      let calls = hook.calls
      #expect(calls.count == 2 && calls.allSatisfy { HookOutWorld.isSigned($0) })
      for call in calls {
        #expect(call.json["type"] == "Film" && call.json["id"] == "f1")
        #expect(call.json["op"] == "update" && call.path == "/check")
      }
      let device = try #require(calls.first { $0.json["owner"]?["device"] != nil }?.json)
      #expect(
        device["before"] == [
          "__typename": "Film", "id": "f1", "favourite": false, "stars": .null, "tags": .null,
        ], "\(device)")
      #expect(
        device["after"] == [
          "__typename": "Film", "id": "f1", "favourite": true, "stars": .null, "tags": .null,
        ], "\(device)")
      let user = try #require(calls.first { $0.json["owner"]?["user"] != nil }?.json)
      #expect(user["before"] == ["__typename": "Film", "id": "f1", "note": .null], "\(user)")
      #expect(user["after"] == ["__typename": "Film", "id": "f1", "note": "again"], "\(user)")
      #expect(user["owner"] == ["user": .string(world.user.user)], "\(user)")
      // What changes nothing, and upstream's own changes, are not shown.
      try await world.write(#"{"favourite":true}"#, world.mine)
      _ = try await world.larder.post(
        "/v1/operations/UpdateFilm", #"{"id":"f1","patch":{"title":"Renamed"}}"#)
      #expect(hook.calls.count == 2)
      await world.larder.stop()
      await hook.stop()
    }

    @Test("Every way to write is refused with the hook's reason, and nothing is written")
    func refusedWritesAreNotWritten() async throws {
      let hook = try await Self.critic()
      let world = try await Self.start(Self.before(hook.url))
      try await world.write(#"{"stars":3}"#, world.mine)
      for (method, target, body, pointers) in [
        ("PATCH", "/v1/entities/Film/f1", #"{"stars":1}"#, []),
        ("PATCH", "/v1/entities/Film?filter=stars%20%3D%203", #"{"stars":1}"#, []),
        (
          "POST", "/v1/entities",
          """
          [{"op":"update","type":"Film","id":"f2","data":{"stars":2}},
           {"op":"update","type":"Film","id":"f1","data":{"stars":1}}]
          """, ["/1/data"]
        ),
      ] as [(String, String, String, [String])] {
        let refused = try await world.ask(method, target, body, world.mine)
        #expect(refused.status == 422, "\(method) \(target): \(refused.text)")
        #expect(HookOutWorld.code(refused) == "refused_by_hook")
        #expect(HookOutWorld.detail(refused) == "no film is that bad")
        let errors = try JSONValue(parsing: refused.body)["errors"]?.array ?? []
        #expect(errors.map { $0["pointer"]?.string } == pointers, "\(refused.text)")
      }
      let queued = try await world.ask(
        "POST", "/v1/mutations",
        #"{"write":[{"op":"update","type":"Film","id":"f1","data":{"stars":1}}],"mode":"force"}"#,
        world.mine, ("Idempotency-Key", "k"))
      #expect(queued.status == 422 && HookOutWorld.code(queued) == "refused_by_hook")
      #expect(try await world.json("/v1/entities/Film/f1", world.mine)["stars"] == 3)
      #expect(try await world.json("/v1/entities/Film/f2", world.mine)["stars"] == .null)
      await world.larder.stop()
      await hook.stop()
    }

    @Test("Events about local fields outlive a restart, and arrive in the order of the writes")
    func eventsOutliveARestart() async throws {
      let first = try await HookReceiver()
      let port = first.port
      let world = try await Self.start([
        "{on: Film update, when: after, url: \"http://127.0.0.1:\(port)\", name: films}"
      ])
      await first.stop()
      for stars in 1...4 { try await world.write(#"{"stars":\#(stars)}"#, world.mine) }
      let many = try await world.ask(
        "PATCH", "/v1/entities/Film?filter=stars%20%3D%204", #"{"stars":5}"#, world.mine)
      #expect(many.text == #"{"matched":1}"#, "\(many.text)")
      let refused = try await world.ask(
        "PATCH", "/v1/entities/Film/f1", #"{"stars":9}"#, world.mine)
      #expect(refused.status == 422)
      await world.larder.stopService()
      try await world.larder.startService()
      let second = try await HookReceiver(port: port)
      var calls: [HookReceiver.Call] = []
      for _ in 0..<6 where calls.count < 5 {
        calls = try await eventually {
          second.calls
        } until: {
          $0.count >= 5
        }
      }
      #expect(calls.allSatisfy { HookOutWorld.isSigned($0) && $0.json["type"] == "Film" })
      #expect(calls.map { $0.json["after"]?["stars"] } == [1, 2, 3, 4, 5])
      #expect(calls.map { $0.json["before"]?["stars"] } == [.null, 1, 2, 3, 4])
      let summary = try await eventually {
        try await HookOutWorld.summary(world.larder, "films")
      } until: {
        $0["pending"] == 0
      }
      #expect(summary["pending"] == 0, "\(summary)")
      await world.larder.stop()
      await second.stop()
    }
  }
}
