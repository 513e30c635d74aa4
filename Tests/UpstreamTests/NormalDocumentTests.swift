import GraphQL
import Testing

@testable import Upstream

/// The documents of GraphQL clients, and the ids of registered operations.
struct NormalDocumentTests {
  static let film = """
    query Film($id: ID!) {
      film(id: $id) {
        id
        ...B
        ...A
      }
    }

    fragment A on Film {
      year
    }

    fragment B on Film {
      title
    }
    """

  @Test("The id of an operation is the SHA-256 of its printed document with its fragments by name")
  func idIsTheDigestOfThePrintedDocument() throws {
    let operation = try Samples.operation(
      """
      # A film.
      query Film($id: ID!) @route(path: "/films/{id}") @cache(maxAge: 60) {
        film(id: $id) @authoritative { id, ...B ...A } }
      fragment B on Film { title } fragment Other on Film { rating }
      "Its year." fragment A on Film { year }
      """)
    #expect(operation.identity.id == DocumentDigest.hexadecimal(of: Self.film))
    #expect(operation.identity.normalDigest == operation.identity.id)
    #expect(operation.identity.textDigest == nil)
    #expect(operation.identity.byteCount == Self.film.utf8.count)
  }

  /// The example of the documentation of automatic persisted queries.
  @Test("A digest is the one that clients compute")
  func digestsAreThoseOfClients() throws {
    #expect(
      DocumentDigest.hexadecimal(of: "{__typename}")
        == "ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38")
  }

  @Test(
    "Texts that differ only in form have one normal form",
    arguments: [
      film, film + "\n",
      film.replacing("\n", with: " "),
      film.replacing("\n", with: "\r\n"),
      film.replacing("  ", with: "\t") + "# the end",
      "fragment B on Film{title}query Film($id:ID!,){film(id:$id){id...B...A}}fragment A on Film{year}",
      film + " fragment Unused on Film { rating }",
      film.replacing("query Film($id: ID!)", with: "query Film($id: ID!) @cache(maxAge: 1)"),
      "\u{FEFF}" + film,
    ])
  func normalFormIgnoresLayout(text: String) throws {
    let normal = try NormalDocument(parsing: text, operationName: nil)
    #expect(normal.text == Self.film)
    #expect(normal.name == "Film" && normal.kind == .query)
  }

  @Test(
    "Texts that can have other results have other normal forms",
    arguments: [
      film.replacing("year", with: "rating"),
      film.replacing("    id\n", with: ""),
      film.replacing("...B\n    ...A", with: "...A\n    ...B"),
      film.replacing("year", with: "y: year"),
      film.replacing("year", with: "year @include(if: true)"),
      film.replacing("$id: ID!", with: "$id: ID! = \"1\""),
      film.replacing("query Film", with: "query Other"),
      film.replacing("query Film", with: "query"),
      film.replacing("query Film", with: "subscription Film"),
      film.replacing("    id\n", with: "    id\n    __typename\n"),
    ])
  func normalFormKeepsMeaning(text: String) throws {
    #expect(try NormalDocument(parsing: text, operationName: nil).text != Self.film)
  }

  @Test("Long chains and circles of fragments are read as they are")
  func readsChainsOfFragments() throws {
    let count = 10_000
    let chain = (0..<count).map { "fragment f\($0) on Film { ...f\(($0 + 1) % count) }" }
    let normal = try NormalDocument(
      parsing: "query A { ...f0 } " + chain.joined(separator: " "), operationName: nil)
    #expect(normal.text.split(separator: "fragment ").count == count + 1)
  }

  @Test("The operation's name selects one of several")
  func nameSelectsAnOperation() throws {
    let text = "query A { version } mutation B { deleteFilm(id: 1) }"
    #expect(try NormalDocument(parsing: text, operationName: "B").kind == .mutation)
    #expect(throws: NormalDocument.Fault.ambiguous) {
      try NormalDocument(parsing: text, operationName: nil)
    }
    #expect(throws: NormalDocument.Fault.missing("C")) {
      try NormalDocument(parsing: text, operationName: "C")
    }
    #expect(throws: NormalDocument.Fault.empty) {
      try NormalDocument(parsing: "fragment A on Film { id }", operationName: nil)
    }
    #expect(try NormalDocument(parsing: "{ version }", operationName: nil).name == nil)
  }

  @Test(
    "A text that does not parse, or is far too long or deep, is refused with its place",
    arguments: [
      ("query {", "line 1"), ("", ""), ("query A {\n  $ }", "line 2"),
      (String(repeating: "{a", count: 5_000), "deeper"),
      ("{" + String(repeating: "a ", count: 200_000) + "}", ""),
    ])
  func refusesUnreadableTexts(text: String, word: String) throws {
    let fault = #expect(throws: NormalDocument.Fault.self) {
      try NormalDocument(parsing: text, operationName: nil)
    }
    guard case .syntax(let message)? = fault else {
      Issue.record("\(String(describing: fault))")
      return
    }
    #expect(message.contains(word), "\(message)")
  }
}
