import Model
import Testing

@testable import Upstream

struct RegistryTests {
  @Test(
    "Invalid operations are refused with a reason",
    arguments: [
      ("{ version }", "must have a name"),
      ("query A { version } query A { version }", "A"),
      ("query A { verzion }", "version"),
      (
        "query A { film(id: 1) { ...F } } fragment F on Film { ...G } fragment G on Film { ...F }",
        "F"
      ),
      ("query A($x: Int) { version }", "$x"),
      ("query A { film(id: $id) { id } }", "$id"),
      (#"query A($id: ID!) @route(path: "/films/{ident}") { film(id: $id) { id } }"#, "{ident}"),
      (#"query A($id: ID!) @route(path: "/f/{id}/{id}") { film(id: $id) { id } }"#, "twice"),
      (#"query A @route(path: "films") { version }"#, "begin with"),
      (#"query A @route(path: "/films//x") { version }"#, "empty"),
      (#"query A @route(path: "/films/x{y}") { version }"#, "plain text"),
      (#"query A @route(path: "/films/diff") { version }"#, "diff"),
      ("query A($from: ID!) { film(id: $from) { id } }", "$from"),
      (
        #"query A($f: FilmFilter) @route(path: "/s/{f}") { search(text: "a", filter: $f) { __typename } }"#,
        "one segment"
      ),
      (
        #"query A($id: ID!) @route(path: "/f/{id}") { film(id: $id) { id } } query B($k: ID!) @route(path: "/f/{k}") { film(id: $k) { id } }"#,
        "conflicts with the route of A ("
      ),
      ("mutation A @cache(maxAge: 1) { deleteFilm(id: 1) }", "@cache"),
      ("query A @cache(maxAge: -1) { version }", "negative"),
      ("query A { film(id: 1) @complete { id } }", "list"),
      ("query A { films @complete { totalCount } }", "list"),
      ("query A { topFilms @authoritative { id } }", "looks up"),
      ("query A { film(id: 1) { director @authoritative { id } } }", "looks up"),
      ("query A { film(id: 1) { larder_x: id } }", "larder_"),
      (#"mutation A($id: ID!) @effects(deletes: ["Film:$di"]) { deleteFilm(id: $id) }"#, "\"id\""),
      (
        #"mutation A($id: ID!) @effects(deletes: ["Film"]) { deleteFilm(id: $id) }"#,
        "Type:$variable"
      ),
      (
        #"mutation A($id: ID!) @effects(deletes: ["Flim:$id"]) { deleteFilm(id: $id) }"#, "\"Film\""
      ),
      (
        #"mutation A($id: ID!) @effects(updates: ["Poster:$id"]) { deleteFilm(id: $id) }"#,
        "not an entity"
      ),
      (
        #"mutation A($id: ID!) @effects(invalidates: ["TopFlims"]) { deleteFilm(id: $id) } query TopFilms { topFilms { id } }"#,
        "TopFilms"
      ),
      (
        #"mutation A($id: ID!) @effects(invalidates: ["tag:films"]) { deleteFilm(id: $id) }"#, "tag"
      ),
      (
        #"mutation A($i: FilmInput!) @effects(updates: ["Film:$i.key"]) { addFilm(input: $i) { id } }"#,
        "key"
      ),
      (
        #"mutation A($id: ID!) @effects(updates: ["Genre:$id"]) { deleteFilm(id: $id) }"#, "several"
      ),
      (#"mutation A($id: ID!) @sync(object: "Film") { deleteFilm(id: $id) }"#, "Type:$variable"),
      (
        #"mutation A($id: ID!) @sync(object: "Film:{rateFilm.id}") { rateFilm(id: $id, stars: 1) { id } }"#,
        "Type:$variable"
      ),
      (
        #"subscription A @effects(deletes: ["Film:{filmChanged"]) { filmChanged(id: 1) { id } }"#,
        "path.in.the.response"
      ),
      (
        #"subscription A @effects(deletes: ["Film:{}"]) { filmChanged(id: 1) { id } }"#,
        "path.in.the.response"
      ),
      (
        #"subscription A @effects(deletes: ["Flim:{filmChanged.id}"]) { filmChanged(id: 1) { id } }"#,
        "\"Film\""
      ),
      (
        #"subscription A @effects(deletes: ["Film:{filmChange.id}"]) { filmChanged(id: 1) { id } }"#,
        "the operation does not select \"filmChange\". Did you mean \"filmChanged\""
      ),
      (
        #"subscription A @effects(updates: ["Film:{filmChanged.key}"]) { filmChanged(id: 1) { id } }"#,
        "filmChanged does not select \"key\""
      ),
      (
        #"subscription A @effects(updates: ["Film:{filmChanged..id}"]) { filmChanged(id: 1) { id } }"#,
        "does not select \"\""
      ),
      (
        #"subscription A @effects(updates: ["Genre:{filmChanged.id}"]) { filmChanged(id: 1) { id } }"#,
        "several fields"
      ),
      (
        #"subscription A @effects(updates: ["Person:{filmChanged.director}"]) { filmChanged(id: 1) { director { name } } }"#,
        "without id"
      ),
      (
        #"subscription A @effects(updates: ["Poster:{filmChanged.id}"]) { filmChanged(id: 1) { id } }"#,
        "not an entity"
      ),
      ("subscription A @cache(maxAge: 1) { filmChanged(id: 1) { id } }", "@cache(maxAge:)"),
      ("subscription A @cache(tags: [\"a\"]) { filmChanged(id: 1) { id } }", "@cache(tags:)"),
      (
        #"mutation A($id: ID!) @sync(optimistic: "change Film:$id {title: 1}") { deleteFilm(id: $id) }"#,
        "must begin with create, merge or delete, not \"change\""
      ),
      (
        #"mutation A($id: ID!) @sync(optimistic: "merge Flim:$id {title: 1}") { deleteFilm(id: $id) }"#,
        "\"Film\""
      ),
      (
        #"mutation A($id: ID!) @sync(optimistic: "merge Film:$di {title: 1}") { deleteFilm(id: $id) }"#,
        "\"id\""
      ),
      (
        #"mutation A($id: ID!) @sync(optimistic: "merge Film:$id {titel: 1}") { deleteFilm(id: $id) }"#,
        "\"title\""
      ),
      (
        #"mutation A($id: ID!) @sync(optimistic: "merge Film:$id {title: $name}") { deleteFilm(id: $id) }"#,
        "names an unknown variable"
      ),
      (
        #"mutation A($id: ID!) @sync(optimistic: ["delete Film:$id", "merge Film:$id"]) { deleteFilm(id: $id) }"#,
        "must have fields to merge"
      ),
      (#"mutation A($id: ID!) @sync(verify: "B") { deleteFilm(id: $id) }"#, "\"B\""),
      (
        #"mutation A($id: ID!) @sync(verify: "B") { deleteFilm(id: $id) } query B($k: ID!) { film(id: $k) { id } }"#,
        "$k"
      ),
      ("type X { a: Int }", "X"),
    ])
  func refuses(operations: String, word: String) {
    let loaded = Samples.load(operations)
    #expect(loaded.registry == nil)
    #expect(
      loaded.faults.contains { $0.message.contains(word) },
      "\(loaded.findings.map(\.description))")
  }

  @Test("All faults are reported at once with their locations")
  func reportsAllFaults() {
    let loaded = OperationRegistry.load(
      files: [
        SourceFile(path: "b.graphql", text: "query B {\n  nope\n}\nquery C { version"),
        SourceFile(path: "a.graphql", text: "query A @cache(maxAge: -1) { film(id: 1) { ...F } }"),
      ],
      schemaSources: [SourceFile(path: "schema.graphql", text: Samples.schema)],
      settings: RegistrySettings())
    let places = loaded.faults.map { "\($0.path):\($0.line):\($0.column)" }
    #expect(places.count == 4, "\(loaded.faults)")
    #expect(places.contains("b.graphql:2:3"))
    #expect(places.contains("a.graphql:1:24"))
    #expect(loaded.faults.first?.path == "b.graphql")
    let report = loaded.faults.first { $0.line == 2 }?.report ?? ""
    #expect(report.hasSuffix("2 |   nope\n  |   ^"), "\(report)")
  }

  @Test("Fragments are shared between files")
  func sharesFragmentsBetweenFiles() throws {
    let loaded = OperationRegistry.load(
      files: [
        SourceFile(path: "a.graphql", text: "query A { film(id: 1) { ...Card } }"),
        SourceFile(path: "b.graphql", text: "fragment Card on Film { id title }"),
        SourceFile(path: "c.graphql", text: "# nothing yet\n"),
      ],
      schemaSources: [SourceFile(path: "schema.graphql", text: Samples.schema)],
      settings: RegistrySettings())
    let registry = try #require(loaded.registry)
    #expect(registry.operation(named: "A")?.fragments == ["Card"])
    #expect(
      registry.views["Card"]?.selection.single?.fields.map(\.responseName) == ["id", "title"])
  }

  @Test("Client directives are read")
  func readsDirectives() throws {
    let registry = try Samples.registry(
      #"""
      query Film($id: ID!) @route(path: "/films/{id}")
        @cache(maxAge: 60, staleIfError: 86400, scope: PUBLIC, onError: PARTIAL, tags: ["films"])
        { film(id: $id) @authoritative { title } }
      mutation Rate($id: ID!, $stars: Int!)
        @sync(
          object: "Film:$id", repeatable: true, optimistic: "merge Film:$id {rating: $stars}"
        ) @access(role: USER)
        @effects(updates: ["Film:$id"], invalidates: ["Top", "tag:films", "Node"])
        { rateFilm(id: $id, stars: $stars) { rating } }
      query Top { topFilms { id } }
      """#,
      settings: RegistrySettings(
        cache: CachePolicy(staleWhileRevalidate: .seconds(5)), hasServiceCredentials: true))
    let film = try #require(registry.operation(named: "Film"))
    #expect(film.route?.parameters == ["id"])
    #expect(
      film.cache
        == CachePolicy(
          maxAge: .seconds(60), staleWhileRevalidate: .seconds(5), staleIfError: .seconds(86400),
          sharing: .public, onError: .partial, tags: ["films"]))
    #expect(film.access == AccessRule(role: nil, isOpen: true))
    let rate = try #require(registry.operation(named: "Rate"))
    #expect(rate.access == AccessRule(role: .user, isOpen: false))
    #expect(rate.sync?.object == .entity(type: "Film", path: ["id"]))
    #expect(rate.sync?.isRepeatable == true)
    #expect(
      rate.sync?.optimistic == [
        OptimisticRule(
          action: .merge, type: "Film", target: .entity(type: "Film", path: ["id"]),
          fields: [.init(name: "rating", value: .variable(["stars"]))])
      ])
    #expect(rate.effects.updates == [.entity(type: "Film", path: ["id"])])
    #expect(
      rate.effects.invalidates == [
        .operation("Top"), .tag("films"), .type("Film"), .type("Person"),
      ])
    let top = try #require(registry.operation(named: "Top"))
    #expect(top.access == AccessRule(role: nil, isOpen: false))
    #expect(top.entityTypes == ["Film"])
    #expect(top.listElementTypes == ["Film"])
    #expect(film.listElementTypes == [])
    #expect(film.lookupTypes == ["Film"])
  }

  @Test("The catalogue has columns for the selected fields")
  func collectsSelectedColumns() throws {
    let registry = try Samples.registry(
      """
      query A { film(id: 1) { year budget director { name } poster { url } tags genres { label } } }
      query B { node(id: 1) { ... on Film { rating seen title } } }
      """,
      settings: RegistrySettings(
        indexes: ["Film": ["year", "nothing"]], scalarNumbers: ["Decimal": .real]))
    let film = try #require(registry.catalogue.type(named: "Film"))
    #expect(film.keyFields == ["id"])
    #expect(film.indexes == ["year"])
    #expect(
      film.columns == [
        EntityType.Column(name: "id", kind: .text),
        EntityType.Column(name: "budget", kind: .real),
        EntityType.Column(name: "director", kind: .reference),
        EntityType.Column(name: "rating", kind: .real),
        EntityType.Column(name: "seen", kind: .boolean),
        EntityType.Column(name: "year", kind: .integer),
      ])
    #expect(registry.catalogue.type(named: "Genre")?.keyFields == ["code", "lang"])
    #expect(registry.catalogue.type(named: "Poster") == nil)
    #expect(registry.catalogue.possibleTypes["Node"] == ["Film", "Person"])
  }

  @Test(
    "Invalid keys in settings are refused",
    arguments: [
      (["Film": ["slug"]], "slug"), (["Flim": ["id"]], "Film"), (["Film": ["director"]], "scalar"),
      (["Film": ["title"]], "arguments"), (["Film": ["id", "id"]], "different"),
    ])
  func refusesInvalidKeys(keys: [String: [String]], word: String) {
    let loaded = Samples.load(
      "query A { film(id: 1) { id } }", settings: RegistrySettings(keys: keys))
    #expect(loaded.faults.contains { $0.message.contains(word) }, "\(loaded.findings)")
  }

  @Test("Operations without a common field of a keyless object cause a warning")
  func warnsOfDisjointEmbeddedSelections() {
    let loaded = Samples.load(
      """
      query A { film(id: 1) { poster { url } } }
      query B { film(id: 1) { poster { width } } }
      """)
    #expect(loaded.faults.isEmpty)
    #expect(loaded.warnings.contains { $0.message.contains("Film.poster") }, "\(loaded.findings)")
  }

  @Test(
    "The cache note describes how responses are cached",
    arguments: [
      ("@cache(scope: PUBLIC)", ["authorization"], "without the caller's credential"),
      (
        "@cache(maxAge: 5)", ["cookie", "accept-language"],
        "each user, fetched with the user's credential"
      ),
      (
        "@cache(maxAge: 5)", ["accept-language"],
        "one copy for all callers, for each accept-language"
      ),
      ("", [], "fetched for each read"),
    ])
  func describesCaching(directive: String, forwarded: [String], words: String) throws {
    let operation = try Samples.operation(
      "query A \(directive) { version }",
      settings: RegistrySettings(forwardedHeaders: forwarded))
    #expect(operation.cacheNote.contains(words), "\(operation.cacheNote)")
  }

  @Test("A role with scope PUBLIC causes a warning")
  func warnsOfRoleWithPublicScope() {
    let text = "query A @cache(scope: PUBLIC) @access(role: USER) { version }"
    #expect(Samples.load(text).warnings.contains { $0.message.contains("has none of its own") })
    let secret = RegistrySettings(hasServiceCredentials: true)
    let warnings = Samples.load(text, settings: secret).warnings
    #expect(warnings.contains { $0.message.contains("opaque tokens are refused") })
    // The service itself authenticates devices and the operator, and forwards no caller's
    // credential.
    let device = text.replacing("USER", with: "DEVICE")
    #expect(Samples.load(device, settings: secret).warnings.isEmpty)
    let quiet = RegistrySettings(hasServiceCredentials: true, forwardedHeaders: [])
    #expect(Samples.load(text, settings: quiet).warnings.isEmpty)
  }

  @Test("A response can be shared by the value of a claim")
  func sharesByClaim() throws {
    let registry = try Samples.registry(
      """
      query A @cache(maxAge: 5, scope: CLAIM, claim: "org_id") { version }
      query B @cache(scope: CLAIM, claim: "org_id") @access(role: USER) { version }
      query C @access(role: ADMIN) { version }
      query D @access(role: PUBLIC) { version }
      """)
    let operation = try #require(registry.operation(named: "A"))
    #expect(operation.claim == "org_id" && !operation.access.isOpen)
    #expect(operation.sendsCallersCredential)
    #expect(operation.cacheNote.contains("claim org_id"), "\(operation.cacheNote)")
    #expect(registry.sharedClaims == ["org_id"])
    #expect(registry.storedRoles == [.admin])
  }

  @Test(
    "Invalid uses of claim: are refused",
    arguments: [
      ("@cache(scope: CLAIM)", "requires claim:"),
      (#"@cache(scope: CLAIM, claim: "")"#, "requires claim:"),
      (#"@cache(scope: USER, claim: "org_id")"#, "requires scope: CLAIM"),
      (#"@cache(claim: "org_id")"#, "requires scope: CLAIM"),
      (#"@cache(scope: CLAIM, claim: "org_id") @access(role: ADMIN)"#, "contradicts"),
      (#"@cache(scope: CLAIM, claim: "org_id") @access(role: PUBLIC)"#, "contradicts"),
    ])
  func refusesInvalidClaims(directives: String, words: String) {
    let loaded = Samples.load("query A \(directives) { version }")
    #expect(loaded.faults.contains { $0.message.contains(words) }, "\(loaded.findings)")
  }

  @Test("Sharing by a claim requires forwarding the caller's token")
  func claimsRequireForwardedToken() {
    let loaded = Samples.load(
      #"query A @cache(scope: CLAIM, claim: "org_id") { version }"#,
      settings: RegistrySettings(forwardedHeaders: ["cookie"]))
    #expect(loaded.faults.contains { $0.message.contains("upstream.forward") })
  }

  @Test("The schema can declare @key itself")
  func schemaDeclaresKey() throws {
    let operation = try Samples.operation(
      "query A { item { label } }",
      schema: """
        directive @key(fields: String!, resolvable: Boolean = true) repeatable on OBJECT
        type Query { item: Item }
        type Item @key(fields: "sku", resolvable: false) { sku: Int!  label: String }
        """)
    let item = operation.selection(for: .none).single?.fields.first
    guard case .object(let selection)? = item?.value else {
      Issue.record("no object")
      return
    }
    #expect(selection.single?.key?.first?.canonical == .integer)
  }

  @Test("Descriptions of operations are not sent upstream")
  func descriptionsAreNotSent() throws {
    let operation = try Samples.operation(
      """
      "One film" query A("Its id" $id: ID!) { film(id: $id) { ...F } }
      "What a page shows" fragment F on Film { title }
      """)
    #expect(operation.description == "One film")
    #expect(operation.variables.map(\.description) == ["Its id"])
    for text in ["One film", "Its id", "What a page shows"] {
      #expect(!operation.document.contains(text))
    }
  }
}
