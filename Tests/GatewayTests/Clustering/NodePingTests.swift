import HTTPClient
import HTTPTypes
import Model
import Testing

@testable import Gateway

/// The question which node answers at an address.
struct NodePingTests {
  private static let signature = NodeSignature(secret: Array(repeating: UInt8(7), count: 32))
  private static let other = NodeSignature(secret: Array(repeating: UInt8(9), count: 32))
  private static let now = Timestamp(milliseconds: 1_700_000_000_000)
  private static let clock = WallClock { now }
  private static let url = "http://10.0.0.2:8080"

  private static func ping(_ signature: NodeSignature = signature) -> NodePing {
    NodePing(signature, asker: "n_1", clock: clock, random: RandomBytes { 5 })
  }

  /// The response of a node to a request, as its handlers give it.
  private static func response(
    to request: HTTPClientRequest, of signature: NodeSignature = signature, cluster: String? = "c"
  ) throws -> HTTPClientResponse {
    let id = try #require(request.fields[HTTPField.Name("Request-Id")!])
    let asked = try signature.statement(
      in: try #require(request.fields[HTTPField.Name("Larder-Node")!]),
      of: NodeSignature.Request(
        method: "GET", target: NodePing.path, host: "10.0.0.2:8080", id: id), at: now)
    #expect(asked.node == "n_1" && request.authority == "10.0.0.2:8080")
    let answer = NodeAnswer(
      node: "n_2", cluster: { cluster }, signature: signature, clock: clock
    ).answer(to: id)
    return HTTPClientResponse(
      status: .ok, fields: [HTTPField.Name("Larder-Node")!: answer.field], body: answer.content)
  }

  private static func ask(
    _ ping: NodePing = ping(),
    _ respond: (HTTPClientRequest) throws -> HTTPClientResponse
  ) async throws -> NodePing.Finding {
    await ping.ask(try HTTPURL(url)) { request throws(HTTPClientError) in
      do { return try respond(request) } catch let error as HTTPClientError {
        throw error
      } catch {
        throw .invalidRequest("\(error)")
      }
    }
  }

  @Test("A node with the same secret says which it is, and of which cluster")
  func answers() async throws {
    #expect(
      try await Self.ask { try Self.response(to: $0) } == .node(id: "n_2", cluster: "c"))
    #expect(
      try await Self.ask { try Self.response(to: $0, cluster: nil) }
        == .node(id: "n_2", cluster: ""))
  }

  @Test("An answer that was changed, or was given to another question, is not believed")
  func refusesOthersAnswers() async throws {
    let changed = try await Self.ask { request in
      var response = try Self.response(to: request)
      response.body = Array(#"{"node":"n_2","cluster":"d"}"#.utf8)
      return response
    }
    #expect(changed == .refused("signature"))
    let foreign = try await Self.ask { request in
      var response = try Self.response(to: request)
      let answer = NodeAnswer(
        node: "n_2", cluster: { "c" }, signature: Self.other, clock: Self.clock)
      response.fields[HTTPField.Name("Larder-Node")!] = answer.answer(to: "x").field
      return response
    }
    #expect(foreign == .refused("signature"))
    let late = NodePing(
      Self.signature, asker: "n_1",
      clock: WallClock { Timestamp(milliseconds: Self.now.milliseconds + 40_000) },
      random: RandomBytes { 5 })
    let old = try await Self.ask(late) { request in
      let id = try #require(request.fields[HTTPField.Name("Request-Id")!])
      let answer = NodeAnswer(
        node: "n_2", cluster: { "c" }, signature: Self.signature, clock: Self.clock
      ).answer(to: id)
      return HTTPClientResponse(
        status: .ok, fields: [HTTPField.Name("Larder-Node")!: answer.field], body: answer.content)
    }
    #expect(old == .refused("expired"))
  }

  @Test(
    "What else answers is told apart",
    arguments: [
      (403, "Larder-Node-Refusal", "signature", NodePing.Finding.refused("signature")),
      (404, "Server", "x", .other(status: 404)),
      (200, "Server", "x", .other(status: 200)),
    ])
  func tellsApart(
    status: Int, field: String, value: String, finding: NodePing.Finding
  ) async throws {
    let found = try await Self.ask { _ in
      HTTPClientResponse(
        status: HTTPResponse.Status(code: status),
        fields: [try #require(HTTPField.Name(field)): value], body: Array("{}".utf8))
    }
    #expect(found == finding)
    let away = try await Self.ask { _ in throw HTTPClientError.connectTimedOut }
    guard case .unreachable = away else {
      Issue.record("\(away)")
      return
    }
  }
}
