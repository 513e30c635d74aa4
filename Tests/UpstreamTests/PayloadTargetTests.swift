import LosslessJSON
import Model
import Testing

@testable import Upstream

/// Targets of `@effects` that the response names.
struct PayloadTargetTests {
  private static let schema =
    Samples.schema + """

      extend type Subscription {
        filmsDeleted: [Gone!]
        genreChanged: Genre
        nodeDeleted: SearchResult
      }
      type Gone { id: ID!  ids: [[ID!]] }
      extend type Mutation { removeFilms: [Gone!] }
      """

  private func operation(_ text: String) throws -> RegisteredOperation {
    try Samples.operation(text, schema: Self.schema)
  }

  private func normalised(
    _ operation: RegisteredOperation, _ response: String
  ) throws -> NormalisedResponse {
    Answers.normalise(try Answers.answer(response), operation).answer
  }

  private static func films(_ ids: String...) -> [EntityKey] {
    ids.map { EntityKey(type: "Film", key: $0) }
  }

  @Test(
    "The entities at a path are found, through aliases, lists and fragments",
    arguments: [
      (
        #"subscription A @effects(deletes: ["Film:{gone.id}"]) { gone: filmsDeleted { id } }"#,
        #"{"data":{"gone":[{"id":"1"},{"id":"2"}]}}"#, ["1", "2"]
      ),
      (
        #"subscription A @effects(deletes: ["Film:{filmsDeleted.ids}"]) { filmsDeleted { ids } }"#,
        #"{"data":{"filmsDeleted":[{"ids":[["1"],["2","3"]]},{"ids":null}]}}"#, ["1", "2", "3"]
      ),
      (
        #"subscription A @effects(deletes: ["Film:{filmChanged}"]) { filmChanged(id: 9) { id title } }"#,
        #"{"data":{"filmChanged":{"id":"9","title":"x"}}}"#, ["9"]
      ),
      (
        #"subscription A @effects(deletes: ["Film:{filmsDeleted.id}"]) { filmsDeleted { ...G } } fragment G on Gone { ... { id } }"#,
        #"{"data":{"filmsDeleted":[{"id":"7"}]}}"#, ["7"]
      ),
      (
        #"subscription A @effects(deletes: ["Film:{filmsDeleted.id}"]) { filmsDeleted { id } }"#,
        #"{"data":{"filmsDeleted":null}}"#, []
      ),
    ])
  func findsEntities(text: String, response: String, ids: [String]) throws {
    let answer = try normalised(try operation(text), response)
    #expect(answer.deletions.map(\.key) == ids)
    #expect(answer.deletions.allSatisfy { $0.type == "Film" })
    #expect(answer.result == nil)
  }

  @Test("A composite key is read from the object at the path")
  func readsCompositeKey() throws {
    let operation = try operation(
      #"""
      subscription A @effects(updates: ["Genre:{genreChanged}"], invalidates: ["Film"]) {
        genreChanged { code lang label }
      }
      """#)
    let answer = try normalised(
      operation, #"{"data":{"genreChanged":{"code":"noir","lang":"de","label":"x"}}}"#)
    #expect(
      answer.invalidations == [
        .entity(EntityKey(type: "Genre", fields: ["noir", "de"])), .type("Film"),
      ])
    #expect(answer.entities.map(\.key) == [EntityKey(type: "Genre", fields: ["noir", "de"])])
    #expect(!answer.marksPublicCopies)
  }

  @Test("An event with errors deletes nothing: what it names becomes due")
  func eventWithErrorsDeletesNothing() throws {
    let operation = try operation(
      #"subscription A @effects(deletes: ["Film:{filmsDeleted.id}"]) { filmsDeleted { id } }"#)
    let partial = try normalised(
      operation,
      #"{"data":{"filmsDeleted":[{"id":"1"}]},"errors":[{"message":"x","path":["filmsDeleted",0,"id"]}]}"#
    )
    #expect(partial.deletions.isEmpty)
    #expect(partial.invalidations == [.entity(EntityKey(type: "Film", key: "1"))])
    let failed = try normalised(operation, #"{"errors":[{"message":"x"}]}"#)
    #expect(failed.deletions.isEmpty && failed.invalidations.isEmpty && failed.entities.isEmpty)
    let errorsOnly = try normalised(operation, #"{"data":null,"errors":[{"message":"x"}]}"#)
    #expect(errorsOnly.invalidations.isEmpty)
  }

  @Test("A mutation whose outcome is unknown makes the whole type due")
  func unknownOutcomeMakesTypeDue() throws {
    let operation = try operation(
      #"mutation A @effects(deletes: ["Film:{removeFilms.id}"]) { removeFilms { id } }"#)
    #expect(operation.affectedTargets(with: .none) == [.type("Film")])
    let answer = try normalised(operation, #"{"data":{"removeFilms":[{"id":"4"}]}}"#)
    #expect(answer.deletions == Self.films("4"))
    #expect(operation.effects.deletes.map(\.description) == ["Film:{removeFilms.id}"])
    #expect(operation.effects.deletes.map { operation.resolve($0, with: .none) } == [nil])
  }

  @Test("A subscription can be shared by all callers or by a claim")
  func readsSharing() throws {
    let open = try operation(
      "subscription A @cache(scope: PUBLIC) { filmChanged(id: 1) { id } }")
    #expect(open.cache.sharing == .public && !open.sendsCallersCredential && open.access.isOpen)
    let team = try operation(
      #"subscription A @cache(scope: CLAIM, claim: "org") { filmChanged(id: 1) { id } }"#)
    #expect(team.claim == "org" && !team.access.isOpen)
  }
}
