import LosslessJSON
import Model
import Testing

@testable import Gateway

/// Queries for one entity while upstream is away (`@cache(lookup:)`).
struct StoreLookupTests {
  private static let two =
    #"{"data":{"users":[{"id":"1","name":"Ada"},{"id":"2","name":"Bob"}]}}"#

  private func failure(
    _ world: ScriptedWorld, _ operation: String, by caller: Caller = .anonymous, id: String = "1"
  ) async -> Failure.Code? {
    let failure = await #expect(throws: Failure.self) {
      _ = try await world.read(operation, by: caller, id: id)
    }
    return failure?.code
  }

  @Test("An entity that only a list fetched answers its own query while upstream is away")
  func listAnswersTheQueryForOne() async throws {
    let world = try ScriptedWorld()
    world.respond(Self.two)
    _ = try await world.read("UsersFILL")
    world.goAway()
    let found = try await world.read("Seek", id: "2")
    #expect(found.body == #"{"data":{"user":{"id":"2","name":"Bob"}}}"#)
    #expect(found.status == "hit; detail=lookup")
    #expect(!found.rendered.isCurrent)
    #expect(found.rendered.policy.maxAge == .zero)
    // Without the directive it is refused.
    #expect(await failure(world, "UserFILL") == .upstreamUnreachable)
    // Upstream's own response is the same representation.
    world.respond(#"{"data":{"user":{"id":"2","name":"Bob"}}}"#)
    let back = try await world.read("Seek", directives: .none, id: "2")
    #expect(back.status == "fwd=uri-miss; stored")
    #expect(back.rendered.tag == found.rendered.tag)
  }

  @Test("A stored result of the query itself goes first")
  func ownResultGoesFirst() async throws {
    let world = try ScriptedWorld()
    world.respond(#"{"data":{"user":{"id":"1","name":"Ada"}}}"#)
    _ = try await world.read("Seek")
    world.goAway()
    #expect(try await world.read("Seek").status.hasSuffix("detail=stale-if-error"))
  }

  @Test("A field that was never fetched leaves the query without a response")
  func unknownFieldsAreNotAnswered() async throws {
    let world = try ScriptedWorld()
    world.respond(Self.two)
    _ = try await world.read("UsersFILL")
    world.goAway()
    #expect(await failure(world, "SeekNick") == .upstreamUnreachable)
    #expect(await failure(world, "Seek", id: "3") == .upstreamUnreachable)
    world.respond(#"{"data":{"me":{"id":"1","name":"Ada","nick":null}}}"#)
    _ = try await world.read("MeFILL")
    world.goAway()
    let found = try await world.read("SeekNick")
    #expect(found.body == #"{"data":{"__typename":"Query","it":{"nick":null,"name":"Ada"}}}"#)
  }

  @Test("Data older than the policy permits is not shown")
  func oldDataIsNotShown() async throws {
    let world = try ScriptedWorld()
    world.respond(Self.two)
    _ = try await world.read("UsersFILL")
    world.goAway()
    world.clock.advance(by: .seconds(650))
    #expect(try await world.read("Seek").status == "hit; detail=lookup")
    world.clock.advance(by: .seconds(10))
    #expect(await failure(world, "Seek") == .upstreamUnreachable)
  }

  @Test("A user's query is answered from that user's data alone")
  func otherCallersDataIsNotShown() async throws {
    let world = try ScriptedWorld()
    let (ada, bob) = (Caller(subject: "ada", user: "ada"), Caller(subject: "bob", user: "bob"))
    world.respond(#"{"data":{"users":[{"id":"1","name":"public"}]}}"#)
    _ = try await world.read("UsersFILL")
    world.respond(#"{"data":{"users":[{"id":"1","name":"for Ada"}]}}"#)
    _ = try await world.read("Own", by: ada)
    world.goAway()
    #expect(
      try await world.read("SeekOwn", by: ada).body
        == #"{"data":{"user":{"id":"1","name":"for Ada"}}}"#)
    #expect(await failure(world, "SeekOwn", by: bob) == .upstreamUnreachable)
    // What is fetched without a credential is the same for all.
    for caller in [ada, bob, .anonymous] {
      #expect(
        try await world.read("Seek", by: caller).body
          == #"{"data":{"user":{"id":"1","name":"public"}}}"#)
    }
  }

  @Test("A deleted entity answers nothing")
  func deletedEntitiesAnswerNothing() async throws {
    let world = try ScriptedWorld()
    world.respond(Self.two)
    _ = try await world.read("UsersFILL")
    world.respond(#"{"data":{"user":null}}"#)
    for _ in 0..<2 { _ = try await world.read("UserFILL") }
    world.goAway()
    #expect(await failure(world, "Seek") == .upstreamUnreachable)
    #expect(try await world.read("Seek", id: "2").status == "hit; detail=lookup")
  }

  @Test("A refusal by upstream is not replaced by stored data")
  func refusalsStand() async throws {
    let world = try ScriptedWorld()
    world.respond(Self.two)
    _ = try await world.read("UsersFILL")
    world.respond(#"{"errors":[{"message":"no","extensions":{"code":"FORBIDDEN"}}]}"#)
    #expect(await failure(world, "Seek") == .upstreamForbidden)
    world.respond(#"{"errors":[{"message":"no","extensions":{"code":"INTERNAL"}}]}"#)
    #expect(try await world.read("Seek").rendered.hasErrors)
  }
}
