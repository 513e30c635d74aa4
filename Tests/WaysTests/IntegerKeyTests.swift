import LosslessJSON
import TestSupport
import Testing
import VendorDouble

extension Ways {
  /// Keys that upstream declares as `Int`: numbers in every read, also with a device's optimistic updates
  /// applied.
  struct IntegerKeyTests {
    private static let schema = """
      type Query { users: [User!]!  user(id: Int!): User }
      type Mutation { setUser(id: Int!, name: String!): User }
      type User { id: Int!  name: String  friend: User }
      """
    private static let operations = [
      "users": """
      query Users @cache(maxAge: 60, scope: PUBLIC) { users { id name } }
      mutation SetUser($id: Int!, $name: String!) @sync(object: "User:$id") {
        setUser(id: $id, name: $name) { id name }
      }
      """
    ]

    private static func start() async throws -> (ScriptedServer, SyncWorld) {
      let upstream = try await ScriptedServer { request in
        request.key.isEmpty
          ? ScriptedServer.Answer(
            200,
            #"{"data":{"users":[{"__typename":"User","id":1001,"name":"Ada"},"#
              + #"{"__typename":"User","id":1002,"name":"Eve"}]}}"#)
          : ScriptedServer.Answer(
            200, #"{"data":{"setUser":{"__typename":"User","id":1001,"name":"Mine"}}}"#)
      }
      let world = try await SyncWorld.start(
        operations: operations, schema: schema, upstream: upstream.url)
      return (upstream, world)
    }

    private static func body(_ id: String, _ fields: String) -> String {
      """
      {"operation":"SetUser","mode":"steady","variables":{"id":1001,"name":"Mine"},\
      "optimistic":[{"op":"merge","type":"User","id":"\(id)","fields":\(fields)}]}
      """
    }

    @Test(
      "An Int key stays a number while a change is pending",
      arguments: [
        #"{"name":"Mine"}"#, #"{"id":1001,"name":"Mine"}"#, #"{"id":"1001","name":"Mine"}"#,
      ])
    func integerKeyStaysANumber(fields: String) async throws {
      let (upstream, world) = try await Self.start()
      let larder = world.larder
      _ = try await larder.get("/v1/operations/Users", world.device)
      let cursor = try #require(
        try JSONValue(
          parsing: try await larder.get("/v1/changes?since=now&types=User", world.device).body)[
            "cursor"]?.string)
      let stream = try await EventClient.open(
        port: larder.port, "/v1/operations/Users/stream", headers: [world.device])
      _ = try await stream.nextEvent()
      try await world.pause()
      _ = try await world.enqueue(Self.body("1001", fields), key: "k")
      func json(_ target: String) async throws -> JSONValue {
        try JSONValue(parsing: try await larder.get(target, world.device).body)
      }
      let entity = try await json("/v1/entities/User/1001")
      #expect(entity["id"] == 1001)
      #expect(entity["name"] == "Mine")
      let found = try await json("/v1/entities/User?filter=id%20%3D%201001")["items"]?[0]
      #expect(found?["id"] == 1001)
      #expect(found?["name"] == "Mine")
      let change = try await json("/v1/changes?types=User&since=\(cursor)")["changes"]?[0]
      #expect(change?["data"]?["id"] == 1001)
      let shown = try await json("/v1/operations/Users")["data"]?["users"]?[0]
      #expect(shown?["id"] == 1001)
      #expect(shown?["name"] == "Mine")
      let event = try #require(try await stream.nextEvent())
      let told = try JSONValue(parsing: Array(event.data.utf8))["data"]?["users"]?[0]
      #expect(told?["id"] == 1001)
      #expect(told?["name"] == "Mine")
      await world.stop()
      await upstream.stop()
    }

    @Test("An id that is not an integer is refused for an Int key")
    func nonIntegerIDIsRefused() async throws {
      let (upstream, world) = try await Self.start()
      for (id, fields, pointer) in [
        ("abc", "{}", "/optimistic/0/id"), ("01001", "{}", "/optimistic/0/id"),
        ("1001", #"{"id":1002}"#, "/optimistic/0/fields/id"),
      ] {
        let answer = try await world.submit(Self.body(id, fields), key: "k-\(id)-\(fields.count)")
        #expect(answer.status == 422, "\(id): \(answer.body)")
        #expect(answer.body["errors"]?[0]?["pointer"]?.string == pointer, "\(answer.body)")
      }
      await world.stop()
      await upstream.stop()
    }
  }
}
