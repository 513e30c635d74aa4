import HTTPServer
import HTTPTypes
import HTTPWire
import TestSupport
import Testing

struct StrictTransportTests {
  /// At the first look, by the handler, with a date of its own, and by the server itself.
  private static var handler: ScriptedHandler {
    var handler = ScriptedHandler { request in
      var response = ServerResponse.text("served")
      if request.path == "/dated" { response.fields[.date] = "Sun, 06 Nov 1994 08:49:37 GMT" }
      return response
    }
    handler.look = { head, _, stamp, output in
      guard head.path.elementsEqual("/quick".utf8) else { return false }
      output.append("HTTP/1.1 200 OK\r\n")
      stamp.appendDate(to: &output)
      stamp.appendRequestID(for: head, to: &output)
      output.append("Content-Length: 5\r\n\r\nquick")
      return true
    }
    return handler
  }

  @Test("Every response asks for TLS where the service is told to", arguments: [nil, 86_400])
  func everyResponseAsksForTLS(seconds: Int?) async throws {
    try await ServerFixture.serve(
      Self.handler, strictTransportAge: seconds.map { .seconds($0) }
    ) { server in
      let responses = try await server.withClient { client in
        try ["/", "/quick", "/dated"].map { try client.request("GET", $0) }
      }
      let refused = try await server.withClient { client in
        try client.send("GET / HTTP/9.9\r\n\r\n")
        return try client.response()
      }
      for response in responses + [refused] {
        #expect(
          response["strict-transport-security"] == seconds.map { "max-age=\($0)" },
          "\(response.status)")
      }
    }
  }
}
