import LosslessJSON
import Model
import Testing

@testable import Upstream

/// Registries of two upstreams.
struct SeveralUpstreamsTests {
  private static let films = """
    type Query { film(id: ID!): Film  any: [Thing]  viewer: User }
    type Mutation { rate(id: ID!): Film }
    union Thing = Film | User
    type Film { id: ID!  title: String  poster: Image  director: User }
    type User { id: ID!  name: String  avatar: Image }
    type Image { url: String }
    """
  private static let shop = """
    type Query { film(id: ID!): Film  any: [Thing]  offer(id: ID!): Offer  me: User }
    type Mutation { buy(offer: ID!, film: ID!): Offer }
    union Thing = Film | Offer
    type Film { id: ID!  sku: String  picture: Image  offers: [Offer!] }
    type Offer { id: ID!  filmId: ID!  price: Int }
    type User { id: ID!  email: String  avatar: String }
    type Image { url: String }
    """

  struct Part {
    var operations: String
    var renamed: [String: String] = [:]
    var shared: Set<String> = []
    var keys: [String: [String]] = [:]
    var schema: String?
  }

  private func load(films: Part, shop: Part) -> LoadedRegistry {
    OperationRegistry.load(
      [("films", films, Self.films), ("shop", shop, Self.shop)].map { name, part, schema in
        UpstreamSources(
          files: [SourceFile(path: "operations/\(name)/all.graphql", text: part.operations)],
          schemaSources: [SourceFile(path: "\(name).graphql", text: part.schema ?? schema)],
          settings: RegistrySettings(
            keys: part.keys, upstream: UpstreamName(name), section: "upstreams.\(name)",
            storedTypes: StoredTypeNames(part.renamed), sharedTypes: part.shared))
      })
  }

  private func registry(
    films: Part, shop: Part, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> OperationRegistry {
    let loaded = load(films: films, shop: shop)
    for finding in loaded.faults {
      Issue.record(Comment(rawValue: finding.report), sourceLocation: sourceLocation)
    }
    return try #require(loaded.registry, sourceLocation: sourceLocation)
  }

  // MARK: Merging

  @Test("Each operation knows its upstream, and the catalogue has the types of all")
  func mergesDistinctTypes() throws {
    let registry = try registry(
      films: Part(operations: "query Film($id: ID!) { film(id: $id) { title } }"),
      shop: Part(operations: "query Offer($id: ID!) { offer(id: $id) { price filmId } }"))
    #expect(registry.operation(named: "Film")?.upstream == "films")
    #expect(registry.operation(named: "Offer")?.upstream == "shop")
    #expect(registry.catalogue.types.map(\.name) == ["Film", "Offer"])
    #expect(registry.upstreamsOfTypes == ["Film": ["films"], "Offer": ["shop"]])
  }

  @Test("Findings of all upstreams are reported at once")
  func reportsAllFindings() {
    let loaded = load(
      films: Part(operations: "query A { film(id: 1) { titel } }\nquery Same { viewer { name } }"),
      shop: Part(operations: "query B { offer(id: 1) { prize } }\nquery Same { me { email } }"))
    let texts = loaded.faults.map(\.description)
    #expect(loaded.registry == nil)
    #expect(texts.count == 3, "\(texts)")
    #expect(texts[0].hasPrefix("operations/films/all.graphql:1:25: fault: "))
    #expect(texts[1].hasPrefix("operations/shop/all.graphql:1:26: fault: "))
    #expect(texts[2].hasPrefix("operations/shop/all.graphql:2:7: fault: The upstream films has"))
  }

  @Test(
    "What cannot be merged is a fault",
    arguments: [
      (
        Part(operations: "query A { film(id: 1) { title } }"),
        Part(operations: "query B { film(id: 1) { sku } }"), "`upstreams.shop.types.Film.as`"
      ),
      (
        Part(operations: "query A { film(id: 1) { title } }", shared: ["Film"]),
        Part(operations: "query B { film(id: 1) { sku } }"), "both store entities"
      ),
      (
        Part(operations: "query A { viewer { avatar { url } } }", shared: ["User"]),
        Part(operations: "query B { me { avatar } }", shared: ["User"]), "The field avatar of User"
      ),
      (
        Part(operations: "query A { film(id: 1) { title } }", shared: ["Film"]),
        Part(
          operations: "query B { film(id: 1) { sku } }", shared: ["Film"],
          keys: ["Film": ["sku"]]), "where its key is id, and shop, where it is sku"
      ),
      (
        Part(operations: "query A { film(id: 1) { ...Card } } fragment Card on Film { title }"),
        Part(
          operations: "query B { offer(id: 1) { ...Card } } fragment Card on Offer { price }"),
        "both are views"
      ),
      (
        Part(operations: #"query A($id: ID!) @route(path: "/x/{id}") { film(id: $id) { title } }"#),
        Part(
          operations: #"query B($o: ID!) @route(path: "/x/{o}") { offer(id: $o) { price } }"#),
        "conflicts with the route of A of the upstream films ("
      ),
      (
        Part(operations: "query A { viewer { name } }"),
        Part(operations: "query B { me { email } }", renamed: ["Usr": "Customer"]),
        "upstreams.shop.types.Usr.as is set for an unknown type"
      ),
      (
        Part(operations: "query A { viewer { name } }"),
        Part(operations: "query B { offer(id: 1) { price } }", renamed: ["User": "Offer"]),
        "stores Offer and User under the one name Offer"
      ),
      (
        Part(
          operations: #"mutation A($id: ID!) @sync(verify: "B") { rate(id: $id) { title } }"#),
        Part(operations: "query B { offer(id: 1) { price } }"), "belongs to another"
      ),
      (
        Part(operations: "query A { viewer { name } }", keys: ["Ghost": ["id"]]),
        Part(operations: "query B { offer(id: 1) { price } }"), "types.Ghost.key"
      ),
    ] as [(Part, Part, String)])
  func refuses(films: Part, shop: Part, message: String) {
    let loaded = load(films: films, shop: shop)
    let texts = loaded.faults.map(\.description)
    #expect(loaded.registry == nil)
    #expect(texts.contains { $0.contains(message) }, "\(texts)")
  }

  @Test("A key in settings can name a type of either upstream")
  func readsKeysOfEither() throws {
    let keys = ["Offer": ["filmId"]]
    let registry = try registry(
      films: Part(operations: "query A { viewer { name } }", keys: keys),
      shop: Part(operations: "query B { offer(id: 1) { price } }", keys: keys))
    #expect(registry.catalogue.type(named: "Offer")?.keyFields == ["filmId"])
  }

  @Test("A shared type has the fields of both upstreams")
  func sharesTypes() throws {
    let registry = try registry(
      films: Part(operations: "query A { viewer { name } }", shared: ["User"]),
      shop: Part(operations: "query B { me { email } }", shared: ["User"]))
    let user = try #require(registry.catalogue.type(named: "User"))
    #expect(user.columns.map(\.name) == ["id", "email", "name"])
    #expect(
      registry.catalogue.shapes["User"]?.fields.keys.sorted() == ["email", "id", "name"])
    #expect(registry.upstreamsOfTypes["User"] == ["films", "shop"])
  }

  @Test("A type that no other upstream stores is warned of if it is declared shared")
  func warnsOfLoneShared() {
    let loaded = load(
      films: Part(operations: "query A { viewer { name } }", shared: ["User"]),
      shop: Part(operations: "query B { offer(id: 1) { price } }"))
    #expect(loaded.warnings.contains { $0.message.contains("types.User.shared has no effect") })
  }

  // MARK: Renaming

  private static let renaming = """
    query Disc($id: ID!) { film(id: $id) { __typename sku picture { __typename url } offers { price } } }
    query Things { any { __typename ... on Film { sku } ... on Offer { price } } }
    fragment DiscCard on Film { sku }
    mutation Buy($offer: ID!, $film: ID!) @effects(updates: ["Film:$film"], invalidates: ["User"]) {
      buy(offer: $offer, film: $film) { price }
    }
    """

  private func renamed() throws -> OperationRegistry {
    try registry(
      films: Part(
        operations: """
          query Film($id: ID!) { film(id: $id) { title } }
          query Viewer { viewer { name } }
          mutation Rate($id: ID!) @effects(invalidates: ["Disc", "Things"], updates: ["Disc:$id"]) {
            rate(id: $id) { title }
          }
          """),
      shop: Part(operations: Self.renaming, renamed: ["Film": "Disc", "Thing": "ShopThing"]))
  }

  @Test("A renamed type has its new name in the catalogue and in views")
  func renamesInCatalogue() throws {
    let registry = try renamed()
    #expect(registry.catalogue.types.map(\.name) == ["Disc", "Film", "Offer", "User"])
    #expect(registry.catalogue.possibleTypes["ShopThing"]?.sorted() == ["Disc", "Offer"])
    #expect(registry.catalogue.shapes["Disc"]?.fields["sku"] != nil)
    #expect(registry.views["DiscCard"]?.typeCondition == "Disc")
    #expect(registry.views["DiscCard"]?.selection.types["Disc"] != nil)
    #expect(registry.operation(named: "Disc")?.entityTypes == ["Disc", "Offer"])
    #expect(registry.operation(named: "Disc")?.lookupTypes == ["Disc"])
  }

  @Test("Documents sent upstream keep the type's own name")
  func sendsOwnName() throws {
    let things = try #require(try renamed().operation(named: "Things"))
    #expect(things.document.contains("... on Film"))
    #expect(!things.document.contains("Disc"))
  }

  @Test("Effects resolve to stored names, of other upstreams too")
  func resolvesEffects() throws {
    let registry = try renamed()
    let buy = try #require(registry.operation(named: "Buy"))
    let bought = try buy.coerce(.value(["offer": "o", "film": "f"]))
    #expect(
      buy.affectedTargets(with: bought)
        == [.entity(EntityKey(type: "Disc", key: "f")), .type("User")])
    let rate = try #require(registry.operation(named: "Rate"))
    let rated = try rate.coerce(.value(["id": "f"]))
    #expect(
      rate.affectedTargets(with: rated)
        == [.entity(EntityKey(type: "Disc", key: "f")), .type("Disc"), .operation("Things")])
  }

  @Test(
    "A renamed type is stored under its new name and rendered under its own",
    arguments: [
      (
        "Disc", #"{"id":"d"}"#,
        #"{"data":{"film":{"larder_Film_id":"d","__typename":"Film","sku":"s","picture":{"__typename":"Image","url":"u"},"offers":[{"larder_Offer_id":"o","price":1}]}}}"#,
        ["Disc:d", "Offer:o"],
        #"{"data":{"film":{"__typename":"Film","sku":"s","picture":{"__typename":"Image","url":"u"},"offers":[{"price":1}]}}}"#
      ),
      (
        "Things", "{}",
        #"{"data":{"any":[{"__typename":"Film","larder_Film_id":"d","sku":"s"},{"__typename":"Offer","larder_Offer_id":"o","price":1},null]}}"#,
        ["Disc:d", "Offer:o"],
        #"{"data":{"any":[{"__typename":"Film","sku":"s"},{"__typename":"Offer","price":1},null]}}"#
      ),
    ])
  func storesNewName(
    name: String, variables: String, answer: String, keys: [String], body: String
  ) throws {
    let operation = try #require(try renamed().operation(named: name))
    let variables = try operation.coerce(.value(JSONValue(checked: variables)))
    var answer = try Answers.answer(answer)
    let selection = operation.selection(for: variables)
    let checked = ResponseChecker.check(
      try #require(answer.data), selection: selection, errors: .none)
    answer.hasSurplus = try checked.get()
    #expect(!answer.hasSurplus)
    let outcome = Answers.normalise(answer, operation, variables)
    #expect(Set(outcome.answer.entities.map { "\($0.key.type):\($0.key.key)" }) == Set(keys))
    #expect(outcome.isFaithful)
    var store = TinyStore()
    store.apply(outcome.answer)
    let rendered = try store.render(operation, variables)
    #expect(Answers.text(rendered.body) == body)
    #expect(rendered.misses == [])
    #expect(
      Answers.text(UpstreamResponseRenderer.render(answer, selection: selection)) == body)
    #expect(
      CreatedEntities.keys(ofType: "Disc", in: answer, selection: selection)
        == [EntityKey(type: "Disc", key: "d")])
    #expect(CreatedEntities.keys(ofType: "Film", in: answer, selection: selection) == [])
  }
}
