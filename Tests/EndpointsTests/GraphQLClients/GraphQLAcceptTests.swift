import HTTPWire
import Testing

@testable import Endpoints

/// The media type of a response to a GraphQL client.
struct GraphQLAcceptTests {
  @Test(
    "The best acceptable type is chosen",
    arguments: [
      (nil, .json), ("*/*", .json), ("application/*", .json), ("application/json", .json),
      ("application/graphql-response+json", .graphQL),
      ("application/graphql-response+json, application/json;q=0.9", .graphQL),
      ("application/graphql-response+json,application/json;q=0.9", .graphQL),
      ("application/json, application/graphql-response+json", .graphQL),
      ("application/json, application/graphql-response+json;q=0.5", .json),
      ("APPLICATION/GraphQL-Response+JSON; charset=utf-8", .graphQL),
      ("application/json; charset=utf-8 ; q=0.2 , */* ; q=0.1", .json),
      ("application/graphql-response+json;q=0, */*", .json),
      ("application/json;q=0, */*;q=0.1", .graphQL),
      ("application/json;q=0, application/graphql-response+json", .graphQL),
      ("multipart/mixed;deferSpec=20220824,application/graphql-response+json", .graphQL),
      ("multipart/mixed;incrementalSpec=v0.2, application/json", .json),
      ("text/event-stream", .events), ("text/event-stream, */*;q=0.1", .events),
      // As urql lists them with every request.
      (
        "application/graphql-response+json, application/graphql+json, application/json, "
          + "text/event-stream, multipart/mixed", .graphQL
      ),
      ("text/event-stream, application/json", .json),
      ("", nil), ("text/html", nil), ("application/json;q=0", nil), ("*/*;q=0", nil),
      ("application/json;q=x", nil), ("application/json;q=2", nil), (",,;q=1,", nil),
    ] as [(String?, GraphQLAccept.MediaType?)])
  func choosesTheBest(field: String?, type: GraphQLAccept.MediaType?) {
    let accept = GraphQLAccept(field.map { ArraySlice(Array($0.utf8)) })
    #expect(accept.single == type, "\(field ?? "none")")
  }

  @Test(
    "Events are sent only to a client that names them",
    arguments: [
      (nil, false), ("*/*", false), ("text/*", false), ("application/json", false),
      ("text/event-stream", true), ("text/event-stream;q=0", false),
      ("application/json, text/event-stream;q=0.1", true),
    ] as [(String?, Bool)])
  func eventsAreNamed(field: String?, takes: Bool) {
    #expect(GraphQLAccept(field.map { ArraySlice(Array($0.utf8)) }).takesEvents == takes)
  }

  @Test(
    "The form of a cached response follows its target and Accept",
    arguments: [
      ("/api/films/f1", nil, .rest), ("/v1/operations/Film?id=1", "text/event-stream", .rest),
      ("/v1/graphql?documentId=a", nil, .graphQLAsJSON),
      ("/v1/graphql?documentId=a", "application/graphql-response+json", .graphQL),
      ("/v1/graphql?documentId=a", "text/event-stream", nil),
      ("/v1/graphql?documentId=a", "text/html", nil),
      ("/v1/graphqls?documentId=a", "text/html", .rest), ("/v1/graphql", "text/html", nil),
      ("/", nil, .rest), ("/v1/g", nil, .rest),
    ] as [(String, String?, ReadForm?)])
  func formFollowsTargetAndAccept(target: String, accept: String?, form: ReadForm?) throws {
    let fields = accept.map { [("Accept", $0)] } ?? []
    #expect(ReadForm(of: try head("GET", target, fields)) == form)
  }
}
