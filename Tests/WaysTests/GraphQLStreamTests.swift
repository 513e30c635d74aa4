import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// GraphQL over server-sent events.
  struct GraphQLStreamTests {
    private static let events = ("Accept", "text/event-stream")
    private static let live = "extensions=%7B%22live%22%3Atrue%7D"

    private static func open(
      _ larder: RunningLarder, _ query: String, headers: [(String, String)] = []
    ) async throws -> EventClient {
      try await EventClient.open(
        port: larder.port, "/v1/graphql?\(query)", headers: headers + [events])
    }

    @Test("A query is one result and the end")
    func streamsOneResult() async throws {
      let larder = try await RunningLarder.start()
      let rest = try await larder.get("/api/films/f1")
      let stream = try await Self.open(larder, "operationName=Film&\(GraphQLTests.film)")
      #expect(stream.status == 200 && stream.contentType == "text/event-stream")
      let first = try #require(try await stream.nextEvent())
      #expect(first.event == "next" && first.data == rest.text)
      let last = try #require(try await stream.nextEvent())
      #expect(last.event == "complete" && last.data == "")
      #expect(try await stream.nextEvent() == nil)
      await larder.stop()
    }

    @Test("A live query sends each new result")
    func streamsLiveQueries() async throws {
      let larder = try await RunningLarder.start()
      let stream = try await Self.open(
        larder, "operationName=Film&\(GraphQLTests.film)&\(Self.live)")
      #expect(try await stream.nextEvent()?.event == "next")
      let changed = try await larder.post(
        "/v1/graphql",
        #"{"operationName":"UpdateFilm","variables":{"id":"f1","patch":{"title":"Renamed"}}}"#,
        Self.events)
      #expect(changed.text.hasPrefix("event: next\ndata: {\"data\":"), "\(changed.text)")
      #expect(changed.text.hasSuffix("event: complete\ndata: \n\n"))
      let second = try #require(try await stream.nextEvent())
      #expect(second.event == "next" && second.data.contains("Renamed"))
      await larder.stop()
    }

    @Test("A fault of the request is a result with errors; another refusal is a status")
    func reportsFaultsInTheStream() async throws {
      let larder = try await RunningLarder.start()
      for query in [
        "operationName=Nothing", "operationName=Film", "documentId=x", "query=%7B",
        "extensions=%7B%22persistedQuery%22%3A%7B%22version%22%3A1%2C%22sha256Hash%22%3A%22a%22%7D%7D",
      ] {
        let stream = try await Self.open(larder, query)
        #expect(stream.status == 200, "\(query)")
        let first = try #require(try await stream.nextEvent())
        let body = try JSONValue(parsing: first.data)
        #expect(first.event == "next" && body["errors"]?[0]?["message"] != nil, "\(query)")
        #expect(body["data"] == nil)
        #expect(try await stream.nextEvent()?.event == "complete", "\(query)")
      }
      let mutation = try await larder.get("/v1/graphql?operationName=RateFilm", Self.events)
      #expect(mutation.status == 405 && mutation["allow"] == "POST")
      let role = try await larder.post(
        "/v1/graphql", #"{"operationName":"CreatePerson","variables":{"input":{"name":"A"}}}"#,
        Self.events)
      #expect(role.status == 401 && role["content-type"] == "application/json")
      await larder.stop()
    }

    @Test("A ticket opens a stream for its caller, once")
    func ticketsOpenStreams() async throws {
      let larder = try await RunningLarder.start()
      let ada = ("Authorization", "Bearer user-ada")
      let issued = try await larder.request("POST", "/v1/stream-tickets", headers: [ada])
      let ticket = try #require(try JSONValue(parsing: issued.body)["ticket"]?.string)
      let stream = try await Self.open(larder, "operationName=Me&\(Self.live)&ticket=\(ticket)")
      let mine = try await larder.get("/api/me", ada)
      #expect(try await stream.nextEvent()?.data == mine.text)
      let again = try await Self.open(larder, "operationName=Me&\(Self.live)&ticket=\(ticket)")
      #expect(again.status == 401)
      await larder.stop()
    }
  }
}
