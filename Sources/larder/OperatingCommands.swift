import ArgumentParser
import Composition

struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Diagnoses settings, folders, database, operations and upstream.",
    discussion: """
      Findings are printed worst first, each fault with what to do; the exit status is 1 if there is one.

      larder doctor --quiet
      larder doctor --json | jq '.findings[] | select(.verdict == "fault")'
      """)

  @OptionGroup var settings: SettingsOptions

  @Flag(help: "Read every page of the database and compare its indexes with its tables.")
  var deep = false

  @Flag(help: "Print only faults and notes.")
  var quiet = false

  @Flag(name: .customLong("settings"), help: "Print the settings in force after the findings.")
  var showsSettings = false

  @Flag(help: "Print JSON.")
  var json = false

  func run() async throws {
    let loaded = try settings.load()
    let report = await ProgressLine("Examining").whileWaiting {
      await DoctorReport.examine(loaded, isDeep: deep)
    }
    let text =
      json
      ? report.json(isQuiet: quiet, withSettings: showsSettings)
      : report.text(isQuiet: quiet, withSettings: showsSettings, colors: .ofOutput())
    if !text.isEmpty { StandardStreams.output(text) }
    if !report.isHealthy { throw ExitCode.failure }
  }
}

struct Health: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks a running service; for container health checks.",
    discussion: "The exit status is 0 if the service is alive, and 1 otherwise.")

  @OptionGroup var settings: SettingsOptions

  @Option(help: "The URL of the service (default: the first of listen).")
  var url: String?

  func run() async throws {
    StandardStreams.output(try await HealthProbe(settings.load().settings, url: url).run())
  }
}
