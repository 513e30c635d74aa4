import Testing

@testable import Upstream

/// Operations from the manifests that tools of GraphQL clients write.
struct DocumentManifestTests {
  private static let one =
    "query One($id: ID!) { film(id: $id) { id ...Card } } "
    + "fragment Card on Film { title }"
  private static let two = "query Two { topFilms { id ...Card } } fragment Card on Film { title }"

  private static func apollo(_ entries: String, format: String = "apollo-persisted-query-manifest")
    -> String
  {
    #"{"format":"\#(format)","version":1,"operations":[\#(entries)]}"#
  }

  private static func entry(_ id: String, _ body: String) -> String {
    #"{"id":"\#(id)","name":"X","type":"query","body":"\#(body)"}"#
  }

  private static func read(_ text: String) -> (files: [SourceFile], findings: [Finding]) {
    DocumentManifest.read(SourceFile(path: "m.json", text: text))
  }

  private static func load(_ text: String) -> LoadedRegistry {
    let (files, findings) = read(text)
    #expect(findings == [])
    return OperationRegistry.load(
      files: files, schemaSources: [SourceFile(path: "schema.graphql", text: Samples.schema)],
      settings: RegistrySettings())
  }

  @Test(
    "Operations of each manifest's form keep their ids, and share their fragments",
    arguments: [
      apollo(entry("a1", one) + "," + entry("b2", two)),
      #"{"a1":"\#(one)","b2":"\#(two)"}"#,
      #"{"a1":"\#(one)","b2":"\#(two)","c3":"mutation Rate($id: ID!) { rateFilm(id: $id, stars: 1) { id } }"}"#,
    ])
  func readsManifests(text: String) throws {
    let registry = try #require(Self.load(text).registry)
    let first = try #require(registry.operation(named: "One"))
    #expect(first.identity.id == "a1")
    #expect(first.identity.textDigest == DocumentDigest.hexadecimal(of: Self.one))
    #expect(
      first.identity.normalDigest
        == (try NormalDocument(parsing: Self.one, operationName: nil)).digest)
    #expect(registry.operation(named: "Two")?.identity.id == "b2")
    #expect(registry.views["Card"] != nil)
    #expect(first.document.contains("fragment Card"))
  }

  @Test("A fault in a document is reported with its place in the manifest and in the document")
  func faultsNameTheDocument() throws {
    let text = Self.apollo(
      Self.entry("a1", Self.one) + "," + Self.entry("b2", "query Two {\\n  verzion\\n}"))
    let loaded = Self.load(text)
    #expect(loaded.registry == nil)
    let fault = try #require(loaded.faults.first)
    #expect(fault.path == "m.json#/operations/1/body")
    #expect(fault.line == 2 && fault.column == 3)
    #expect(fault.excerpt.contains("verzion"))
  }

  @Test("Fragments of one name that differ are a fault that names both places")
  func differingFragmentsAreFaulty() throws {
    let loaded = Self.load(
      #"{"a/1":"\#(Self.one)","b2":"\#(Self.two.replacing("title }", with: "year }"))"}"#)
    let fault = try #require(loaded.faults.first)
    #expect(fault.path == "m.json#/b2" && fault.message.contains("m.json#/a~11"))
  }

  @Test(
    "A document without exactly one operation, or with a name that occurs before, is a fault",
    arguments: [
      ("query A { version } query B { version }", "has 2"),
      ("fragment A on Film { id }", "has 0"), ("", "has 0"),
      ("query One { version }", "One"), ("{ version }", "must have a name"),
    ])
  func refusesDocuments(body: String, word: String) throws {
    let loaded = Self.load(#"{"a1":"\#(Self.one)","b2":"\#(body)"}"#)
    #expect(loaded.registry == nil)
    #expect(
      loaded.faults.contains { $0.message.contains(word) && $0.path.hasPrefix("m.json") },
      "\(loaded.faults)")
  }

  @Test(
    "A manifest of another form is refused with its place",
    arguments: [
      ("", 1, "not JSON"), ("{\n  \"a\": ,\n}", 2, "not JSON"), ("[]", 1, "JSON object"),
      ("{}", 1, "no operation"), (apollo(""), 1, "no operation"),
      (apollo("", format: "other"), 1, "`format` must be"),
      (#"{"format":"apollo-persisted-query-manifest","version":2,"operations":[]}"#, 1, "version"),
      (#"{"format":"apollo-persisted-query-manifest","operations":{}}"#, 1, "must be a list"),
      (apollo("1"), 1, "/operations/0 must be an object"),
      (apollo(#"{"body":"{a}"}"#), 1, "has no `id`"),
      (apollo(#"{"id":"a"}"#), 1, "has no `body`"),
      (apollo(#"{"id":1,"body":"{a}"}"#), 1, "has no `id`"),
      ("{\n  \"a1\": \"query A { version }\",\n  \"b/2\": {}\n}", 3, "/b~12"),
      (#"{"":"query A { version }"}"#, 1, "the id at"),
      (#"{"a":"query A { version }","a":"query B { version }"}"#, 1, "already used at /a"),
      (apollo(entry("a", "{a}") + "," + entry("a", "{b}")), 1, "already used at /operations/0"),
    ])
  func refusesOtherForms(text: String, line: Int, words: String) throws {
    let (_, findings) = Self.read(text)
    let finding = try #require(findings.first)
    #expect(finding.severity == .fault && finding.path == "m.json")
    #expect(finding.line == line)
    #expect(finding.message.contains(words), "\(finding)")
  }
}
