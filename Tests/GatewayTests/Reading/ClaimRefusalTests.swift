import Accounts
import Model
import TestSupport
import Testing

@testable import Gateway

/// A refusal by upstream of one member of a claim does not affect the others.
struct ClaimRefusalTests {
  private static func member(_ user: String) -> Caller {
    let claim = Claim(name: "org_id", issuer: "https://a/", value: #""acme""#)
    let verified = Caller.Verified(
      user: VerifiedUser(id: user, expires: Timestamp(milliseconds: .max), claims: [claim]),
      token: user)
    return Caller(
      credentials: [Caller.Header(name: "authorization", value: "Bearer \(user)")], partitions: [],
      subject: user, user: user, verified: verified, operatorRole: nil, hasToken: true)
  }

  private static let good = #"{"data":{"users":[{"__typename":"User","id":"1","name":"A"}]}}"#

  @Test(
    "Members who wait for a call that upstream refuses, whole or in part, get a call of their own",
    arguments: [
      #"{"data":null,"errors":[{"message":"no","extensions":{"code":"FORBIDDEN"}}]}"#,
      #"{"data":{"users":null},"errors":[{"message":"no","path":["users"],"extensions":{"code":"FORBIDDEN"}}]}"#,
    ])
  func othersGetTheirOwnCall(refusal: String) async throws {
    let world = try ScriptedWorld()
    world.upstream.hold()
    world.respond(refusal)
    let refused = Task { try await world.read("Team", by: Self.member("eve"), directives: .init()) }
    #expect(await eventuallyHolds { world.upstream.calls > 0 })
    world.respond(Self.good)
    let others = (0..<4).map { number in
      Task { try await world.read("Team", by: Self.member("m\(number)"), directives: .init()) }
    }
    // So that they wait for the call in flight.
    for _ in 0..<1_000 { await Task.yield() }
    #expect(world.upstream.calls == 1)
    world.upstream.release()
    for other in others {
      #expect(try await other.value.body == #"{"data":{"users":[{"id":"1","name":"A"}]}}"#)
    }
    let refusedResponse = try? await refused.value
    #expect(refusedResponse?.rendered.hasErrors != false)
    // The refusal is not kept.
    let later = try await world.read("Team", by: Self.member("m9"), directives: .init())
    #expect(later.body == #"{"data":{"users":[{"id":"1","name":"A"}]}}"#)
  }
}
