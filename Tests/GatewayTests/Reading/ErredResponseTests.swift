import LosslessJSON
import Model
import Testing

@testable import Gateway

/// Responses with errors: clients always see the errors, old data only as stale, and later reads never
/// serve it as good data.
struct ErredResponseTests {
  private static let policies = ["FILL", "PARTIAL", "FAIL"]
  private static let gone = #"{"message":"gone","path":["sure"],"extensions":{"code":"GONE"}}"#
  private static let good = #"{"data":{"user":{"id":"1","name":"good"}}}"#

  // MARK: Nothing stored

  @Test(
    "An application error is upstream's response, whatever its schema lets be null",
    arguments: policies)
  func passesOnErrorsWithoutData(policy: String) async throws {
    let world = try ScriptedWorld()
    let body = #"{"data":null,"errors":[\#(Self.gone)]}"#
    world.respond(body)
    for _ in 0..<2 {
      let answer = try await world.read("Sure\(policy)")
      #expect(answer.body == body)
      #expect(answer.status == "fwd=request")
      #expect(answer.rendered.hasErrors)
    }
    // Errors alone, as some servers send them.
    world.respond(#"{"errors":[\#(Self.gone)]}"#)
    #expect(try await world.read("Sure\(policy)").body == body)
    // Nothing of it replaces a failed response.
    world.goAway()
    let failure = await #expect(throws: Failure.self) { _ = try await world.read("Sure\(policy)") }
    #expect(failure?.code == .upstreamUnreachable)
  }

  @Test("A nullable root that failed is never served as stale", arguments: policies)
  func storedErrorsDoNotServe(policy: String) async throws {
    let world = try ScriptedWorld()
    world.respond(#"{"data":{"me":null},"errors":[{"message":"not signed in","path":["me"]}]}"#)
    let answer = try await world.read("Me\(policy)")
    #expect(try JSONValue(parsing: answer.rendered.body)["errors"]?.array?.count == 1)
    #expect(!answer.status.contains("stored"))
    world.goAway()
    let failure = await #expect(throws: Failure.self) { _ = try await world.read("Me\(policy)") }
    #expect(failure?.code == .upstreamUnreachable)
  }

  @Test("With the policy FAIL a failed response has no partial data")
  func failPolicyHasNoPartialData() async throws {
    let world = try ScriptedWorld()
    world.respond(#"{"data":{"me":null,"names":["a"]},"errors":[{"message":"x","path":["me"]}]}"#)
    let answer = try await world.read("BothFAIL")
    #expect(answer.body == #"{"data":null,"errors":[{"message":"x","path":["me"]}]}"#)
    #expect(answer.status == "fwd=request")
  }

  static let invalid: [(status: Int, body: String, pointer: String)] = [
    (200, #"{"errors":[{"message":"no","extensions":{"code":"BAD_USER_INPUT"}}]}"#, ""),
    (200, #"{"errors":[{"message":"no","extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}]}"#, ""),
    (
      200, #"{"errors":[{"message":"no","extensions":{"code":"validation-failed","path":"$"}}]}"#,
      ""
    ),
    (200, #"{"errors":[{"message":"no","extensions":{"classification":"ValidationError"}}]}"#, ""),
    (400, #"{"errors":[{"message":"no"}]}"#, ""), (422, #"{"errors":[{"message":"no"}]}"#, ""),
    (400, #"{"data":null,"errors":[{"message":"no"}]}"#, ""),
    (200, #"{"data":null,"errors":[{"message":"Variable '$id' got invalid value 'x'"}]}"#, "/id"),
    (
      200,
      #"{"errors":[{"message":"Variable \"$id\" of required type \"ID!\" was not provided."}]}"#,
      "/id"
    ),
  ]

  @Test(
    "A variable that upstream rejects is reported as the client's fault, with upstream's message",
    arguments: invalid)
  func reportsInvalidInput(row: (status: Int, body: String, pointer: String)) async throws {
    let world = try ScriptedWorld()
    world.respond(row.body, status: row.status)
    let message = try #require(
      try JSONValue(parsing: row.body)["errors"]?.array?.first?["message"]?.string)
    let read = await #expect(throws: Failure.self) { _ = try await world.read("UserFILL") }
    let mutation = await #expect(throws: Failure.self) { _ = try await world.mutate("Rename") }
    for failure in [read, mutation] {
      #expect(failure?.code == .upstreamRejected)
      #expect(failure?.retry == .never)
      #expect(failure?.message.contains(message) == true)
      #expect(
        failure?.details == [Failure.Detail(place: .pointer(row.pointer), detail: message)])
    }
  }

  // MARK: Good data stored

  @Test(
    "Errors that leave nothing to store are shown over the last good data, which is stale",
    arguments: [
      #"{"data":{"user":{"id":"1","name":"NEW"}},"errors":[{"message":"warn"}]}"#,
      #"{"data":{"user":{"id":"1","name":"NEW"}},"errors":["x"]}"#,
      #"{"data":{"user":{"id":"1","name":"NEW"}},"errors":[{"message":"m","path":["user",1.5]}]}"#,
      #"{"data":null,"errors":[{"message":"broke","path":["user"]}]}"#,
      #"{"errors":[{"message":"no","extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}]}"#,
    ], ["FILL", "FAIL"])
  func showsPresentErrorsOverOldData(body: String, policy: String) async throws {
    let world = try ScriptedWorld()
    world.respond(Self.good)
    _ = try await world.read("User\(policy)")
    // An earlier error must not stand in for the present one.
    world.respond(#"{"data":{"user":null},"errors":[{"message":"earlier","path":["user"]}]}"#)
    _ = try await world.read("User\(policy)")
    world.respond(body)
    for directives in [ReadDirectives(noCache: true), ReadDirectives(noStore: true)] {
      let answer = try await world.read("User\(policy)", directives: directives)
      let shown = try JSONValue(parsing: answer.rendered.body)
      #expect(shown["data"] == ["user": ["id": "1", "name": "good"]])
      #expect(shown["errors"] == (try JSONValue(parsing: body))["errors"])
      #expect(shown["stale"] == [["user"]])
      #expect(answer.status.hasSuffix("detail=stale-if-error"))
      #expect(!answer.rendered.isCurrent)
    }
    world.respond(Self.good)
    #expect(try await world.read("User\(policy)").body == Self.good)
  }

  @Test("With the policy PARTIAL upstream's response is shown unchanged")
  func partialPolicyShowsUpstreamResponse() async throws {
    let world = try ScriptedWorld()
    world.respond(Self.good)
    _ = try await world.read("UserPARTIAL")
    let body = #"{"data":{"user":{"id":"1","name":"NEW"}},"errors":[{"message":"warn"}]}"#
    world.respond(body)
    let answer = try await world.read("UserPARTIAL")
    #expect(answer.body == body)
    #expect(answer.status == "fwd=request")
    world.goAway()
    #expect(try await world.read("UserPARTIAL").body == Self.good)
  }

  @Test(
    "A list with a failed element keeps the last good list for offline use", arguments: policies)
  func failedElementKeepsTheLastGoodList(policy: String) async throws {
    let world = try ScriptedWorld()
    world.respond(#"{"data":{"users":[{"id":"1","name":"A"},{"id":"2","name":"B"}]}}"#)
    _ = try await world.read("Users\(policy)")
    world.respond(
      #"{"data":{"users":[{"id":"1","name":"A2"},null]},"errors":[{"message":"x","path":["users",1]}]}"#
    )
    let partial = try JSONValue(parsing: try await world.read("Users\(policy)").rendered.body)
    #expect(partial["errors"]?.array?.count == 1)
    if policy == "PARTIAL" { #expect(partial["data"]?["users"]?.array?.last == .null) }
    world.goAway()
    let offline = try await world.read("Users\(policy)")
    let shown = try JSONValue(parsing: offline.rendered.body)
    #expect(shown["data"]?["users"]?.array?.count == 2)
    #expect(shown["data"]?["users"]?.array?.last == ["id": "2", "name": "B"])
    #expect(offline.status.hasSuffix("detail=stale-if-error"))
  }

  @Test("Offline, failed parts are filled or explained", arguments: ["FILL", "PARTIAL"])
  func goodPartsServeOffline(policy: String) async throws {
    let world = try ScriptedWorld()
    let half =
      #"{"data":{"pair":{"left":{"id":"1","name":"A"},"right":null}},"errors":[{"message":"x","path":["pair","right"]}]}"#
    world.respond(half)
    let first = try await world.read("Pair\(policy)")
    #expect(first.body == half)
    #expect(first.status == "fwd=request; stored")
    world.goAway()
    #expect(try await world.read("Pair\(policy)").body == half)
    // Once it was good, no error of an earlier response is shown with the filled value.
    world.respond(
      #"{"data":{"pair":{"left":{"id":"1","name":"A"},"right":{"id":"2","name":"B"}}}}"#)
    _ = try await world.read("Pair\(policy)")
    world.respond(half)
    _ = try await world.read("Pair\(policy)")
    world.goAway()
    #expect(
      try await world.read("Pair\(policy)").body
        == #"{"data":{"pair":{"left":{"id":"1","name":"A"},"right":{"id":"2","name":"B"}}},"stale":[["pair","right"]]}"#
    )
  }

  @Test(
    "Cache-Status has stored only if the response can be served offline",
    arguments: [
      #"{"data":{"users":[{"id":"1","name":"A"},null]},"errors":[{"message":"x","path":["users",1]}]}"#,
      #"{"data":{"users":[{"id":"1","name":"A"},null]},"errors":[{"message":"x"}]}"#,
      #"{"data":{"users":null},"errors":[{"message":"x","path":["users"]}]}"#,
      #"{"data":null,"errors":[{"message":"x"}]}"#,
      #"{"data":{"users":[{"id":"1","name":"A"},null]}}"#, #"{"data":{"users":[]}}"#,
      #"{"data":{"users":null}}"#,
    ], policies)
  func reportsStored(body: String, policy: String) async throws {
    let world = try ScriptedWorld()
    world.respond(body)
    let answer = try await world.read("Users\(policy)")
    world.goAway()
    let offline = try? await world.read("Users\(policy)")
    #expect(answer.status.hasSuffix("; stored") == (offline != nil), "\(answer.status)")
  }

  // MARK: The schema

  @Test(
    "A response that breaks the schema leaves good copies in place",
    arguments: [
      #"{"data":{}}"#, #"{"data":[]}"#, #"{"data":{"user":"str"}}"#, #"{"data":{"user":[]}}"#,
      #"{"data":{"user":{"id":"1"}}}"#, #"{"data":{"user":{"id":null,"name":"x"}}}"#,
      #"{"data":{"user":{"id":"1","name":null}}}"#, #"{"data":{"user":{"id":"1","name":{}}}}"#,
      #"{"data":{"user":{"id":"1","name":7}}}"#,
    ])
  func badDataReplacesNothing(body: String) async throws {
    let world = try ScriptedWorld()
    world.respond(body)
    let cold = await #expect(throws: Failure.self) { _ = try await world.read("UserFILL") }
    #expect(cold?.code == .upstreamMalformed)
    #expect(cold?.message.contains("it breaks the schema: ") == true)
    world.respond(Self.good)
    _ = try await world.read("UserFILL")
    world.respond(body)
    let warm = try await world.read("UserFILL")
    #expect(warm.body == Self.good)
    #expect(warm.status.hasSuffix("detail=stale-if-error"))
    #expect(try await world.read("UserFILL", directives: .none).body == Self.good)
  }

  // MARK: One body

  @Test(
    "Later reads get the same body as the first one",
    arguments: [
      (
        "Pair",
        #"{"data":{"pair":{"left":{"id":"1","name":"X"},"right":{"id":"1","name":"Y"}}}}"#
      ),
      (
        "Users", #"{"data":{"users":[{"id":"1","name":"A"},{"id":"1","name":"B"}]}}"#
      ),
      (
        "Aliases",
        #"{"data":{"a":{"id":"1","x":"X","y":"Y"},"b":{"id":"1","name":"Z"}}}"#
      ),
      ("Me", #"{"data":{"me":{"id":"1","name":"A","name":"B","nick":null,"nick":"n"}}}"#),
      ("Me", #"{"data":{"me":{"id":"1","name":"A"},"me":{"id":"2","name":"B","nick":"n"}}}"#),
      ("Me", #"{"data":{"secret":1,"me":{"id":"1","name":"A","nick":null,"secret":"s"}}}"#),
      ("Both", #"{"data":{"names":["a"],"me":null,"names":["b"]}}"#),
    ])
  func bodiesDoNotChangeWithoutAFetch(operation: String, response: String) async throws {
    let world = try ScriptedWorld()
    world.respond(response)
    let first: ReadResponse
    do {
      first = try await world.read("\(operation)FILL")
    } catch let failure as Failure {
      // A refusal is as good: nothing of it is kept.
      #expect(failure.code == .upstreamMalformed)
      return
    }
    let calls = world.upstream.calls
    let hit = try await world.read("\(operation)FILL", directives: .none)
    #expect(hit.body == first.body)
    #expect(hit.rendered.tag == first.rendered.tag)
    #expect(!first.body.contains("secret"))
    // As after a restart: from the store alone.
    world.cache.drop(hit.rendered.key)
    #expect(try await world.read("\(operation)FILL", directives: .none).body == first.body)
    #expect(world.upstream.calls == calls)
  }

  // MARK: Mutations

  @Test(
    "A mutation's application errors are its response",
    arguments: [
      (
        #"{"data":null,"errors":[{"message":"x","path":["rename"],"extensions":{"code":"NOPE"}}]}"#,
        #"{"data":null,"errors":[{"message":"x","path":["rename"],"extensions":{"code":"NOPE"}}]}"#
      ),
      (
        #"{"errors":[{"message":"x","extensions":{"code":"constraint-violation"}}]}"#,
        #"{"data":null,"errors":[{"message":"x","extensions":{"code":"constraint-violation"}}]}"#
      ),
    ])
  func mutationErrorsAreItsResponse(response: String, body: String) async throws {
    let world = try ScriptedWorld()
    world.respond(response)
    #expect(try await world.mutate("Rename") == body)
  }
}
