import Cryptography
import GraphQL
import Model
import Upstream

/// The digest of everything that decides what operations mean and what the database contains: operations,
/// schemas, local types, and the settings of types, links and caching.
///
/// Nodes of a cluster compare it: equal digests mean that one node can go on with the other's log. It does not
/// depend on the names of files, on their order or on that of the definitions in them, nor on comments and
/// layout. A comment that describes an operation does not count either, although it is in the OpenAPI
/// document; a description (a string) does. The order within a definition counts, since fields have it in
/// responses and columns have it in tables.
enum WorkspaceDigest {
  /// Raised when the form of what is digested changes.
  private static let version = 1

  /// The settings that take part: names, and beginnings of names that end with a dot.
  private static let settings = [
    "types.", "links.", "cache.maxAge", "cache.staleWhileRevalidate", "cache.staleIfError",
  ]

  /// - Returns: 64 hexadecimal digits.
  static func text(
    of sources: [UpstreamSources], local: SourceFile?, settings: Settings
  ) -> String {
    var lines = ["version \(version)"]
    for upstream in sources {
      let name = "\(upstream.settings.upstream)"
      lines += upstream.files.flatMap { parts(of: $0, as: "operations \(name)") }
      lines += upstream.schemaSources.flatMap { parts(of: $0, as: "schema \(name)") }
    }
    if let local { lines += parts(of: local, as: "local") }
    for key in SettingTable.keys where takesPart(key) {
      lines += key.show(settings).compactMap { shown in
        shown.text.map { "setting \(shown.name) \($0)" }
      }
    }
    // Each line is without breaks, or a digest.
    return Hexadecimal.encode(SHA256.hash(data: Array(lines.sorted().joined(separator: "\n").utf8)))
  }

  private static func takesPart(_ key: SettingKey) -> Bool {
    settings.contains { key.name == $0 || ($0.hasSuffix(".") && key.name.hasPrefix($0)) }
      || (key.name.hasPrefix("upstreams.") && key.name.contains(".types."))
  }

  /// One line for each definition of a file, and one for what a manifest says of it.
  private static func parts(of file: SourceFile, as kind: String) -> [String] {
    let document: Document
    do throws(Faults) {
      document = try Parser.parse(Source(name: file.path, body: file.text))
    } catch {
      // Beyond the limits of the parser; the text itself is compared.
      return ["\(kind) text \(digest(file.text))"]
    }
    let id = file.documentID.map { " id \(digest($0))" } ?? ""
    return document.definitions.map { "\(kind)\(id) \(digest(Printer.print($0)))" }
  }

  private static func digest(_ text: String) -> String {
    Hexadecimal.encode(SHA256.hash(data: Array(text.utf8)))
  }
}
