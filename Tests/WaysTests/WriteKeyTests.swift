import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Idempotency keys of writes to local types (the mission table's second awkward point).
  struct WriteKeyTests {
    private static func key(_ text: String) -> (String, String) { ("Idempotency-Key", text) }

    private static func code(_ answer: RawResponse) -> String? {
      (try? JSONValue(parsing: answer.body))?["code"]?.string
    }

    private static func isReplay(_ answer: RawResponse) -> Bool {
      answer["idempotency-replayed"] == "true"
    }

    @Test("A repeated insert gets the first response, after a restart too, and adds nothing")
    func repeatedInsertIsReplayed() async throws {
      let world = try await ToolkitWriteTests.start()
      let body = #"{"name":"Ada","age":36}"#
      let first = try await ToolkitWriteTests.write(
        world, "POST", "/AppUser", body, Self.key("k1"))
      #expect(first.status == 201 && !Self.isReplay(first), "\(first.text)")
      let id = try #require(try JSONValue(parsing: first.body)["id"]?.string)
      // Neither another order of members nor a later change of the row makes a difference.
      let patched = try await ToolkitWriteTests.write(
        world, "PATCH", "/AppUser/\(id)", #"{"age":37}"#)
      #expect(patched.status == 200)
      for isRestarted in [false, true] {
        if isRestarted {
          await world.larder.stopService()
          try await world.larder.startService()
        }
        let again = try await ToolkitWriteTests.write(
          world, "POST", "/AppUser", #"{"age": 36, "name": "Ada"}"#, Self.key("\"k1\""))
        #expect(again.status == 201 && Self.isReplay(again), "\(again.text)")
        #expect(again.text == first.text)
        #expect(again["etag"] == first["etag"] && again["location"] == first["location"])
      }
      #expect(try await ToolkitWriteTests.count(world) == "1")
      #expect(try await ToolkitWriteTests.user(world, id)["age"] == 37)
      await world.stop()
    }

    @Test("A key is refused for any other request, and only for its own device")
    func keyBelongsToOneRequest() async throws {
      let world = try await ToolkitWriteTests.start()
      let made = try await ToolkitWriteTests.write(
        world, "POST", "/AppUser", #"{"id":"u1","name":"Ada"}"#, Self.key("k"))
      #expect(made.status == 201)
      for (method, target, body) in [
        ("POST", "/AppUser", #"{"id":"u1","name":"Bea"}"#),
        ("POST", "/Badge", #"{"id":"u1"}"#), ("PUT", "/AppUser/u1", #"{"name":"Ada"}"#),
        ("DELETE", "/AppUser/u1", nil), ("DELETE", "/AppUser?all=true", nil),
        ("POST", "", #"[{"op":"insert","type":"AppUser","data":{"name":"Ada"}}]"#),
      ] as [(String, String, String?)] {
        let refused = try await ToolkitWriteTests.write(
          world, method, target, body, Self.key("k"))
        #expect(refused.status == 422, "\(method) \(target): \(refused.text)")
        #expect(Self.code(refused) == "idempotency_key_reused", "\(refused.text)")
      }
      for text in ["", "a b", String(repeating: "k", count: 256), "\"k"] {
        let refused = try await ToolkitWriteTests.write(
          world, "POST", "/AppUser", #"{"name":"Ada"}"#, Self.key(text))
        #expect(refused.status == 400, "\(text): \(refused.text)")
      }
      let nothing = try await world.larder.request(
        "POST", "/v1/entities",
        headers: [Self.key("k"), ("Content-Type", "application/json")], body: "[]")
      #expect(nothing.status == 200, "\(nothing.text)")
      let other = try await SyncWorld(world.larder)
      let own = try await ToolkitWriteTests.write(
        other, "POST", "/AppUser", #"{"id":"u1","name":"Bea"}"#, Self.key("k"))
      #expect(own.status == 201 && !Self.isReplay(own))
      // A refused write leaves its key unused.
      let refused = try await ToolkitWriteTests.write(
        world, "POST", "/AppUser", #"{"id":"u1","name":"Cid"}"#, Self.key("k2"))
      #expect(refused.status == 409)
      let gone = try await ToolkitWriteTests.write(world, "DELETE", "/AppUser/u1")
      #expect(gone.status == 204)
      let made2 = try await ToolkitWriteTests.write(
        world, "POST", "/AppUser", #"{"id":"u1","name":"Cid"}"#, Self.key("k2"))
      #expect(made2.status == 201 && !Self.isReplay(made2))
      await world.stop()
    }

    @Test("Every kind of write is replayed with its own response")
    func everyKindIsReplayed() async throws {
      let world = try await ToolkitWriteTests.start()
      let steps: [(String, String, String?, Int, String)] = [
        (
          "POST", "",
          """
          [{"op":"insert","type":"AppUser","id":"u1","data":{"name":"Ada"}},
           {"op":"insert","type":"AppUser","id":"u2","data":{"name":"Bea"}},
           {"op":"delete","type":"AppUser","id":"u2"},
           {"op":"update","type":"AppUser","all":true,"data":{"age":1}}]
          """, 200, #""matched":1"#
        ),
        ("PUT", "/AppUser/u3", #"{"name":"Cid"}"#, 201, #""name":"Cid""#),
        ("PATCH", "/AppUser/u3", #"{"age":9}"#, 200, #""age":9"#),
        ("PATCH", "/AppUser?filter=age%20%3D%209", #"{"age":10}"#, 200, #"{"matched":1}"#),
        ("DELETE", "/AppUser/u3", nil, 204, ""),
      ]
      for (number, step) in steps.enumerated() {
        let first = try await ToolkitWriteTests.write(
          world, step.0, step.1, step.2, Self.key("k\(number)"))
        #expect(first.status == step.3 && !Self.isReplay(first), "\(step.0) \(step.1): \(first)")
        #expect(step.4.isEmpty || first.text.contains(step.4), "\(first.text)")
        let again = try await ToolkitWriteTests.write(
          world, step.0, step.1, step.2, Self.key("k\(number)"))
        #expect(again.status == first.status && again.text == first.text, "\(again.text)")
        #expect(Self.isReplay(again))
      }
      #expect(try await ToolkitWriteTests.count(world) == "1")
      await world.stop()
    }

    @Test("Concurrent requests with one key write once")
    func concurrentRequestsWriteOnce() async throws {
      let world = try await ToolkitWriteTests.start()
      let (port, device) = (world.larder.port, world.device)
      let ids = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<8 {
          group.addTask {
            let answer = try await onOwnThread {
              try RawClient(port: port).request(
                "POST", "/v1/entities/AppUser",
                headers: [device, Self.key("k"), ("Content-Type", "application/json")],
                body: #"{"name":"Ada"}"#)
            }
            #expect(answer.status == 201, "\(answer.text)")
            return try JSONValue(parsing: answer.body)["id"]?.string ?? ""
          }
        }
        var ids: Set<String> = []
        for try await id in group { ids.insert(id) }
        return ids
      }
      #expect(ids.count == 1)
      #expect(try await ToolkitWriteTests.count(world) == "1")
      // A reset forgets the keys with everything else.
      _ = try await world.larder.request("POST", "/v1/devices/me/reset", headers: [world.device])
      let fresh = try await ToolkitWriteTests.write(
        world, "POST", "/AppUser", #"{"name":"Ada"}"#, Self.key("k"))
      #expect(fresh.status == 201 && !Self.isReplay(fresh))
      await world.stop()
    }
  }
}
