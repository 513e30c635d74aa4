import LosslessJSON
import Model
import Testing
import Upstream

@testable import Generation

/// The description of what clients receive, compared with the plans that serve it.
struct InterfaceTests {
  private static func plain(_ type: ClientType) -> ClientType {
    switch type {
    case .nonNull(let inner), .list(let inner): plain(inner)
    default: type
    }
  }

  /// Compares the members of an object with those of the plan, and the types inside.
  private func compare(_ object: ClientObject, _ planned: ObjectSelection) {
    let shown = planned.fields.filter { !$0.isAdded }
    #expect(object.fields.map(\.name) == shown.map(\.responseName), "\(object.typeName)")
    for (field, selected) in zip(object.fields, shown) {
      guard case .object(let selection) = selected.value else { continue }
      switch Self.plain(field.type) {
      case .object(let inner):
        for planned in selection.types.values { compare(inner, planned) }
      case .choice(let choice):
        for planned in selection.types.values {
          let own = choice.variants.first { $0.typeName == planned.typename }
          compare(own ?? choice.general, planned)
        }
      default: Issue.record("\(field.name) has no members")
      }
    }
  }

  @Test("Responses have the members of the plans", arguments: ["films", "words"])
  func responsesAreThePlans(name: String) throws {
    let sample = try Sample(name)
    #expect(sample.interface.operations.count == sample.registry.operations.count)
    for described in sample.interface.operations {
      let operation = try #require(sample.registry.operation(named: described.name))
      let values = try JSONValue(
        parsing:
          #"{"id": "1", "text": "a", "stars": 1, "withCast": true, "more": true, "input": {"stars": 1}}"#
      )
      let known = Set(operation.variables.map(\.name))
      let variables = try operation.coerce(
        .value(.object((values.members ?? []).filter { known.contains($0.name) })))
      let planned = try #require(operation.selection(for: variables).single)
      compare(described.response, planned)
    }
  }

  private static let schema = """
    type Query { film: Film node: Node }
    interface Node { id: ID! }
    type Film implements Node { id: ID! title: String year: Int director: Person }
    type Person implements Node { id: ID! name: String }
    """

  @Test(
    "A member is conditional if some combination of conditions leaves it out",
    arguments: [
      ("title", false),
      ("title @include(if: $a)", true),
      ("title @skip(if: false)", false),
      ("title @include(if: $a) title", false),
      ("... @include(if: $a) { title }", true),
      ("...F @include(if: $a)", true),
      ("...F @include(if: $a) ...F", false),
      ("...F @include(if: $a) ...G", false),
    ])
  func conditionsAreSeen(selection: String, isConditional: Bool) throws {
    let sample = try Sample(
      schema: Self.schema,
      operations: [
        "query A($a: Boolean = true) { film { id \(selection) } node @include(if: $a) { id } } "
          + "fragment F on Film { title } fragment G on Film { ... on Node { ...F } }"
      ])
    let film = try #require(sample.interface.operations.first?.response.fields.first)
    guard case .object(let object) = Self.plain(film.type) else {
      Issue.record("film has no members")
      return
    }
    #expect(object.fields.first { $0.name == "title" }?.isConditional == isConditional)
  }

  @Test("What a conditional member has inside is unconditional, unless others add to it")
  func conditionsInsideAreSeen() throws {
    let sample = try Sample(
      schema: Self.schema,
      operations: [
        "query A($a: Boolean = true) { film @include(if: $a) { id } }",
        "query B($a: Boolean = true) { film { id } film @include(if: $a) { title } }",
      ])
    var members: [String] = []
    for operation in sample.interface.operations {
      for field in operation.response.fields {
        guard case .object(let object) = Self.plain(field.type) else { continue }
        members.append("\(field.name) \(field.isConditional)")
        members += object.fields.map { "\($0.name) \($0.isConditional)" }
      }
    }
    #expect(members == ["film true", "id false", "film false", "id false", "title true"])
  }

  @Test("Types that cannot be told apart are a fault with its place")
  func missingTypenameIsAFault() throws {
    let sample = try Sample(
      schema: Self.schema,
      operations: [
        "query A { node { id ... on Film { title } } }",
        "query B { node { kind: __typename ... on Film { title } } }",
        "query C { node { id } }",
      ])
    let faults = sample.interface.faults
    #expect(faults.count == 1)
    #expect(
      faults.first?.description.hasPrefix("0.graphql:1:16: fault: Node can be") == true, "\(faults)"
    )
    #expect(faults.first?.message.contains("select `__typename`") == true)
  }

  @Test("Scalars of unknown form are named")
  func unmappedScalarsAreNamed() throws {
    let sample = try Sample(
      schema:
        "type Query { a: Money b: DateTime c: JSON d(x: Offset): Int } scalar Money scalar DateTime "
        + "scalar JSON scalar Offset",
      operations: ["query A($x: Offset) { a b c d(x: $x) }"])
    #expect(CodeGenerator(sample.interface).unmappedScalars == ["Money", "Offset"])
    #expect(
      CodeGenerator(sample.interface, scalars: ["Money": .decimal, "Offset": .int])
        .unmappedScalars.isEmpty)
  }
}
