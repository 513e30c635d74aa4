import LosslessJSON
import TestSupport
import Testing
import VendorDouble

extension Ways {
  /// Hooks that are called after writes to local types and outcomes of mutations.
  struct HookOutAfterTests {
    private static func hooks(_ url: String) -> [String] {
      ["insert", "update", "delete"].map {
        "{on: AppUser \($0), when: after, url: \"\(url)/\($0)\", name: users-\($0)}"
      } + [
        "{on: mutation RateFilm applied, when: after, url: \"\(url)/rated\"}",
        "{on: mutation UpdateFilm rejected, when: after, url: \"\(url)/rejected\"}",
      ]
    }

    private static func calls(
      _ hook: HookReceiver, _ count: Int, patience: Int = 1
    ) async throws -> [HookReceiver.Call] {
      var calls: [HookReceiver.Call] = []
      for _ in 0..<patience where calls.count < count {
        calls = try await eventually {
          hook.calls
        } until: {
          $0.count >= count
        }
      }
      #expect(calls.count == count, "\(calls.map(\.json))")
      return calls
    }

    @Test("Every way to write is reported once, signed, with the states before and after")
    func writesAreReported() async throws {
      let hook = try await HookReceiver()
      let world = try await HookOutWorld.start(Self.hooks(hook.url))
      var expected = 0
      for (method, target, body, op) in [
        ("POST", "/AppUser", #"{"id":"u1","name":"Ada"}"#, "insert"),
        ("PATCH", "/AppUser/u1", #"{"age":36}"#, "update"),
        ("PUT", "/AppUser/u1", #"{"name":"Bea"}"#, "update"),
        ("PATCH", "/AppUser?all=true", #"{"age":1}"#, "update"),
        (
          "POST", "", #"[{"op":"update","type":"AppUser","id":"u1","data":{"age":2}}]"#, "update"
        ),
        ("DELETE", "/AppUser/u1", nil, "delete"),
      ] as [(String, String, String?, String)] {
        let written = try await ToolkitWriteTests.write(world, method, target, body)
        #expect((200...299).contains(written.status), "\(written.text)")
        expected += 1
        // Events of different hooks have no order, so each is awaited.
        let call = try #require(try await Self.calls(hook, expected).last)
        #expect(call.path == "/\(op)" && call.json["op"]?.string == op)
        #expect(HookOutWorld.isSigned(call))
      }
      let insert = #"{"op":"insert","type":"AppUser","data":{"name":"Q"}}"#
      let list = #"{"write":[\#(insert)],"mode":"steady"}"#
      let queued = try await world.enqueue(list, key: "k")
      _ = try await world.mutation(queued, is: "applied")
      let calls = try await Self.calls(hook, expected + 1)
      #expect(calls.last?.json["after"]?["name"] == "Q")
      #expect(calls[3].json["before"]?["age"] == .null && calls[3].json["after"]?["age"] == 1)
      #expect(Set(calls.map(\.id)).count == calls.count)
      let summary = try await eventually {
        try await HookOutWorld.summary(world.larder, "users-update")
      } until: {
        $0["pending"] == 0
      }
      #expect(summary["calls"]?["delivered"] == 4 && summary["pending"] == 0, "\(summary)")
      await world.stop()
      await hook.stop()
    }

    @Test("Outcomes of queued and of direct mutations are reported")
    func outcomesAreReported() async throws {
      let hook = try await HookReceiver()
      let world = try await HookOutWorld.start(Self.hooks(hook.url))
      let id = try await world.enqueue(SyncWorld.rating("f1"), key: "k")
      _ = try await world.mutation(id, is: "applied")
      let queued = try #require(try await Self.calls(hook, 1).first)
      #expect(queued.path == "/rated" && HookOutWorld.isSigned(queued))
      #expect(queued.json["type"] == "mutation" && queued.json["op"] == "applied")
      #expect(queued.json["id"]?.string == id && queued.json["operation"] == "RateFilm")
      #expect(queued.json["owner"]?["device"]?.string == world.deviceID)
      #expect(queued.json["result"]?["data"]?.members?.isEmpty == false, "\(queued.json)")
      let unknown = try await world.enqueue(SyncWorld.renaming("no-such-film"), key: "k2")
      _ = try await world.mutation(unknown, is: "rejected")
      let rejected = try #require(try await Self.calls(hook, 2).last)
      #expect(rejected.path == "/rejected" && rejected.json["id"]?.string == unknown)
      #expect(rejected.json["result"]?["code"] != nil, "\(rejected.json)")
      for (target, body, path) in [
        ("/v1/operations/RateFilm", #"{"id":"f2","stars":4}"#, "/rated"),
        (
          "/v1/operations/UpdateFilm", #"{"id":"no-such-film","patch":{"title":"x"}}"#,
          "/rejected"
        ),
      ] {
        let count = hook.calls.count
        _ = try await world.larder.post(target, body, SyncWorld.ada)
        let direct = try #require(try await Self.calls(hook, count + 1).last)
        #expect(direct.path == path && HookOutWorld.isSigned(direct))
        #expect(direct.json["id"]?.string?.isEmpty == false)
        #expect(direct.json["owner"]?["device"] == nil, "\(direct.json)")
      }
      await world.stop()
      await hook.stop()
    }

    @Test("A hook that is down gets every event once it is up, in the order of each entity")
    func outageDelaysEvents() async throws {
      let first = try await HookReceiver()
      let port = first.port
      let world = try await HookOutWorld.start([
        "{on: AppUser update, when: after, url: \"http://127.0.0.1:\(port)\", name: users}"
      ])
      await first.stop()
      for id in ["u1", "u2"] {
        let made = try await ToolkitWriteTests.write(
          world, "POST", "/AppUser", #"{"id":"\#(id)","name":"Ada"}"#)
        #expect(made.status == 201)
      }
      for age in 1...5 {
        for id in ["u1", "u2"] {
          let changed = try await ToolkitWriteTests.write(
            world, "PATCH", "/AppUser/\(id)", #"{"age":\#(age)}"#)
          #expect(changed.status == 200)
        }
      }
      let down = try await eventually {
        try await HookOutWorld.summary(world.larder, "users")
      } until: {
        $0["lastFault"] != nil
      }
      #expect(down["pending"] == 10 && down["calls"]?["delivered"] == 0, "\(down)")
      let fault = down["lastFault"]?["reason"]?.string ?? ""
      #expect(!fault.contains("circuit breaker"), "\(down)")
      let second = try await HookReceiver(port: port)
      let calls = try await Self.calls(second, 10, patience: 6)
      for id in ["u1", "u2"] {
        let ages = calls.filter { $0.json["id"]?.string == id }.map { $0.json["after"]?["age"] }
        #expect(ages == [1, 2, 3, 4, 5], "\(ages)")
      }
      await world.stop()
      await second.stop()
    }

    @Test("Events of a hook that settings no longer name are listed, and logged at the start")
    func removedHooksAreNamed() async throws {
      let gone = try await HookReceiver()
      let url = "http://127.0.0.1:\(gone.port)"
      let world = try await HookOutWorld.start([
        "{on: AppUser insert, when: after, url: \"\(url)\", name: former}"
      ])
      await gone.stop()
      let made = try await ToolkitWriteTests.write(
        world, "POST", "/AppUser", #"{"id":"u1","name":"Ada"}"#)
      #expect(made.status == 201)
      await world.larder.stopService()
      world.larder.extraSettings = world.larder.extraSettings
        .replacing("name: former", with: "name: present")
      try await world.larder.startService()
      let removed = try await HookOutWorld.summary(world.larder, "former")
      #expect(removed["removed"] == true && removed["pending"] == 1, "\(removed)")
      let present = try await HookOutWorld.summary(world.larder, "present")
      #expect(present["removed"] == nil && present["pending"] == 0, "\(present)")
      let lines = world.larder.log.lines.map(\.text)
        .filter { $0.contains("events wait for a hook") }
      #expect(lines.count == 1 && lines.first?.contains("former") == true, "\(lines)")
      await world.stop()
    }

    @Test("A hook that fails for one entity is called for the others")
    func failureHoldsUpOneEntity() async throws {
      let hook = try await HookReceiver { call in
        call.json["id"] == "bad" ? .init(500) : .init(204)
      }
      let world = try await HookOutWorld.start(Self.hooks(hook.url))
      for id in ["bad", "u1", "u2", "u3"] {
        _ = try await ToolkitWriteTests.write(
          world, "POST", "/AppUser", #"{"id":"\#(id)","name":"Ada"}"#)
      }
      let ids = try await eventually {
        Set(hook.calls.compactMap { $0.json["id"]?.string })
      } until: {
        $0.count == 4
      }
      #expect(ids == ["bad", "u1", "u2", "u3"])
      let summary = try await eventually {
        try await HookOutWorld.summary(world.larder, "users-insert")
      } until: {
        $0["pending"] == 1
      }
      #expect(summary["pending"] == 1 && summary["calls"]?["delivered"] == 3, "\(summary)")
      await world.stop()
      await hook.stop()
    }
  }
}
