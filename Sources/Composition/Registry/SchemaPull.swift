import FoundationEssentials
import GraphQL
import HTTPClient
import LosslessJSON
import Transport
import Upstream

/// Asks upstream for its schema.
package struct SchemaPull {
  private let settings: Settings

  package init(_ settings: Settings) {
    self.settings = settings
  }

  /// Writes the schema as SDL: to the path given, to standard output for `-`, or to the schema file
  /// of the settings.
  package func run(output: String?) async throws {
    let text = try await sdl()
    if output == "-" {
      StandardStreams.output(text)
      return
    }
    let path = output ?? settings.schemaFile
    try Self.write(text, to: path)
    StandardStreams.output("schema written to \(path)")
  }

  /// Makes sure that a schema is at hand: a team without a schema file gets the one of upstream,
  /// kept in the data folder for the next start.
  package func keepIfMissing() async throws {
    guard !Workspace.hasSchema(settings) else { return }
    let folder = DataFolder(path: settings.dataFolder)
    let text = try await sdl()
    try folder.make()
    try Self.write(text, to: folder.schemaPath)
  }

  private func sdl() async throws -> String {
    let group = try EventLoopGroup(count: 1)
    let client = HTTPClient(
      group: group, tls: try TLSClientContext(), random: { Double.random(in: 0..<1) })
    let upstream = UpstreamClient(
      settings: Upstream.UpstreamSettings(settings, url: settings.upstream.url?.text ?? ""),
      clock: SystemClock.wall, client: client)
    let answer: UpstreamAnswer
    do throws(UpstreamFailure) {
      answer = try await upstream.introspect(call: UpstreamCall())
    } catch {
      await group.shutdown()
      throw StartFailure(.upstreamUnavailable, "Upstream gave no schema: \(error)")
    }
    await client.close()
    await group.shutdown()
    guard answer.data != nil else {
      throw StartFailure(
        .upstreamUnavailable,
        "Upstream refuses introspection: \(JSONValue(answer.document.root).text.prefix(500))")
    }
    do throws(Faults) {
      return try Schema.build(introspection: JSONValue(answer.document.root)).sdl
    } catch {
      throw StartFailure(.faultyOperations, "Upstream's schema cannot be read:\n\(error)")
    }
  }

  private static func write(_ text: String, to path: String) throws(StartFailure) {
    do {
      try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw StartFailure(.dataFolder, "\(path) cannot be written: \(error)")
    }
  }
}
