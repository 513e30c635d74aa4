import FoundationEssentials
import GraphQL
import HTTPClient
import LosslessJSON
import Transport
import Upstream

/// The `schema pull` command: introspects upstream and stores its schema.
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

  /// Introspects upstream if there is no schema file, and keeps the schema in the data folder for the
  /// next start.
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
    let url = settings.upstream.url?.text ?? ""
    var upstreamSettings = UpstreamConfiguration(settings, url: url)
    // An introspection result in JSON is about three times as large as the schema in SDL.
    upstreamSettings.responseBytesMax = max(
      upstreamSettings.responseBytesMax, settings.schemaBytesMax * 4)
    let upstream = UpstreamClient(
      settings: upstreamSettings, clock: SystemClock.wall, client: client)
    let response: UpstreamResponse
    do throws(UpstreamFailure) {
      response = try await upstream.introspect(call: UpstreamCall())
    } catch {
      await group.shutdown()
      throw StartFailure(
        .upstreamUnavailable,
        "The schema cannot be fetched from \(url): \(error).\n"
          + "Check that `upstream.url` is a GraphQL endpoint and that upstream allows introspection,"
          + " or write the schema to \(settings.schemaFile).")
    }
    await client.close()
    await group.shutdown()
    guard response.data != nil else {
      throw StartFailure(
        .upstreamUnavailable,
        "\(url) refuses introspection: \(JSONValue(response.document.root).text.prefix(500))")
    }
    let sdl: String
    do throws(Faults) {
      sdl = try Schema.build(introspection: JSONValue(response.document.root)).sdl
    } catch {
      throw StartFailure(.faultyOperations, "Upstream's schema is not valid:\n\(error)")
    }
    guard sdl.utf8.count <= settings.schemaBytesMax else {
      throw StartFailure(
        .faultyOperations,
        "Upstream's schema has \(sdl.utf8.count) bytes; the maximum is \(settings.schemaBytesMax)."
          + " Raise the setting `schema.bytes`.")
    }
    return sdl
  }

  private static func write(_ text: String, to path: String) throws(StartFailure) {
    do {
      try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    } catch {
      throw StartFailure(.dataFolder, "The schema file \(path) cannot be written: \(error)")
    }
  }
}
