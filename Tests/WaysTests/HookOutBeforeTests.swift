import LosslessJSON
import TestSupport
import Testing
import VendorDouble

extension Ways {
  /// Hooks that are asked before writes to local types.
  struct HookOutBeforeTests {
    /// Refuses users without a capital letter.
    private static func guardian() async throws -> HookReceiver {
      try await HookReceiver { call in
        let name = call.json["after"]?["name"]?.string ?? "A"
        return name.first?.isUppercase == true
          ? .init(204) : .init(400, ["detail": .string("\(name) needs a capital letter")])
      }
    }

    private static func hooks(_ url: String, _ more: String = "") -> [String] {
      ["insert", "update", "delete"].map {
        "{on: AppUser \($0), when: before, url: \"\(url)/\($0)\"\(more)}"
      }
    }

    private static func user(_ id: String, _ name: String) -> String {
      #"{"id":"\#(id)","name":"\#(name)"}"#
    }

    @Test("A write is shown to its hook, signed, and written if the hook allows it")
    func allowedWritesAreWritten() async throws {
      let hook = try await Self.guardian()
      let world = try await HookOutWorld.start(Self.hooks(hook.url))
      let made = try await ToolkitWriteTests.write(
        world, "POST", "/AppUser", Self.user("u1", "Ada"))
      #expect(made.status == 201, "\(made.text)")
      let changed = try await ToolkitWriteTests.write(
        world, "PATCH", "/AppUser/u1", #"{"age":36}"#)
      #expect(changed.status == 200)
      let replaced = try await ToolkitWriteTests.write(
        world, "PUT", "/AppUser/u1", #"{"name":"Bea"}"#)
      #expect(replaced.status == 200)
      let deleted = try await ToolkitWriteTests.write(world, "DELETE", "/AppUser/u1")
      #expect(deleted.status == 204)
      // For a type without hooks no hook is asked.
      _ = try await ToolkitWriteTests.write(world, "POST", "/Badge", #"{"text":"x"}"#)
      let calls = hook.calls
      #expect(calls.map(\.path) == ["/insert", "/update", "/update", "/delete"])
      for call in calls {
        #expect(HookOutWorld.isSigned(call), "\(call)")
        #expect(call.json["type"] == "AppUser" && call.json["id"] == "u1")
        #expect(call.json["owner"] == ["device": .string(world.deviceID)])
      }
      #expect(calls[0].json["op"] == "insert" && calls[0].json["before"] == nil)
      #expect(calls[0].json["after"]?["name"] == "Ada")
      #expect(calls[1].json["before"]?["age"] == .null && calls[1].json["after"]?["age"] == 36)
      #expect(calls[2].json["after"]?["name"] == "Bea" && calls[2].json["after"]?["age"] == .null)
      #expect(calls[3].json["op"] == "delete" && calls[3].json["after"] == nil)
      #expect(Set(calls.map(\.id)).count == 4)
      let summary = try await HookOutWorld.summary(world.larder, "AppUser update before")
      #expect(summary["calls"]?["allowed"] == 2 && summary["origin"]?.string == hook.url)
      await world.stop()
      await hook.stop()
    }

    @Test("A refused write is 422 with the hook's reason, and nothing is written")
    func refusedWritesAreNotWritten() async throws {
      let hook = try await Self.guardian()
      let world = try await HookOutWorld.start(Self.hooks(hook.url))
      let made = try await ToolkitWriteTests.write(
        world, "POST", "/AppUser", Self.user("u1", "Ada"))
      #expect(made.status == 201)
      for (method, target, body) in [
        ("POST", "/AppUser", Self.user("u2", "bea")), ("PUT", "/AppUser/u1", #"{"name":"bea"}"#),
        ("PATCH", "/AppUser/u1", #"{"name":"bea"}"#),
        ("PATCH", "/AppUser?all=true", #"{"name":"bea"}"#),
      ] {
        let refused = try await ToolkitWriteTests.write(world, method, target, body)
        #expect(refused.status == 422, "\(method) \(target): \(refused.text)")
        #expect(HookOutWorld.code(refused) == "refused_by_hook")
        #expect(HookOutWorld.detail(refused) == "bea needs a capital letter")
      }
      #expect(try await ToolkitWriteTests.count(world) == "1")
      #expect(try await ToolkitWriteTests.user(world, "u1")["name"] == "Ada")
      // What is refused otherwise is not shown to hooks.
      let count = hook.calls.count
      let exists = try await ToolkitWriteTests.write(
        world, "POST", "/AppUser", Self.user("u1", "Cid"))
      #expect(exists.status == 409 && hook.calls.count == count)
      await world.stop()
      await hook.stop()
    }

    @Test(
      "A refusal counts however long its text is, and failures of earlier writes decide nothing")
    func refusalsCount() async throws {
      let hook = try await HookReceiver { call in
        switch call.json["after"]?["name"]?.string {
        case "long": .init(422, ["detail": .string(String(repeating: "z", count: 3 << 20))])
        case "lost": nil
        case "bad": .init(422, ["detail": "no"])
        default: .init(204)
        }
      }
      let world = try await HookOutWorld.start(Self.hooks(hook.url, ", onTimeout: allow"))
      func status(_ name: String) async throws -> Int {
        try await ToolkitWriteTests.write(world, "POST", "/AppUser", #"{"name":"\#(name)"}"#).status
      }
      #expect(try await status("long") == 422)
      // Far more than the failures in a row that let a client pause towards an upstream.
      for _ in 0..<12 { #expect(try await status("lost") == 201) }
      #expect(try await status("bad") == 422)
      await world.stop()
      await hook.stop()
    }

    @Test("One refusal refuses a whole list, and the response names every refused operation")
    func refusalNamesTheOperation() async throws {
      let hook = try await Self.guardian()
      let world = try await HookOutWorld.start(Self.hooks(hook.url))
      let list = ["Ada", "bea", "Cid", "dan"].enumerated().map { index, name in
        #"{"op":"insert","type":"AppUser","id":"u\#(index)","data":{"name":"\#(name)"}}"#
      }.joined(separator: ",")
      let refused = try await ToolkitWriteTests.write(world, "POST", "", "[\(list)]")
      #expect(refused.status == 422 && HookOutWorld.code(refused) == "refused_by_hook")
      let errors = try JSONValue(parsing: refused.body)["errors"]?.array ?? []
      #expect(errors.map { $0["pointer"] } == ["/1/data", "/3/data"], "\(refused.text)")
      #expect(errors.first?["detail"] == "bea needs a capital letter")
      #expect(hook.calls.count == 4)
      #expect(try await ToolkitWriteTests.count(world) == "0")
      await world.stop()
      await hook.stop()
    }

    @Test("A queued list is shown to hooks when it is applied, and rejected if one refuses")
    func queuedWritesAreShown() async throws {
      let hook = try await Self.guardian()
      let world = try await HookOutWorld.start(Self.hooks(hook.url))
      func write(_ name: String) -> String {
        let operation = #"{"op":"insert","type":"AppUser","data":{"name":"\#(name)"}}"#
        return #"{"write":[\#(operation)],"mode":"steady"}"#
      }
      let refused = try await world.enqueue(write("bea"), key: "k1")
      let allowed = try await world.enqueue(write("Ada"), key: "k2")
      let rejected = try await world.mutation(refused, is: "rejected")
      #expect(rejected["problem"]?["code"] == "refused_by_hook", "\(rejected)")
      #expect(rejected["problem"]?["detail"] == "bea needs a capital letter", "\(rejected)")
      let errors: JSONValue = [
        ["pointer": "/write/0/data", "detail": "bea needs a capital letter"]
      ]
      #expect(rejected["problem"]?["errors"] == errors, "\(rejected)")
      let forced = try await world.submit(
        #"{"write":[{"op":"insert","type":"AppUser","data":{"name":"dan"}}],"mode":"force"}"#,
        key: "k3")
      #expect(forced.status == 422 && forced.code == "refused_by_hook", "\(forced.body)")
      #expect(forced.body["detail"] == "dan needs a capital letter", "\(forced.body)")
      #expect(forced.body["errors"]?.array?.map { $0["pointer"] } == ["/write/0/data"])
      _ = try await world.mutation(allowed, is: "applied")
      #expect(try await ToolkitWriteTests.count(world) == "1")
      await world.stop()
      await hook.stop()
    }

    @Test(
      "A hook that does not decide refuses with 503 or allows, as settings say",
      arguments: [500, 302, 0], [true, false])
    func silenceDecides(status: Int, refuses: Bool) async throws {
      let hook = try await HookReceiver { _ in
        // A redirect to an address that would allow the write is not followed.
        status == 0 ? nil : .init(status, [:], location: status == 302 ? "/allowed" : nil)
      }
      let world = try await HookOutWorld.start(
        Self.hooks(hook.url, refuses ? "" : ", onTimeout: allow"))
      let made = try await ToolkitWriteTests.write(world, "POST", "/AppUser", Self.user("u1", "A"))
      if refuses {
        #expect(made.status == 503 && HookOutWorld.code(made) == "hook_unavailable", "\(made.text)")
        #expect(made["retry-after"] != nil)
      } else {
        #expect(made.status == 201, "\(made.text)")
      }
      #expect(hook.calls.map(\.path) == ["/insert"])
      #expect(try await ToolkitWriteTests.count(world) == (refuses ? "0" : "1"))
      await world.stop()
      await hook.stop()
    }

    @Test("A hook has its timeout to decide, and holds up no other write meanwhile")
    func timesOut() async throws {
      let silent = try await HangingServer()
      let world = try await HookOutWorld.start(
        Self.hooks("http://127.0.0.1:\(silent.port)", ", timeout: 600ms"))
      let (port, device) = (world.larder.port, world.device)
      async let waiting = onOwnThread {
        try RawClient(port: port).request(
          "POST", "/v1/entities/AppUser", headers: [device, ("Content-Type", "application/json")],
          body: Self.user("u1", "Ada"))
      }
      // Read and written while the hook is asked.
      let other = try await ToolkitWriteTests.write(world, "POST", "/Badge", #"{"text":"x"}"#)
      #expect(other.status == 201)
      let refused = try await waiting
      #expect(refused.status == 503 && HookOutWorld.code(refused) == "hook_unavailable")
      await world.stop()
      await silent.stop()
    }
  }
}
