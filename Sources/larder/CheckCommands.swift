import ArgumentParser
import Composition

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks settings, schema and operations, and reports all faults.")

  @OptionGroup var settings: SettingsOptions

  @Flag(help: "Print JSON, also of faults.")
  var json = false

  func run() throws {
    do {
      let report = CheckReport(try Workspace.open(settings.load()))
      StandardStreams.output(json ? report.json : report.text)
    } catch let failure as StartFailure where json {
      StandardStreams.output(CheckReport.json(failure))
      throw ExitCode(failure.kind.rawValue)
    }
  }
}

struct Routes: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists all paths that the service serves.")

  @OptionGroup var settings: SettingsOptions

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let report = RoutesReport(try Workspace.open(settings.load()))
    StandardStreams.output(json ? report.json : report.text)
  }
}

struct SchemaCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Manages the upstream schema.", subcommands: [Pull.self])

  struct Pull: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Introspects upstream and writes its schema to the schema file.")

    @OptionGroup var settings: SettingsOptions

    @Option(help: "The file to write, - for standard output (default: the schema file).")
    var output: String?

    @Option(help: "The upstream to introspect (default: all).")
    var upstream: String?

    func run() async throws {
      let loaded = try settings.load(requiring: ["upstream.url"])
      try await SchemaPull(loaded.settings).run(upstream: upstream, output: output)
    }
  }
}
