import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// A stream ticket is a credential made for a URL: only streams take it, and no route ignores it.
  struct TicketTests {
    private static let ada = ("Authorization", "Bearer user-ada")

    /// Routes whose query is a page's own, or that of the S3 API.
    private static func hasOwnQuery(_ route: String) -> Bool {
      route.contains(" /s3") || route.contains("{path...}")
    }

    @Test("Every route that is not a stream refuses a ticket; none takes its sender for anonymous")
    func everyOtherRouteRefusesTickets() async throws {
      let world = try await MatrixWorld.start()
      let known = MatrixSecrets(
        word: MatrixCaller.owners[0].word, listID: "l1", revision: "none", tags: [],
        listTag: "none", cursor: "none", pageToken: nil)
      var refused = 0
      for route in world.routes where !Self.hasOwnQuery(route) {
        for ask in MatrixRequests.all(of: route, known) ?? []
        where !ask.target.contains("ticket=") {
          let mark = ask.target.contains("?") ? "&" : "?"
          let answer = try await world.larder.request(
            ask.method, "\(ask.target)\(mark)ticket=made-up", headers: ask.headers, body: ask.body)
          if ask.isStream && ask.method == "GET" || route == "GET /v1/graphql" {
            // A stream reads the ticket, and there is none of this name.
            #expect((400..<500).contains(answer.status), "\(ask): \(answer.status)")
          } else {
            refused += 1
            #expect(answer.status == 403, "\(ask): \(answer.text)")
            // The response to HEAD says nothing more.
            let isExplained =
              ask.method == "HEAD" || answer.text.contains("only for GET of a stream")
            #expect(isExplained, "\(ask): \(answer.text)")
          }
        }
      }
      #expect(refused > 60)
      await world.stop()
    }

    @Test("A ticket runs no mutation, and is not spent by requests that may not have it")
    func ticketsNeverWrite() async throws {
      let larder = try await RunningLarder.start()
      let issued = try await larder.request("POST", "/v1/stream-tickets", headers: [Self.ada])
      let ticket = try #require(try JSONValue(parsing: issued.body)["ticket"]?.string)
      let variables = #"{"id":"f1","patch":{"title":"Stolen"}}"#
      for accept in ["text/event-stream", "application/json", "*/*"] {
        for text in ["", "query=&"] {
          let answer = try await larder.request(
            "POST", "/v1/graphql?\(text)ticket=\(ticket)", headers: [("Accept", accept)],
            body: #"{"operationName":"UpdateFilm","variables":\#(variables)}"#)
          #expect(answer.status == 403, "\(accept): \(answer.text)")
        }
      }
      let others = [
        ("POST", "/v1/operations/UpdateFilm?ticket=\(ticket)", variables),
        // A query that cannot be read must not hide the ticket.
        ("POST", "/v1/operations/UpdateFilm?ticket=\(ticket)&a=%zz", variables),
        ("POST", "/v1/live?ticket=\(ticket)", #"{"queries":[]}"#),
        ("HEAD", "/v1/changes/stream?since=now&ticket=\(ticket)", nil),
        ("GET", "/v1/changes?since=now&ticket=\(ticket)", nil),
      ]
      for (method, target, body) in others {
        let answer = try await larder.request(method, target, body: body)
        #expect(answer.status == 403, "\(method) \(target): \(answer.text)")
      }
      #expect(try await !larder.get("/api/films/f1").text.contains("Stolen"))
      let stream = try await EventClient.open(
        port: larder.port, "/v1/changes/stream?since=now&ticket=\(ticket)")
      #expect(stream.status == 200)
      await larder.stop()
    }

    @Test("A body-less request with another media type is refused like one with a body")
    func checksTypesWithoutBody() async throws {
      let larder = try await RunningLarder.start()
      for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        for body in [nil, "{}"] as [String?] {
          let answer = try await larder.request(
            "POST", "/v1/stream-tickets", headers: [Self.ada, ("Content-Type", type)], body: body)
          #expect(answer.status == 415, "\(type) \(body ?? "none"): \(answer.text)")
        }
      }
      let plain = try await larder.request("POST", "/v1/stream-tickets", headers: [Self.ada])
      #expect(plain.status == 201, "\(plain.text)")
      await larder.stop()
    }
  }
}
