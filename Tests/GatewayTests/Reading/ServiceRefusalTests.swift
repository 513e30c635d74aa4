import Model
import Testing

@testable import Gateway

/// Reads while upstream refuses a credential: the service's own, or the caller's.
struct ServiceRefusalTests {
  private static let ada = Caller(
    credentials: [.init(name: "authorization", value: "Bearer ada")], subject: "ada")
  private static let good = #"{"data":{"users":[{"id":"1","name":"Ada"}]}}"#

  struct Cell: Sendable, CustomTestStringConvertible {
    let operation: String
    let isSignedIn: Bool
    /// Whether the caller's own credential is sent.
    let sendsCallers: Bool

    var testDescription: String { "\(operation) \(isSignedIn ? "signed in" : "anonymous")" }
    var caller: Caller { isSignedIn ? ServiceRefusalTests.ada : .anonymous }
  }

  static let cells = [
    Cell(operation: "UsersFILL", isSignedIn: false, sendsCallers: false),
    Cell(operation: "UsersFILL", isSignedIn: true, sendsCallers: false),
    Cell(operation: "Own", isSignedIn: false, sendsCallers: false),
    Cell(operation: "Own", isSignedIn: true, sendsCallers: true),
  ]

  /// Status, body, and the failure of a caller whose own credential it refuses.
  static let refusals: [(Int, String, Failure.Code)] = [
    (401, "", .upstreamUnauthenticated), (403, "", .upstreamForbidden),
    (
      200, #"{"errors":[{"message":"x","extensions":{"code":"access-denied"}}]}"#,
      .upstreamUnauthenticated
    ),
    (
      200, #"{"errors":[{"message":"x","extensions":{"code":"invalid-jwt"}}]}"#,
      .upstreamUnauthenticated
    ),
  ]

  private func failure(_ world: ScriptedWorld, _ cell: Cell) async -> Failure? {
    do {
      _ = try await world.read(cell.operation, by: cell.caller)
      return nil
    } catch {
      return error as? Failure
    }
  }

  @Test(
    "Stored responses are served over a refused service credential, never over a refused user's",
    arguments: cells, refusals)
  func matrix(cell: Cell, refusal: (status: Int, body: String, code: Failure.Code)) async throws {
    for isWarm in [false, true] {
      let world = try ScriptedWorld(secret: "service")
      if isWarm {
        world.respond(Self.good)
        #expect(try await world.read(cell.operation, by: cell.caller).body == Self.good)
      }
      world.respond(refusal.body, status: refusal.status)
      if isWarm, !cell.sendsCallers {
        let response = try await world.read(cell.operation, by: cell.caller)
        #expect(response.body == Self.good)
        #expect(response.status.hasSuffix("detail=stale-if-error"))
      } else {
        let failure = await failure(world, cell)
        #expect(failure?.code == (cell.sendsCallers ? refusal.code : .upstreamFailed))
        #expect(failure?.retry == (cell.sendsCallers ? .never : .after))
      }
      #expect((world.pulse.serviceRefusal != nil) == !cell.sendsCallers)
      // A user's copy is dropped with the refusal, so that an outage does not bring it back.
      guard isWarm else { continue }
      world.goAway()
      if cell.sendsCallers {
        #expect(await failure(world, cell)?.code == .upstreamUnreachable)
      } else {
        #expect(try await world.read(cell.operation, by: cell.caller).body == Self.good)
      }
    }
  }

  @Test(
    "Without a service credential a refusal is the caller's, warm and cold", arguments: refusals)
  func withoutServiceCredential(
    refusal: (status: Int, body: String, code: Failure.Code)
  ) async throws {
    for cell in Self.cells {
      let world = try ScriptedWorld()
      for isWarm in [false, true] {
        if isWarm {
          world.respond(Self.good)
          _ = try await world.read(cell.operation, by: cell.caller)
        }
        world.respond(refusal.body, status: refusal.status)
        #expect(await failure(world, cell)?.code == refusal.code, "\(cell)")
        #expect(world.pulse.serviceRefusal == nil)
      }
    }
  }

  @Test("The refusal ends when upstream accepts the service's credential again")
  func ends() async throws {
    let world = try ScriptedWorld(secret: "service")
    world.respond("", status: 401)
    let cell = Self.cells[0]
    #expect(await failure(world, cell)?.cause?.contains("upstream.secret") == true)
    world.respond(Self.good)
    #expect(try await world.read(cell.operation).body == Self.good)
    #expect(try await world.read(cell.operation).status.hasPrefix("fwd="))
  }

  @Test("A failed lookup of a stored entity serves over a refused service credential")
  func lookups() async throws {
    let world = try ScriptedWorld(secret: "service")
    world.respond(Self.good)
    _ = try await world.read("UsersFILL")
    world.respond("", status: 401)
    #expect(try await world.read("Seek").status == "hit; detail=lookup")
  }
}
