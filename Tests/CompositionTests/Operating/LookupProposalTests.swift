import Testing

@testable import Composition

/// The lookups that `larder check` proposes.
struct LookupProposalTests {
  @Test("Queries for one entity that have no lookup are listed with the one they could have")
  func listsProposals() throws {
    let folder = try OperationsFolder(
      schema: """
        type Query { film(id: ID!): Film films: [Film!]! }
        type Film { id: ID! title: String }
        """,
      operations: [
        "a.graphql": """
        query Film($id: ID!) { film(id: $id) { id title } }
        query Known($id: ID!) @cache(lookup: "Film:$id") { film(id: $id) { id } }
        query Films { films { id } }
        """
      ])
    let text = CheckReport(try folder.open("", upstream: "")).text
    #expect(
      text.contains(
        """
        Could be answered from stored entities while upstream is unavailable, with:
          Film: @cache(lookup: "Film:$id")
        """), "\(text)")
    #expect(!text.contains("Known: @cache"))
    #expect(!text.contains("Films: @cache"))
  }
}
