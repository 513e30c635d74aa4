import ArgumentParser
import Composition

struct Check: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks settings, schema and operations, and reports all faults.",
    discussion: """
      With --against it also names what changed for clients since an old version, and exits with status 1 if that \
      breaks them. Faults of operations or the schema are status 65, faults of settings 78.

      larder check --json | jq -r '.faults[].message'
      larder check --json --against old | jq '.comparison.changes[]'
      """)

  @OptionGroup var settings: SettingsOptions

  @Flag(help: "Print JSON, also of faults.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "An old version: its folder, or its /openapi.json as a file.",
      valueName: "folder|openapi.json"),
    completion: .file())
  var against: String?

  func run() async throws {
    var loaded: LoadedSettings?
    do {
      let settings = try settings.load()
      loaded = settings
      let workspace = try Workspace.open(settings, describesInterface: against != nil)
      let report = CheckReport(workspace)
      // Its own lines come first, also if the old version cannot be read.
      if !json { show(report.text) }
      let comparison = try await compare(workspace)
      if json {
        StandardStreams.output(report.json(comparison: comparison))
      } else if let comparison {
        show("\n" + comparison.text)
      }
      if comparison?.isBreaking == true { throw ExitCode.failure }
    } catch let failure as StartFailure where json {
      StandardStreams.output(CheckReport.json(failure, loaded))
      throw ExitCode(failure.kind.rawValue)
    }
  }

  private func show(_ text: String) {
    StandardStreams.output(FindingColors.paint(text, .ofOutput()))
  }

  private func compare(_ workspace: Workspace) async throws -> VersionComparison.Report? {
    guard let against else { return nil }
    defer { ShippedFiles.removeUnpacked() }
    return try await VersionComparison(workspace, against: against, flags: settings.flags()).run()
  }
}

struct Routes: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists all paths that the service serves.",
    discussion: """
      Paths of @route come first, then the operations by name, then the service's own.

      larder routes --json | jq -r '.routes[] | select(.operation) | .path'
      """)

  @OptionGroup var settings: SettingsOptions

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let report = try RoutesReport(Workspace.open(settings.load()))
    StandardStreams.output(json ? report.json : report.text)
  }
}

struct SchemaCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Manages the upstream schema.", subcommands: [Pull.self])

  struct Pull: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Introspects upstream and writes its schema to the schema file.",
      discussion: """
        What changes is printed before the file is replaced. With --check nothing is written; the exit status is \
        1 if the file has other types than upstream, and 75 if upstream gives no schema.
        """)

    @OptionGroup var settings: SettingsOptions

    @Option(help: "The file to write, - for standard output (default: the schema file).")
    var output: String?

    @Option(help: "The upstream to introspect (default: all).")
    var upstream: String?

    @Flag(help: "Write nothing; fail if the schema file is not up to date.")
    var check = false

    func run() async throws {
      let loaded = try settings.load(requiring: ["upstream.url"])
      let isCurrent = try await SchemaPull(loaded.settings, isInteractive: true).run(
        upstream: upstream, output: output, isCheck: check)
      if !isCurrent { throw ExitCode.failure }
    }
  }
}
