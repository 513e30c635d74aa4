import FoundationEssentials
import GraphQL
import HTTPClient
import LosslessJSON
import Model
import Transport
import Upstream

/// The `schema pull` command: introspects upstreams and stores their schemas.
package struct SchemaPull {
  private let settings: Settings

  package init(_ settings: Settings) {
    self.settings = settings
  }

  /// Writes schemas as SDL: to the path given, to standard output for `-`, or to the schema file that
  /// settings name.
  ///
  /// - Parameter upstream: one of several upstreams; nil for all.
  package func run(upstream name: String? = nil, output: String?) async throws {
    let upstreams = try upstreams(named: name)
    guard output == nil || upstreams.count == 1 else {
      throw StartFailure(
        .faultySettings,
        "--output is for one schema, but there are several upstreams; choose one with --upstream.")
    }
    for upstream in upstreams {
      let text = try await sdl(of: upstream)
      if output == "-" {
        StandardStreams.output(text)
        continue
      }
      let path = output ?? UpstreamFiles.schemaFile(of: upstream, settings)
      try makeFolder(of: path)
      try Self.write(text, to: path)
      StandardStreams.output("schema written to \(path)")
    }
  }

  /// Introspects each upstream without a schema file, and keeps the schemas in the data folder for the
  /// next start.
  package func keepIfMissing() async throws {
    let missing = settings.allUpstreams.filter { !UpstreamFiles.hasSchema(of: $0, settings) }
    guard !missing.isEmpty else { return }
    let folder = DataFolder(path: settings.dataFolder)
    var failures: [StartFailure] = []
    for upstream in missing {
      do {
        let text = try await sdl(of: upstream)
        try folder.make()
        let path = folder.schemaPath(of: upstream.name)
        try makeFolder(of: path)
        try Self.write(text, to: path)
      } catch let failure as StartFailure {
        failures.append(failure)
      }
    }
    guard let first = failures.first else { return }
    throw StartFailure(first.kind, failures.map(\.description).joined(separator: "\n"))
  }

  private func upstreams(named name: String?) throws(StartFailure) -> [NamedUpstream] {
    guard let name else { return settings.allUpstreams }
    let found = settings.allUpstreams.filter { $0.name.text == name }
    guard found.isEmpty else { return found }
    let names = settings.allUpstreams.map(\.name.text)
    throw StartFailure(
      .faultySettings,
      "There is no upstream \(name) in settings." + NearestNames.didYouMean(name, among: names))
  }

  /// Creates the folder of a schema of one of several upstreams.
  private func makeFolder(of path: String) throws(StartFailure) {
    guard !settings.upstreams.isEmpty else { return }
    let folder = FolderPath.folder(of: path)
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw StartFailure(.dataFolder, "The folder \(folder) cannot be created: \(error)")
    }
  }

  private func sdl(of upstream: NamedUpstream) async throws -> String {
    let group = try EventLoopGroup(count: 1)
    let client = HTTPClient(
      group: group, tls: try TLSClientContext(), random: { Double.random(in: 0..<1) })
    let url = upstream.settings.url?.text ?? ""
    var configuration = UpstreamConfiguration(upstream)
    // An introspection result in JSON is about three times as large as the schema in SDL.
    configuration.responseBytesMax = max(
      configuration.responseBytesMax, settings.schemaBytesMax * 4)
    let caller = UpstreamClient(
      settings: configuration, clock: SystemClock.wall, client: client)
    let response: UpstreamResponse
    do throws(UpstreamFailure) {
      response = try await caller.introspect(call: UpstreamCall())
    } catch {
      await group.shutdown()
      throw StartFailure(
        .upstreamUnavailable,
        "The schema cannot be fetched from \(url): \(error).\n"
          + "Check that `\(upstream.section).url` is a GraphQL endpoint and that upstream allows "
          + "introspection, or write the schema to "
          + "\(UpstreamFiles.schemaFile(of: upstream, settings)).")
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
      throw StartFailure(.faultyOperations, "The schema of \(url) is not valid:\n\(error)")
    }
    guard sdl.utf8.count <= settings.schemaBytesMax else {
      throw StartFailure(
        .faultyOperations,
        "The schema of \(url) has \(sdl.utf8.count) bytes; the maximum is "
          + "\(settings.schemaBytesMax). Raise the setting `schema.bytes`.")
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
