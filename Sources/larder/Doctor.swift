import ArgumentParser
import Composition

struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Looks over settings, folders, database, operations and upstream.")

  @OptionGroup var settings: SettingsOptions

  func run() async throws {
    let report = await DoctorReport.examine(try settings.load())
    StandardStreams.output(report.text)
    if !report.isHealthy { throw ExitCode.failure }
  }
}
