import TestSupport
import Testing

extension Ways {
  /// `/v1/graphql` with clients of other make.
  struct GraphQLPeerTests {
    private static let operations = """
      query One($id: ID!) @cache(maxAge: 60, scope: PUBLIC) { film(id: $id) { id title } }
      query Mine { me { id name } }
      mutation Rename($id: ID!, $title: String!) {
        updateFilm(id: $id, patch: {title: $title}) { id title }
      }
      """

    @Test(
      "A GraphQL client works over HTTP and WebSocket",
      .enabled(if: PythonPeer.environment != nil, "\(PythonPeer.whyNot)"))
    func servesAnotherClient() async throws {
      let larder = try await RunningLarder.start(operations: ["one": Self.operations])
      let said = try await PythonPeer.run("graphql/clients.py", ["\(larder.port)"])
      #expect(said == "done\n")
      await larder.stop()
    }
  }
}
