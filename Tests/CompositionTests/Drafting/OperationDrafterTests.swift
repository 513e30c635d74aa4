import Foundation
import GraphQL
import Testing
import Upstream

@testable import Composition

/// Operations that are drafted from schemas, each checked as `larder check` checks it.
struct OperationDrafterTests {
  private static func drafts(_ sdl: String) throws -> OperationDrafter.Result {
    OperationDrafter.draft(try Schema.build(sdl: sdl))
  }

  /// The drafts by name, after a check that leaves none of them out.
  private static func checked(_ sdl: String) throws -> [String: DraftedOperation] {
    let drafts = try drafts(sdl).operations
    let check = try DraftCheck(
      drafts, fragments: [:], schema: SourceFile(path: "schema.graphql", text: sdl),
      settings: RegistrySettings())
    #expect(check.omitted == [])
    return Dictionary(uniqueKeysWithValues: check.operations.map { ($0.name, $0) })
  }

  /// The text without comments and description.
  private static func plain(_ operation: DraftedOperation?) -> String {
    (operation?.text ?? "").split(separator: "\n")
      .filter { !$0.hasPrefix("#") && !$0.hasPrefix("\"") }.joined(separator: "\n")
  }

  private static let films = """
    type Query {
      "One film."
      film(id: ID!): Film
      films(limit: Int, after: String, genre: Genre = DRAMA): [Film!]!
      count: Int!
    }
    type Film {
      title: String!  id: ID!  old: String @deprecated  poster(size: Int!): String
      cast(first: Int): [Person!]!  sequels: [Film!]!  director: Person  studio(in: ID!): Person
    }
    type Person { id: ID!  name: String!  films(limit: Int): [Film!]! }
    enum Genre { DRAMA COMEDY }
    """

  @Test(
    "A field with a key becomes a path, with all fields of the item and bounded lists within it")
  func draftsItems() throws {
    let film = try Self.checked(Self.films)["Film"]
    #expect(
      Self.plain(film) == """
        query Film($id: ID!)
        @route(path: "/films/{id}")
        @cache(maxAge: 60, staleWhileRevalidate: 600, staleIfError: 86400, lookup: "Film:$id") {
          film(id: $id) {
            id
            title
            cast(first: 10) {
              id
              name
            }
            director {
              id
              name
            }
          }
        }
        """)
    #expect(film?.text.contains("\"\"\"One film.\"\"\"\nquery Film") == true)
    #expect(
      film?.text.contains("# Lists left out; select them with a limit, if they have one: sequels")
        == true)
  }

  @Test("Fields of the result that are left out are named in comments, with the reason")
  func namesOmittedFields() throws {
    let film = try #require(try Self.checked(Self.films)["Film"])
    #expect(
      OmittedSelection.lines(film.omitted) == [
        "Left out because they are deprecated: old",
        "Left out because of required arguments; select them with values: poster(size), studio(in)",
        "Lists left out; select them with a limit, if they have one: sequels",
      ])
    for line in OmittedSelection.lines(film.omitted) { #expect(film.text.contains("# \(line)\n")) }
    // No field is missing from both the selection and the comments.
    let rest = try Self.checked(
      """
      type Query { film: Film any: Any all: Many }
      type Film { id: ID! \((0..<70).map { "f\($0): Int" }.joined(separator: " ")) closed: Closed box: Box }
      type Closed { only(key: ID!): Int }
      type Box { \((0..<8).map { "b\($0): Int" }.joined(separator: " ")) }
      union Any = Film | Other
      type Other { f0: String f1: Int }
      interface Many { id: ID! }
      \((0..<13).map { "type M\($0) implements Many { id: ID! own: Int }" }.joined(separator: "\n"))
      """)
    let drafted = try #require(rest["Film"])
    let sizes = drafted.omitted.filter { $0.reason == .size }.map(\.field)
    #expect(sizes == (59..<70).map { "f\($0)" } + ["box.b6", "box.b7"])
    #expect(drafted.omitted.contains(OmittedSelection(field: "closed", reason: .nothingWithin)))
    #expect(
      rest["Any"]?.omitted.filter { $0.reason == .otherType }.map(\.field) == ["Other.f0"])
    #expect(rest["All"]?.omitted.map(\.field) == (0..<13).map { "... on M\($0)" })
  }

  @Test("A line names twenty fields at most, and says how many more there are")
  func boundsLines() {
    let fields = (0..<25).map { OmittedSelection(field: "f\($0)", reason: .size) }
    let lines = OmittedSelection.lines(fields + fields)
    #expect(lines.count == 1)
    #expect(lines.first?.hasSuffix("f18, f19, and 5 more") == true)
  }

  @Test("A description with a line like the operation's does not take its directives")
  func descriptionsStayWhole() throws {
    let example = "query Film {\n  film(id: 1) { id }\n}"
    let sdl = Self.films.replacing("\"One film.\"", with: "\"\"\"\n\(example)\n\"\"\"")
    let text = try #require(try Self.checked(sdl)["Film"]?.text)
    let parts = text.components(separatedBy: "\"\"\"")
    try #require(parts.count == 3, "\(text)")
    #expect(parts[1].contains("query Film {") && !parts[1].contains("@route"))
    #expect(parts[2].contains("query Film($id: ID!)\n@route(path: \"/films/{id}\")"))
    // The advice is not a comment directly above the operation, which would describe it.
    #expect(parts[0].hasSuffix("\n\n"))
  }

  @Test("A list has its path, a limit and no lists within it")
  func draftsLists() throws {
    let films = try Self.checked(Self.films)["Films"]
    #expect(
      Self.plain(films) == """
        query Films($limit: Int = 20, $after: String, $genre: Genre = DRAMA)
        @route(path: "/films")
        @cache(maxAge: 60, staleWhileRevalidate: 600, staleIfError: 86400) {
          films(limit: $limit, after: $after, genre: $genre) {
            id
            title
            director {
              id
              name
            }
          }
        }
        """)
    #expect(films?.sizeVariable == "limit")
    #expect(films?.needsNoVariable == true)
    #expect(try Self.checked(Self.films)["Count"]?.route == "/count")
  }

  @Test("Connections and other pages are selected through to their elements")
  func draftsPages() throws {
    let drafts = try Self.checked(
      """
      type Query {
        films(first: Int!, last: Int, before: String): FilmConnection!
        people(page: Int): PersonPage!
      }
      type FilmConnection { edges: [FilmEdge!]! pageInfo: PageInfo! totalCount: Int! }
      type FilmEdge { cursor: String! node: Film! }
      type PageInfo { hasNextPage: Boolean! endCursor: String }
      type Film { id: ID! title: String! }
      type PersonPage { items: [Person!]! total: Int! }
      type Person { id: ID! name: String! }
      """)
    #expect(
      Self.plain(drafts["Films"]) == """
        query Films($first: Int! = 20)
        @route(path: "/films")
        @cache(maxAge: 60, staleWhileRevalidate: 600, staleIfError: 86400) {
          films(first: $first) {
            totalCount
            edges {
              cursor
              node {
                id
                title
              }
            }
            pageInfo {
              hasNextPage
              endCursor
            }
          }
        }
        """)
    #expect(drafts["Films"]?.typeName == "Film")
    #expect(drafts["People"]?.text.contains("items {\n      id\n      name\n    }") == true)
  }

  @Test("Members of a union whose types differ are not selected together")
  func draftsUnions() throws {
    let search = try Self.checked(
      """
      type Query { search(text: String!): [Found!]! node(id: ID!): Node }
      union Found = Film | Person | Empty
      interface Node { id: ID! }
      type Film implements Node { id: ID! name: String! year: Int }
      type Person implements Node { id: ID! name: String year: Int }
      type Empty { inner: Person }
      """)
    #expect(
      Self.plain(search["Search"]).contains(
        """
          search(text: $text) {
            __typename
            ... on Film {
              id
              name
              year
            }
            ... on Person {
              id
              year
            }
          }
        """))
    #expect(search["Node"]?.route == "/nodes/{id}")
    #expect(search["Node"]?.text.contains("... on Person {\n      year\n    }") == true)
  }

  @Test(
    "Arguments that identify an item are in its path, others in the query string",
    arguments: [
      ("book(isbn: String!): Book", "/books/{isbn}"),
      ("book(title: String!): Book", "/books/{title}"),
      ("book(id: ID): Book", "/books/{id}"), ("book(number: Int!): Book", "/book"),
      ("book(shop: ID!, isbn: String!): Book", "/books/{shop}/{isbn}"),
      ("bookOfMonth(month: Int!): Book", "/book-of-month"),
      ("books(shopId: ID!, limit: Int): [Book!]!", "/books/{shopId}"),
      ("booksByShop(shop: [ID!]!): [Book!]!", "/books-by-shop"),
      ("book(by: Key!): Book", "/book"), ("stream: [Book!]!", nil), ("me: Book", "/me"),
      ("title(id: ID!): String", "/title/{id}"),
    ] as [(String, String?)])
  func routes(field: String, route: String?) throws {
    let drafts = try Self.checked(
      """
      type Query { \(field) }
      input Key { id: ID isbn: String }
      type Book { isbn: String! title: String! number(of: Int!): Int }
      """)
    #expect(drafts.count == 1)
    #expect(drafts.values.first?.route == route)
  }

  @Test("Paths and names that would be the same for several fields are told apart")
  func resolvesCollisions() throws {
    let drafts = try Self.checked(
      """
      type Query {
        film(id: ID!): Film  getFilm(key: ID!): Film  films: [Film!]!  allFilms: [Film!]!
        Film: Int  film_: Int
      }
      type Mutation { film(id: ID!): Film }
      type Subscription { films: Film }
      type Film { id: ID! }
      """)
    #expect(
      drafts.mapValues(\.route) == [
        "Film": "/films/{id}", "GetFilm": "/get-film/{key}", "Films": "/films",
        "AllFilms": "/all-films", "Film2": "/film", "Film3": nil, "FilmMutation": "/film",
        "FilmsSubscription": nil,
      ])
    #expect(Set(drafts.values.map { $0.fileName.lowercased() }).count == drafts.count)
  }

  @Test(
    "Fields that cannot be mapped are left out with the reason",
    arguments: [
      (#"a: Int @deprecated(reason: "Use b.")"#, "it is deprecated: Use b."),
      ("a(file: Upload!): Int", "the argument file is a file upload"),
      ("a(input: WithFile!): Int", "the argument input is a file upload"),
      ("a: Closed", "no field of Closed can be selected without arguments"),
      ("_service: Int", "it belongs to Apollo Federation"),
    ])
  func omits(field: String, reason: String) throws {
    let result = try Self.drafts(
      """
      type Query { b: Int \(field) }
      scalar Upload
      input WithFile { inner: Inner }
      input Inner { file: Upload }
      type Closed { only(key: ID!): Int }
      """)
    #expect(result.omitted.map(\.reason) == [reason])
    #expect(result.operations.map(\.name) == ["B"])
  }

  @Test(
    "Optional conditions without an end, deprecated arguments and uploads are left out of the variables"
  )
  func leavesOutArguments() throws {
    let drafts = try Self.checked(
      """
      type Query {
        films(
          where: Condition, indirect: Outer, plain: Plain, old: Int @deprecated, file: Upload,
          from: Int!
        ): [Int!]!
      }
      scalar Upload
      input Condition { and: [Condition!] id: ID }
      input Outer { where: Condition }
      input Plain { year: Int }
      """)
    let films = try #require(drafts["Films"])
    #expect(films.text.contains("query Films($plain: Plain, $fromValue: Int!)"))
    #expect(films.text.contains("films(plain: $plain, from: $fromValue)"))
    #expect(films.text.contains("clients need: where: Condition, indirect: Outer, file: Upload"))
    #expect(!films.needsNoVariable)
  }

  @Test("Mutations select the lists of their payloads, and say what the queue can know")
  func draftsMutations() throws {
    let drafts = try Self.checked(
      """
      type Query { a: Int }
      type Mutation { rate(id: ID!, stars: Int!): Film  add(input: New!): Payload! }
      input New { title: String! parent: New }
      type Payload { film: Film errors: [Fault!]! }
      type Fault { message: String! }
      type Film { id: ID! stars: Int }
      """)
    #expect(
      Self.plain(drafts["Rate"]).hasPrefix(
        "mutation Rate($id: ID!, $stars: Int!)\n@route(path: \"/rate\") {"))
    #expect(drafts["Add"]?.text.contains("errors {\n      message\n    }") == true)
  }

  @Test("The settings file names the root fields without an operation in comments alone")
  func namesOmittedRootFields() throws {
    var draft = SettingsDraft(
      url: "https://a.example/g", headerNames: [], dialect: nil, listen: "127.0.0.1:8080")
    let plain = draft.text
    draft.omitted = (0..<102).map {
      OmittedField(kind: .query, field: "f\($0)", reason: "one line\nlisten: x")
    }
    let added = try #require(draft.text.hasPrefix(plain) ? draft.text.dropFirst(plain.count) : nil)
    let lines = added.split(separator: "\n")
    #expect(lines.allSatisfy { $0.hasPrefix("#") })
    #expect(lines.count == 102)
    #expect(lines.last == "#   … and 2 more")
    #expect(lines.contains("#   query f0: one line listen: x"))
  }

  @Test("A vendor is recognised by its address or its schema")
  func recognisesVendors() throws {
    let plain = try Schema.build(sdl: "type Query { a: Int }")
    let hasura = try Schema.build(sdl: "schema { query: query_root } type query_root { a: Int }")
    let appsync = "https://abc.appsync-api.eu-central-1.amazonaws.com/graphql"
    #expect(SettingsDraft.dialect(url: "https://a.example/graphql", schema: plain) == nil)
    #expect(SettingsDraft.dialect(url: "https://a.example/graphql", schema: hasura) == "hasura")
    #expect(SettingsDraft.dialect(url: appsync, schema: plain) == "appsync")
    #expect(
      SettingsDraft.dialect(url: "https://a.example/x.appsync-api.y", schema: plain) == nil)
  }

  @Test(
    "The settings that are written are valid, whatever the address has",
    arguments: [
      "http://127.0.0.1:4000/graphql", "https://a.example/g?key=a&b=[1]", "http://[::1]:80/a:",
      "http+unix://%2Frun%2Fapi.sock/graphql", "https://a.example/{x}'\",!*|>@`",
    ])
  func writesSettings(url: String) throws {
    for listen in ["127.0.0.1:8080", ":8080", "[::1]:8080"] {
      let draft = SettingsDraft(url: url, headerNames: [], dialect: nil, listen: listen)
      let loaded = try Settings.load(
        from: SettingsSources(file: .init(name: "larder.yaml", text: draft.text)))
      #expect(loaded.settings.listen.map(\.description) == [listen])
    }
    let draft = SettingsDraft(
      url: url, headerNames: ["Authorization", "X-Key"], dialect: "hasura", listen: "127.0.0.1:8080"
    )
    let loaded = try Settings.load(
      from: SettingsSources(file: .init(name: "larder.yaml", text: draft.text)))
    #expect(loaded.settings.upstream.url?.text == url)
    #expect(loaded.settings.upstream.dialect == .hasura)
    #expect(loaded.settings.upstream.headers.isEmpty)
    let example = SettingsDraft.headersExample(["Authorization", "X-Key"])
    let given = try Settings.load(
      from: SettingsSources(
        file: .init(name: "larder.yaml", text: draft.text),
        environment: [SettingsDraft.headersVariable: example]))
    #expect(given.settings.upstream.headers["x-key"]?.revealed == "VALUE")
  }
}
