import Model
import Testing
import Upstream

@testable import Composition

/// Settings of upstream's types with local fields.
struct LocalFieldSettingsTests {
  private static func folder(local: String?) throws -> OperationsFolder {
    let folder = try OperationsFolder(
      schema: """
        type Query { films: [Film!]! }
        type Film { id: ID! title: String secret: String }
        """, operations: ["a.graphql": "query Films { films { id title } }"])
    if let local { try folder.write(local, to: "local.graphql") }
    return folder
  }

  private static let local = """
    extend type Film { favourite: Boolean @local note: String @local(scope: USER) }
    fragment Mine on Film { title note }
    """

  @Test("Local fields are indexed, searched and kept as the settings of their type say")
  func appliesSettings() throws {
    let workspace = try Self.folder(local: Self.local).open(
      "types: {Film: {index: [favourite], search: [note, title], keepLocal: 10d}}")
    let film = try #require(workspace.registry.catalogue.type(named: "Film"))
    #expect(film.indexes == ["favourite"])
    #expect(Set(film.search) == ["title", "note"] && film.search.count == 2)
    #expect(film.localFields.map(\.owner) == [.device, .user])
    #expect(workspace.settings.types["Film"]?.keepLocal == .seconds(10 * 24 * 3_600))
    #expect(workspace.registry.views["Mine"] != nil)
  }

  @Test(
    "Settings and fields that cannot apply are faults",
    arguments: [
      (nil, "types: {Film: {keepLocal: 10d}}", "Film has no local fields"),
      (local, "types: {Film: {index: [favorite]}}", "Did you mean \"favourite\""),
      (local, "types: {Film: {search: [favourite]}}", "favourite is not a text field"),
      (local, "types: {Film: {dates: seconds}}", "only dates of local types have a format"),
      ("extend type Film { secret: Int @local }", "", "Film already has a field secret"),
      ("extend type Flim { note: Int @local }", "", "Did you mean \"Film\""),
    ] as [(String?, String, String)])
  func namesFaults(local: String?, settings: String, reason: String) throws {
    do {
      _ = try Self.folder(local: local).open(settings)
      Issue.record("opened with \(settings)")
    } catch {
      #expect("\(error)".contains(reason), "\(error)")
    }
  }
}
