import Foundation
import Testing
import Upstream

@testable import Generation

/// What generated Swift says of the entity that answers a query.
struct EntityLookupTests {
  private static let schema = """
    type Query {
      film(id: ID!, lang: String = "en"): Film
      filmById(filmId: ID!): Film
      filmWhere(where: FilmKey!): Film
      films(id: ID!): [Film!]!
      node(id: ID!): Node
      priceWhere(where: PriceKey!): Price
    }
    input FilmKey { id: ID! }
    input PriceKey { cinema: ID! day: Int! }
    interface Node { id: ID! label: String }
    type Film implements Node {
      id: ID! label: String title: String director: Person about: Node cast: [Person!]! tags: [String!]
      poster(size: Int): String crew: Crew links: [Node!]!
    }
    type Person implements Node { id: ID! label: String name: String! }
    type Crew { leads: [Person!]! writer: Person }
    type Price @key(fields: "cinema day") { cinema: ID! day: Int! amount: Int }
    directive @key(fields: String!) on OBJECT
    """

  private static func lookup(_ query: String) throws -> ClientLookup? {
    try #require(try Sample(schema: schema, operations: [query]).interface.operations.first).lookup
  }

  @Test("A selection has aliases, conditions, references, lists and types as entities have them")
  func selectionIsWritten() throws {
    let sample = try Sample(
      schema: Self.schema,
      operations: [
        """
        query Film($id: ID!, $all: Boolean = true, $short: Boolean!) {
          one: film(id: $id) {
            kind: __typename
            name: title @skip(if: $short)
            ... @include(if: $all) { director { name } tags @skip(if: $short) }
            about { __typename ... on Film { title } ... on Node { ...L } }
            crew { leads { id } }
            poster(size: 3) @include(if: $short)
          }
        }
        fragment L on Node { label }
        """
      ])
    let files = try sample.files(.swift)
    let text = try #require(files["FilmQuery.swift"])
    let expected = """
        public static let entityLookup: EntityLookup? = EntityLookup(
          "Film", key: ["id"], keyFields: ["id"], [
            .object("one", [
              .on(["Film"], [
                .typename("kind"),
                .leaf("name", stored: "title", if: [.skip("short")]),
                .object("director", if: [.include("all", byDefault: true)], [
                  .on(["Person"], [
                    .leaf("name"),
                  ]),
                ]),
                .leaf("tags", if: [.include("all", byDefault: true), .skip("short")]),
                .object("about", [
                  .on(["Film"], [
                    .typename("__typename"),
                    .leaf("title"),
                    .leaf("label"),
                  ]),
                  .on(["Person"], [
                    .typename("__typename"),
                    .leaf("label"),
                  ]),
                ]),
                .object("crew", [
                  .on(["Crew"], [
                    .object("leads", [
                      .on(["Person"], [
                        .leaf("id"),
                      ]),
                    ]),
                  ]),
                ]),
                .unknown("poster", if: [.include("short")]),
              ]),
            ]),
          ]
        )
      """
    let start = try #require(text.range(of: "  public static let entityLookup"))
    let end = try #require(text.range(of: "\n  )\n", range: start.lowerBound..<text.endIndex))
    #expect(String(text[start.lowerBound..<end.upperBound]) == expected + "\n", "\(text)")
    try SwiftCompilerTests.expectCompiles(files)
    try expectTypeScript(of: sample)
  }

  private func expectTypeScript(of sample: Sample) throws {
    let text = try #require(try sample.files(.typescript)["larder.ts"])
    let expected = """
        lookup: {type: "Film", key: ["id"], keyFields: ["id"], fields: [
          {name: "one", on: [
            {types: ["Film"], fields: [
              {name: "kind", typename: null},
              {name: "name", if: [["short", false]], stored: "title"},
              {name: "director", if: [["all", true, true]], on: [
                {types: ["Person"], fields: [
                  {name: "name"},
                ]},
              ]},
              {name: "tags", if: [["all", true, true], ["short", false]]},
              {name: "about", on: [
                {types: ["Film"], fields: [
                  {name: "__typename", typename: null},
                  {name: "title"},
                  {name: "label"},
                ]},
                {types: ["Person"], fields: [
                  {name: "__typename", typename: null},
                  {name: "label"},
                ]},
              ]},
              {name: "crew", on: [
                {types: ["Crew"], fields: [
                  {name: "leads", on: [
                    {types: ["Person"], fields: [
                      {name: "id"},
                    ]},
                  ]},
                ]},
              ]},
              {name: "poster", if: [["short", true]], unknown: true},
            ]},
          ]},
        ]},
      """
    #expect(text.contains(expected), "\(text)")
  }

  @Test(
    "The key is the variable that names the entity",
    arguments: [
      ("($id: ID!) { film(id: $id) { id } }", "Film id"),
      ("($f: ID!) { filmById(filmId: $f) { id } }", "Film f"),
      (
        #"($w: FilmKey!) @cache(lookup: "Film:$w.id") { filmWhere(where: $w) { id } }"#,
        "Film w.id"
      ),
      (
        #"($k: PriceKey!) @cache(lookup: "Price:$k") { priceWhere(where: $k) { amount } }"#,
        "Price k"
      ),
      (#"($id: ID!) @cache(lookup: "Person:$id") { node(id: $id) { label } }"#, "Person id"),
      // A declared key is believed, as the service does.
      (
        #"($id: ID!, $o: String!) @cache(lookup: "Film:$o") { film(id: $id, lang: $o) { id } }"#,
        "Film o"
      ),
      ("($id: ID!) { films(id: $id) { id } }", nil),
      ("($id: ID!) { a: film(id: $id) { id } b: film(id: $id) { title } }", nil),
      ("($id: ID!, $a: Boolean!) { film(id: $id) @include(if: $a) { id } }", nil),
      (#"{ film(id: "f1") { id } }"#, nil),
    ])
  func keyIsRead(query: String, expected: String?) throws {
    let lookup = try Self.lookup("query Q\(query)")
    #expect(lookup.map { "\($0.type) \($0.key.joined(separator: "."))" } == expected)
  }

  @Test(
    "A query that always selects what entities do not have is left as it is",
    arguments: [
      "cast { id }", "links { id }", "poster(size: 3)", "director { id } cast { id }",
      "title @include(if: $a) title @skip(if: $b)",
    ])
  func unanswerableIsLeftOut(selection: String) throws {
    let conditions = selection.contains("$") ? ", $a: Boolean!, $b: Boolean!" : ""
    let query = "query Q($id: ID!\(conditions)) { film(id: $id) { \(selection) } }"
    #expect(try Self.lookup(query) == nil)
  }

  @Test("A type of a position that is never known is left out, and the others stay")
  func unknownTypesAreLeftOut() throws {
    let lookup = try #require(
      try Self.lookup(
        "query Q($id: ID!) { film(id: $id) { about { __typename ... on Film { cast { id } } } } }"))
    guard case .objects(_, let films) = lookup.selection[0].value,
      case .objects(_, let about)? = films.first?.fields.first?.value
    else {
      Issue.record("\(lookup)")
      return
    }
    #expect(about.map(\.types) == [["Person"]])
  }

  @Test("Types with the same selection are together, also under interfaces")
  func typesAreGrouped() throws {
    let lookup = try #require(
      try Self.lookup("query Q($id: ID!) { film(id: $id) { about { label } } }"))
    guard case .objects(_, let films) = lookup.selection[0].value,
      case .objects(_, let about)? = films.first?.fields.first?.value
    else {
      Issue.record("\(lookup)")
      return
    }
    #expect(about.map { $0.types.sorted() } == [["Film", "Person"]])
  }
}
