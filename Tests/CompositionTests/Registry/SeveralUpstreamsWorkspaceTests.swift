import Foundation
import Model
import Testing
import Upstream

@testable import Composition

/// Folders with the operations and schemas of two upstreams.
struct SeveralUpstreamsWorkspaceTests {
  private static let films =
    "type Query { film(id: ID!): Film } type Film { id: ID! title: String }"
  private static let shop =
    "type Query { offers: [Offer!]! } type Offer { id: ID! filmId: ID! price: Int sold: Boolean }"
  private static let upstreams = """
    upstreams:
      films: {url: 'http://127.0.0.1:9/films', forward: [authorization]}
      shop: {url: 'http://127.0.0.1:9/shop', headers: {X-Key: a}, forward: [x-tenant]}
    """

  /// - Parameter files: by path below the folder; nil removes one of the usual files.
  private static func open(
    _ settings: String = "", films more: String = "", files: [String: String?] = [:]
  ) throws -> (OperationsFolder, Result<Workspace, StartFailure>) {
    let folder = try OperationsFolder(schema: nil, operations: [:])
    var all: [String: String?] = [
      "operations/films/a.graphql": "query Film($id: ID!) { film(id: $id) { id title } }",
      "operations/shop/a.graphql":
        "query Offers @cache(scope: PUBLIC, maxAge: 60) { offers { id filmId sold } }",
      "schemas/films.graphql": films, "schemas/shop.graphql": shop,
    ]
    all.merge(files) { $1 }
    for (name, text) in all {
      guard let text else { continue }
      let parent = URL(filePath: "\(folder.path)/\(name)").deletingLastPathComponent()
      try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
      try folder.write(text, to: name)
    }
    let written =
      more.isEmpty
      ? upstreams : upstreams.replacing("forward: [authorization]}", with: "\(more)}")
    let loaded = try Settings.load(
      from: SettingsSources(
        file: .init(name: "\(folder.path)/larder.yaml", text: written + "\n" + settings)))
    do throws(StartFailure) {
      return (folder, .success(try Workspace.open(loaded)))
    } catch {
      return (folder, .failure(error))
    }
  }

  private static func failure(
    _ settings: String = "", files: [String: String?] = [:]
  ) throws -> String {
    let (_, result) = try open(settings, files: files)
    guard case .failure(let failure) = result else { return "" }
    return failure.description
  }

  @Test("Each upstream's folder and schema make one workspace")
  func opens() throws {
    let (_, result) = try Self.open("links: {Film.offers: {type: Offer, field: filmId}}")
    let workspace = try result.get()
    #expect(workspace.registry.operation(named: "Film")?.upstream == "films")
    #expect(workspace.registry.operation(named: "Offers")?.upstream == "shop")
    #expect(
      workspace.links
        == [EntityLink(owner: "Film", name: "offers", type: "Offer", field: "filmId")])
  }

  @Test("Faults of all upstreams' files are reported at once")
  func reportsAll() throws {
    let text = try Self.failure(files: [
      "operations/films/a.graphql": "query Film { film { titel } }",
      "operations/shop/a.graphql": "query Offers { offers { prize } }",
      "operations/loose.graphql": "query Loose { film(id: 1) { id } }",
      "operations/shop/b.graphql": "query Film { offers { id } }",
    ])
    #expect(text.contains("operations/films/a.graphql:1:"))
    #expect(text.contains("operations/shop/a.graphql:1:"))
    #expect(text.contains("loose.graphql: fault: belongs to no upstream"))
    #expect(text.contains("The upstream films has an operation named Film too"))
  }

  @Test("A missing schema of one upstream does not hide the other's faults")
  func reportsMissingSchema() throws {
    let text = try Self.failure(files: [
      "schemas/shop.graphql": nil, "operations/films/a.graphql": "query F { film(id: 1) { x } }",
    ])
    #expect(text.contains("schemas/shop.graphql: fault: the file does not exist"))
    #expect(text.contains("operations/films/a.graphql:1:"))
  }

  @Test("The schema that was introspected at start is kept for each upstream")
  func readsKeptSchema() throws {
    let (_, result) = try Self.open(files: [
      "schemas/shop.graphql": nil, "data/schemas/shop.graphql": Self.shop,
    ])
    #expect(throws: Never.self) { try result.get() }
  }

  @Test(
    "A fault of a setting that the schemas show has its place, and the exit status of settings",
    arguments: [
      ("types: {Flim: {as: Disc}}", "", "types.Flim.as is set for an unknown type. Did you mean"),
      ("types: {Int: {as: Disc}}", "", "types.Int.as is set for Int, which has no fields"),
      ("types: {Query: {as: Film}}", "", "stores Film and Query under the one name Film"),
      ("timeout: 1s", "types: {Flim: {key: [id]}}", "types.Flim.key is set for an unknown type"),
      (
        "timeout: 1s", "types: {Film: {key: [email]}}",
        "`types.Film.key` (upstream films): The key of Film names the unknown field"
      ),
    ])
  func placesFaultsOfTypes(upstream: String, settings: String, message: String) throws {
    let (_, result) = try Self.open(settings, films: upstream)
    guard case .failure(let failure) = result else {
      Issue.record("no fault")
      return
    }
    #expect(failure.kind == .faultySettings)
    #expect(failure.description.contains(message), "\(failure)")
    #expect(failure.description.contains("larder.yaml:"), "\(failure)")
    #expect(failure.description.contains("^"), "\(failure)")
  }

  @Test("A schema that cannot be parsed is not said to lack the type Query as well")
  func reportsSyntaxOnce() throws {
    let text = try Self.failure(files: ["schemas/shop.graphql": "type Query { offers: }"])
    #expect(text.contains("schemas/shop.graphql:1:"))
    #expect(!text.contains("root type"), "\(text)")
    let empty = try Self.failure(files: ["schemas/shop.graphql": "type Offer { id: ID! }"])
    #expect(empty.contains("schemas/shop.graphql: fault: Query root type"), "\(empty)")
  }

  @Test("Misspelled folders and schema files are named by the nearest upstream")
  func suggestsNearNames() throws {
    let text = try Self.failure(files: [
      "schemas/shop.graphql": nil, "schemas/shp.graphql": Self.shop,
      "operations/shp/b.graphql": "query B { offers { id } }",
    ])
    #expect(text.contains("Did you mean \"shp.graphql\"?"), "\(text)")
    #expect(text.contains("did you mean the folder"), "\(text)")
    #expect(text.contains("operations/shop/?"), "\(text)")
  }

  @Test(
    "A link that cannot be joined is a fault",
    arguments: [
      ("Flim.offers: {type: Offer, field: filmId}", "Did you mean"),
      ("Film.offers: {type: Offers, field: filmId}", "no operation selects the type Offers"),
      ("Film.offers: {type: Offer, field: price}", "no operation selects the field price of Offer"),
      ("Film.offers: {type: Offer, field: sold}", "sold of Offer cannot hold a key"),
      ("Film.title: {type: Offer, field: filmId}", "Film has a field title already"),
    ])
  func refusesLink(link: String, message: String) throws {
    let text = try Self.failure("links: {\(link)}")
    #expect(text.contains(message), "\(text)")
    #expect(text.contains("larder.yaml:4:"))
  }

  @Test("The report of check names the upstream of each operation, type and header field")
  func reports() throws {
    let (_, result) = try Self.open()
    let text = CheckReport(try result.get()).text
    #expect(text.contains("Offers (shop)"), "\(text)")
    #expect(text.contains("Forwarded to the upstream films:\n  authorization"))
    #expect(text.contains("Forwarded to the upstream shop:\n  x-tenant"))
    #expect(text.contains("  Film (films): "))
    #expect(text.contains("  Offer (shop): users verified here, the operator"))
  }
}
